"""Leaves tokens and secrets out of what the journal shows.

They are the credentials of throwaway projects, so this promises what its document says and no more: secrets that are
known, as they are, percent-encoded, with escapes of JSON and in base64; whatever looks like a signed token; values that
go by the name of a secret; and of headers, those that are not known to be harmless. Each look reads a text once.
"""

import base64
import re
from urllib.parse import unquote

PLACE = "(redacted)"

_RUN = re.compile(r"[A-Za-z0-9_.\-]{16,}")
"""What a signed token may be part of. A scan for ``eyJ...`` itself would look at the rest of a run again and again."""

_NAMED = re.compile(
    r"((?:token|secret|password|passwd|assertion|api[-_]?key|credentials?|authorization|signature)"
    r"(?:=|\"\s{0,8}:\s{0,8}))((?<==)[^&\s\"<>]+|(?<!=)\"(?:\\.|[^\"\\])+|(?<!=)[0-9][^\s,}\]]*)",
    re.IGNORECASE | re.DOTALL,
)
"""The end of the name of a secret, in a form or as a member in JSON, and the value."""

_ESCAPED = re.compile(r"\\u([0-9A-Fa-f]{4})|\\([\"\\/])")

SHOWN_HEADERS = frozenset(
    (
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "age", "allow",
        "cache-control", "connection", "content-disposition", "content-encoding", "content-language", "content-length",
        "content-location", "content-range", "content-security-policy", "content-type", "date", "dnt", "etag", "expect",
        "expires", "forwarded", "from", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "keep-alive", "last-event-id", "last-modified", "link", "location", "max-forwards",
        "origin", "pragma", "prefer", "preference-applied", "priority", "range", "referer", "retry-after",
        "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user", "server",
        "te", "traceparent", "tracestate", "trailer", "transfer-encoding", "upgrade", "upgrade-insecure-requests",
        "user-agent", "vary", "via", "warning", "www-authenticate", "x-content-type-options", "x-correlation-id",
        "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-prefix", "x-forwarded-proto",
        "x-http-method-override", "x-real-ip", "x-request-id", "x-requested-with", "x-sandbox-rule",
    )
)  # fmt: skip
"""Headers whose values are shown. Of any other the value is left out: it may be a credential under any name."""

_CREDENTIALS = frozenset(("authorization", "proxy-authorization"))


class Secrets:
    """What no entry of a project may have.

    :param values: secrets that are known: those of the service, and that of the project's client once it was shown.
    """

    def __init__(self, *values: str) -> None:
        self._values: set[str] = set()
        self.spellings: tuple[str, ...] = ()
        """The values, and how they stand in base64, wherever they begin in what is encoded."""
        for value in values:
            self.add(value)

    def add(self, value: str) -> None:
        """Leave out one more."""
        if value in self._values:
            return
        self._values.add(value)
        found = [value]
        for before in range(3):
            encoded = base64.b64encode(b"\0" * before + value.encode()).decode().rstrip("=")
            # The first and the last characters depend on what stands beside the value.
            part = encoded[(0, 2, 3)[before] : -1]
            found += [part, part.replace("+", "-").replace("/", "_")]
        self.spellings = (*self.spellings, *dict.fromkeys(found))


def redacted(text: str, secrets: Secrets, length: int | None = None) -> str:
    """A text without tokens and secrets.

    :param length: about so many characters are kept. What follows shows whether a secret begins before the end.
    """
    for each in secrets.spellings:
        if each in text:
            text = text.replace(each, PLACE)
    if "eyJ" in text:
        text = _RUN.sub(_without_token, text)
    if "%" in text and _hides(unquote(text), secrets):
        return PLACE
    if "\\" in text and _hides(_ESCAPED.sub(_unescaped, text), secrets):
        return PLACE
    return _NAMED.sub(_without_value, text)[:length]


def _hides(plain: str, secrets: Secrets) -> bool:
    """Whether something is found where escapes are replaced; then all of the text is left out."""
    return any(each in plain for each in secrets.spellings) or (
        "eyJ" in plain and _RUN.sub(_without_token, plain) != plain
    )


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else escape[2]


def _without_token(run: re.Match[str]) -> str:
    begin = run[0].find("eyJ")
    return run[0] if begin < 0 or "." not in run[0][begin:] else run[0][:begin] + PLACE


def _without_value(found: re.Match[str]) -> str:
    return f'{found[1]}"{PLACE}' if found[2].startswith('"') else f"{found[1]}{PLACE}"


def redacted_header(name: str, value: str, secrets: Secrets) -> str:
    """The value of a header; of Authorization its scheme and its last six characters, of unknown headers nothing."""
    lowered = name.lower()
    if lowered in SHOWN_HEADERS:
        return redacted(value, secrets)
    if lowered not in _CREDENTIALS:
        return PLACE if value else ""
    scheme, blank, credentials = value.strip().partition(" ")
    if not blank:
        scheme, credentials = "", scheme
    # Of something short, six characters would be most of it.
    end = credentials.strip()[-6:] if len(credentials) >= 24 else ""
    return f"{redacted(scheme, secrets)}{blank}…{end}"
