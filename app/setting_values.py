"""Parsers of the values of settings: each reads the text of an environment variable, or raises a ValueError."""

import ipaddress
import re
from collections.abc import Callable
from urllib.parse import SplitResult, urlsplit


def integer(minimum: int, maximum: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ValueError("a whole number is expected") from None
        if not minimum <= number <= maximum:
            raise ValueError(f"a whole number from {minimum} to {maximum} is expected")
        return number

    return parse


def text(text: str) -> str:
    if not text.isprintable():
        raise ValueError("printable text is expected")
    return text


HOST_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
"""The pattern of a part of a host name between two dots (RFC 1123, section 2.1)."""


def domain(text: str) -> str:
    domain = text.strip(".").lower()
    if not all(re.fullmatch(HOST_LABEL, label, re.ASCII) for label in domain.split(".")):
        raise ValueError("a domain name is expected, as in example.com")
    return domain


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def _split_url(text: str, example: str = "") -> tuple[SplitResult, str]:
    """Split a URL, and return its parts and its host, which is empty if the URL has none.

    :raises ValueError: if host or port are malformed.
    """
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError(f"a URL is expected{example}") from None
    return parts, host


ANY_ORIGIN = "*"
NO_ORIGIN = "none"


def origins(text: str) -> tuple[str, ...]:
    """Check origins in the form of browsers (RFC 6454, section 6.2): scheme and host, and the port only if it is not
    the default of the scheme. The result is ``*`` alone if all origins are allowed, and empty if no origin is."""
    if text == NO_ORIGIN:
        return ()
    if text == ANY_ORIGIN:
        return (ANY_ORIGIN,)
    for origin in _listed(text):
        parts, host = _split_url(origin, ", as in https://shop.example.com")
        default = {"http": 80, "https": 443}.get(parts.scheme)
        written = f"{parts.scheme}://{parts.netloc}".lower()
        if default is None or not host or origin != written or parts.port == default or "@" in origin:
            raise ValueError(
                "origins as browsers send them are expected, as in https://shop.example.com,"
                f" or {ANY_ORIGIN} or {NO_ORIGIN}"
            )
    return _listed(text)


def public_url(text: str) -> str:
    """Check a URL to which paths can be appended: https, or http in a private network. The result has no slash at its
    end."""
    parts, host = _split_url(text, ", as in https://api.example.com")
    if not host or parts.username is not None or _NOT_IN_A_PLAIN_URL.search(text):
        raise ValueError("a URL without user name, query and fragment is expected, as in https://api.example.com")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_private(host)):
        raise ValueError("https is expected; http only for a private address or a name without a dot")
    return text.rstrip("/")


_NOT_IN_A_PLAIN_URL = re.compile(r"[^!-~]|[\\\"<>^`{|}?#]")


def is_loopback(host: str) -> bool:
    """Whether a host in a URL is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_private(host: str) -> bool:
    """Whether a host is this machine or in a private network, in which names often have no dot."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host


_FIXED_TOKEN = re.compile("[A-Za-z0-9._~+/-]{16,}=*", re.ASCII)


def fixed_token(text: str) -> str:
    if _FIXED_TOKEN.fullmatch(text) is None:
        # The syntax of bearer tokens (RFC 6750, section 2.1), with a minimum length against guessing.
        raise ValueError("at least 16 letters, digits, dots, hyphens, underscores, ~, + and / are expected")
    return text


EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 -- compared, not bound
"""The values of ``BIND`` that mean all addresses of the machine."""


def address_of(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def one_of(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(f"{' or '.join(words)} is expected")
        return text

    return parse
