"""Leaves tokens and secrets out of texts that the journal keeps.

What goes by the name of a secret is left out whatever it is; a signed token and the client's own secret are left out
wherever they stand. A secret is known by its hash alone, so every run of characters that could be one is compared.
"""

import hashlib
import re

_PLACE = "(redacted)"

_TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)*")
_NAMES = "access_token|refresh_token|id_token|client_secret|client_assertion|token|password|clientSecret|accessToken"
_IN_FORM = re.compile(rf"(?<![A-Za-z0-9_])({_NAMES})=[^&\s]+")
_IN_JSON = re.compile(rf'"({_NAMES})"(\s*:\s*)"(?:[^"\\]|\\.)*"')
_HINTS = ("token", "ecret", "password", "assertion", "Token")

_SECRET_LENGTH = 43
"""Characters of a client's secret: 32 bytes in base64 without padding."""

_RUN = re.compile(rf"[A-Za-z0-9_-]{{{_SECRET_LENGTH},}}")
_COMPARED_AT_MOST = 2000
"""Runs of a text that are compared with the secret; what follows is left out without a look."""

_SECRET_HEADERS = frozenset(
    ("authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "x-auth-token")
)


def redacted(text: str, secret_hash: bytes = b"", others: tuple[str, ...] = ()) -> str:
    """A text without tokens and secrets.

    :param secret_hash: the SHA-256 of the client's secret.
    :param others: further secrets.
    """
    if "eyJ" in text:
        text = _TOKEN.sub(_PLACE, text)
    if any(hint in text for hint in _HINTS):
        text = _IN_FORM.sub(rf"\1={_PLACE}", text)
        text = _IN_JSON.sub(rf'"\1"\2"{_PLACE}"', text)
    for other in others:
        if other in text:
            text = text.replace(other, _PLACE)
    if len(text) >= _SECRET_LENGTH and secret_hash:
        text = _without_secret(text, secret_hash)
    return text


def _without_secret(text: str, secret_hash: bytes) -> str:
    compared = 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal compared
        run = match[0]
        for begin in range(len(run) - _SECRET_LENGTH + 1):
            compared += 1
            if compared > _COMPARED_AT_MOST:
                return _PLACE
            candidate = run[begin : begin + _SECRET_LENGTH]
            if hashlib.sha256(candidate.encode()).digest() == secret_hash:
                return run[:begin] + _PLACE + run[begin + _SECRET_LENGTH :]
        return run

    return _RUN.sub(replaced, text)


def redacted_header(name: str, value: str, secret_hash: bytes = b"", others: tuple[str, ...] = ()) -> str:
    """The value of a header; of one with credentials its scheme and its last six characters."""
    if name.lower() not in _SECRET_HEADERS:
        return redacted(value, secret_hash, others)
    scheme, blank, credentials = value.strip().partition(" ")
    if not blank:
        scheme, credentials = "", scheme
    # Of something short, six characters would be most of it.
    end = credentials.strip()[-6:] if len(credentials) >= 24 else ""
    return f"{scheme}{blank}…{end}"
