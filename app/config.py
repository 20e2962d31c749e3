"""The settings of the service. They are read from the environment and checked when a process starts: by ``serve``, and
again by the gunicorn that it starts, so the file of a secret has to be readable more than once.

A setting is a field of :class:`Settings` whose metadata contain its environment variable, its meaning and its limits. A
secret may also be in a file, which the environment variable with the suffix ``_FILE`` names. A test compares the table
in ``docs/reference.md`` with these fields.
"""

import ipaddress
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import SplitResult, urlsplit


class InvalidSetting(ValueError):
    """The error for an environment variable whose value its setting does not allow, or that is missing.

    :param value: the value for the message; None if it is a secret or if the variable is not set.
    :param reason: what is wrong, as the rest of the message.
    """

    def __init__(self, variable: str, value: str | None, reason: str) -> None:
        super().__init__(f"{variable}: {reason}" if value is None else f"{variable}={value!r}: {reason}")


# How a setting is parsed: a function takes the text of an environment variable, and returns the setting's value. For a
# text that is not allowed it raises a ValueError, whose message becomes the reason of an InvalidSetting.


def integer(minimum: int, maximum: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if re.fullmatch("[0-9]{1,9}", text) is None or not minimum <= int(text) <= maximum:
            raise ValueError(f"a whole number from {minimum} to {maximum} is expected")
        return int(text)

    return parse


def text(text: str) -> str:
    if not text.isprintable():  # a line end within it, for example, would end up in messages and URLs
        raise ValueError("printable text is expected")
    return text


HOST_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
"""The pattern of a part of a host name between two dots (RFC 1123, section 2.1)."""


def domain(text: str) -> str:
    # Without the root's dot at the end, and without the leading dot that the domains of cookies have.
    domain = text.strip(".").lower()
    if not all(re.fullmatch(HOST_LABEL, label) for label in domain.split(".")):
        raise ValueError("a domain name is expected, as in example.com")
    return domain


_NOT_IN_A_PLAIN_URL = re.compile(r"[^!-~]|[\\\"<>^`{|}?#]")
"""A character that may stand in a URL only percent-encoded, or that begins a query or a fragment. ``urlsplit`` accepts
almost all of them."""


def _split_url(text: str, example: str) -> tuple[SplitResult, str]:
    """Split a URL, check its port, and return its parts and its host. If the URL has no host, the host is empty. If the
    URL has no port, the port in the parts is None.

    The host is hardly checked: ``urlsplit`` accepts even one with a blank. The callers have to refuse such a host.

    :param example: an example of a URL for the error's message, such as ", as in https://api.example.com". The message
        is "a URL is expected", followed by this text.
    :raises ValueError: if the port is invalid, or if ``urlsplit`` refuses the host, for example for malformed brackets
        of an IPv6 address.
    """
    try:
        parts = urlsplit(text)
        host, _port = parts.hostname or "", parts.port  # reading the port checks it
    except ValueError:
        raise ValueError(f"a URL is expected{example}") from None
    return parts, host


ANY_ORIGIN = "*"
NO_ORIGIN = "none"


def origins(text: str) -> tuple[str, ...]:
    """Parse the allowed origins of CORS, separated by commas.

    Each is an http or https origin as browsers send it (RFC 6454, section 6.2): scheme and host, and the port only if
    it is not the default of the scheme.

    :return: the origins. ``*`` alone allows all origins and is returned as the only item; ``none`` allows no origin,
        and the result is empty.
    """
    if text == NO_ORIGIN:
        return ()
    if text == ANY_ORIGIN:
        return (ANY_ORIGIN,)
    listed = tuple(part.strip() for part in text.split(","))
    for origin in listed:
        parts, host = _split_url(origin, ", as in https://shop.example.com")
        default = {"http": 80, "https": 443}.get(parts.scheme)
        # ``written`` has no path, user, capitals or default port, so an origin with one of them differs from it. An
        # origin with a blank in its host is equal to ``written``; _NOT_IN_A_PLAIN_URL finds the blank.
        written = f"{parts.scheme}://{address_of(host, None if parts.port == default else parts.port)}"
        if default is None or not host or origin != written or _NOT_IN_A_PLAIN_URL.search(origin):
            raise ValueError(
                "origins as browsers send them are expected, as in https://shop.example.com,"
                f" or {ANY_ORIGIN} or {NO_ORIGIN}"
            )
    return listed


def public_url(text: str) -> str:
    """Check a URL to which paths can be appended: https, or http in a private network. The result has no slash at its
    end."""
    parts, host = _split_url(text, ", as in https://api.example.com")
    if not host or parts.username is not None or _NOT_IN_A_PLAIN_URL.search(text):
        raise ValueError("an encoded URL without user, query or fragment is expected, as in https://api.example.com")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_private(host)):
        raise ValueError("https is expected; http only for a private address or a name without a dot")
    return text.rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether a host in a URL is ``localhost`` or a loopback address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_private(host: str) -> bool:
    """Whether a host is an address that is not public, or a name without a dot, such as private networks have."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host


_FIXED_TOKEN = re.compile("[A-Za-z0-9._~+/-]{16,}=*")


def fixed_token(text: str) -> str:
    """Check a bearer token that is itself a setting, and not issued by the service."""
    if _FIXED_TOKEN.fullmatch(text) is None:
        # The syntax of bearer tokens (RFC 6750, section 2.1), with a minimum length against guessing.
        raise ValueError("at least 16 letters, digits, dots, hyphens, underscores, ~, + and / are expected, then any =")
    return text


def address_of(host: str, port: int | None) -> str:
    """A host and a port as in a URL, with an IPv6 address in brackets; without a port if it is None."""
    name = f"[{host}]" if ":" in host else host
    return name if port is None else f"{name}:{port}"


def log_format(text: str) -> str:
    if text not in ("auto", "json", "text"):
        raise ValueError("auto or json or text is expected")
    return text


# The settings


def setting(variable: str, parse: Callable[[str], Any], default: Any, meaning: str, *, secret: bool = False) -> Any:
    """Make the dataclass field that declares a setting; :func:`read_settings` reads it.

    :param secret: whether the value is a secret. Messages and ``repr`` do not show a secret. A file may contain the
        secret; the variable ``<variable>_FILE`` then names the file (:func:`file_variable`).
    """
    return field(
        default=default,
        repr=not secret,
        metadata={"variable": variable, "parse": parse, "meaning": meaning, "secret": secret},
    )


def file_variable(variable: str) -> str:
    """The name of the environment variable that may name a file with the value of a secret setting."""
    return f"{variable}_FILE"


def _secret(source: Mapping[str, str], variable: str) -> str:
    """Read the value of a secret setting from its variable, or from the file that ``<variable>_FILE`` names; empty if
    neither is set.

    Ends of line at the end of the file are removed.

    :raises InvalidSetting: if both variables are set, or if the file cannot be read or is empty.
    """
    text, path = source.get(variable, ""), source.get(file_variable(variable), "")
    if not path:
        return text
    if text:
        raise InvalidSetting(file_variable(variable), path, f"{variable} is set too; set one of the two")
    try:
        text = Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise InvalidSetting(file_variable(variable), path, f"the file cannot be read: {reason}") from None
    if not text:
        raise InvalidSetting(file_variable(variable), path, "the file is empty")
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of the service. A default of None means that the setting is not set."""

    port: int = setting("PORT", integer(1, 65535), 8000, "TCP port that gunicorn listens on")
    bind: str = setting("BIND", text, "127.0.0.1", "address that gunicorn listens on")
    data_dir: Path = setting("DATA_DIR", Path, Path(".data"), "folder of the embedded PostgreSQL")
    database_url: str | None = setting(
        "DATABASE_URL", text, None, "an outside PostgreSQL, 15 or newer, instead of the embedded one", secret=True
    )
    workers: int = setting(
        "WORKERS",
        integer(1, 256),
        min(4, os.cpu_count() or 1),  # with more the database is the bottleneck
        "number of gunicorn processes; default: one for each core, at most 4",
    )
    connections: int = setting(
        "CONNECTIONS",
        integer(1, 1024),
        8,
        "database connections of each process, which as many requests use at once; each process has one more for"
        " itself",
    )
    queue_timeout_ms: int = setting(
        "QUEUE_TIMEOUT_MS",
        integer(1, 60_000),
        5_000,
        "longest wait for a free connection while the database answers, then 503",
    )
    statement_timeout_ms: int = setting(
        "STATEMENT_TIMEOUT_MS", integer(1, 3_600_000), 4_000, "longest time for an SQL statement, then 503"
    )
    base_domain: str | None = setting(
        "BASE_DOMAIN",
        domain,
        None,
        "serve only the hosts api.{region}.{cloudProvider}.<BASE_DOMAIN>, and those of the service's own addresses;"
        " unset: every host",
    )
    public_url: str | None = setting(
        "PUBLIC_URL",
        public_url,
        None,
        "the URL at which clients reach the service, which may be that of a proxy: https, or http in a private network;"
        " default: the address that gunicorn listens on",
    )
    trusted_proxies: int = setting(
        "TRUSTED_PROXIES",
        integer(0, 16),
        0,
        "number of proxies in front that set X-Forwarded-For, -Proto, -Host and -Prefix; 0: these headers are ignored",
    )
    allowed_origins: tuple[str, ...] = setting(
        "CORS_ORIGINS",
        origins,
        (ANY_ORIGIN,),
        f"origins whose pages may use the resource API and get tokens, separated by commas; {NO_ORIGIN}: no page may",
    )
    metrics_token: str | None = setting(
        "METRICS_TOKEN", fixed_token, None, "the bearer token of /metrics, which is off if unset", secret=True
    )
    log_format: str = setting("LOG_FORMAT", log_format, "auto", "json, text, or auto: text on a terminal, else json")
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, compare=False)
    """The environment from which the settings were read. An extension reads its own settings from it."""

    @property
    def listen_host(self) -> str:
        """The host of ``BIND`` in the form for sockets: an IPv6 address has no brackets."""
        return self.bind.strip("[]")

    @property
    def listen_address(self) -> str:
        """The address on which gunicorn listens, as ``host:port``. An IPv6 address is in brackets."""
        return address_of(self.listen_host, self.port)

    @property
    def graceful_timeout_s(self) -> int:
        """The seconds that a request in flight gets when the service stops: the longest wait for a connection, two
        statements at their time limit, and one second because limits act late.

        Two statements are counted, because a search first looks words up, and a write first reads the resource. The
        time may be too short for requests that execute more than two. Examples are a request whose token has to be
        looked up, a write that is repeated because another write of the resource came in between, the revocation of a
        token, and a write on a server with Citus.
        """
        # The wait for a connection can end half a second late. Each of the two statements can end a quarter of a second
        # late, because psycopg waits for PostgreSQL's error a quarter of a second beyond the limit. Together this is
        # the one second that is added.
        return math.ceil((self.queue_timeout_ms + 2 * self.statement_timeout_ms) / 1000) + 1

    @property
    def own_host(self) -> str:
        """The host at which this machine reaches gunicorn: the host of ``BIND``, or 127.0.0.1 if gunicorn listens on
        all addresses."""
        # 0.0.0.0 and :: mean all addresses. A socket at :: also accepts IPv4, unless the system forbids it.
        return "127.0.0.1" if self.listen_host in ("0.0.0.0", "::") else self.listen_host  # noqa: S104 -- compared

    @property
    def base_url(self) -> str:
        """The URL of the service, without a slash at its end: ``PUBLIC_URL``, else the URL at which this machine
        reaches gunicorn."""
        return self.public_url or f"http://{address_of(self.own_host, self.port)}"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Settings":
        """Read all settings from environment variables.

        :param environment: the variables; by default ``os.environ``.
        :raises InvalidSetting: where :func:`read_settings` raises it.
        """
        source = dict(os.environ if environment is None else environment)
        return read_settings(cls, source, environment=source)


AnySettings = TypeVar("AnySettings")


def read_settings(cls: type[AnySettings], source: Mapping[str, str], **others: Any) -> AnySettings:
    """Read the settings that a class declares, and make an instance. An empty variable counts as not set.

    :param others: values of fields that are no settings.
    :raises InvalidSetting: for the first setting whose value is invalid. For a secret setting also if its variable and
        ``<variable>_FILE`` are both set, or if the file cannot be read or is empty.
    """
    for item in fields(cast("Any", cls)):
        variable: str | None = item.metadata.get("variable")
        if variable is None:
            continue
        text = _secret(source, variable) if item.metadata["secret"] else source.get(variable, "")
        if not text:
            continue
        try:
            others[item.name] = item.metadata["parse"](text)
        except ValueError as error:
            raise InvalidSetting(variable, None if item.metadata["secret"] else text, str(error)) from None
    return cls(**others)
