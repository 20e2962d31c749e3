"""Leaves tokens and secrets out of what the journal keeps, however they are spelt.

Three things are looked for: values that are secret (signed tokens, the tokens of the service itself, and the secret of
the project's client, of which only the hash is known, so every run of characters that could be it is compared), values
that go by the name of a secret, and headers that are not known to be harmless.

A secret may be written with percent-encoding, with escapes of JSON or HTML, in UTF-16, or in several of these at once.
So a text is looked at as it is and with its escapes replaced, again and again until none is left; where something is
found, the part of the text that spells it is left out.
"""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from app.identity.clients import SECRET_LENGTH

PLACE = "(redacted)"

_TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)*")

_NAMED = re.compile(
    r"(?:token|secret|password|passwd|assertion|api[-_]?key|credentials?|authorization|signature)(?:=|\"\s*:\s*)",
    re.IGNORECASE,
)
"""The end of a name that is that of a secret, up to the value: of a form, or of a member in JSON."""

_REST_OF_FORM = re.compile(r"[^&\s\"<>]*")
_REST_OF_JSON = re.compile(r'"(?:[^"\\]|\\.)*"?|[^\s,}\]"\\]+(?:\\.[^"]*)?|\\"(?:[^"\\]|\\.)*', re.DOTALL)
_RUN = re.compile(rf"[A-Za-z0-9_-]{{{SECRET_LENGTH},}}")
_COMPARED_AT_MOST = 20_000
"""Runs of a text that are compared with the secret, which takes some 20 ms; the long runs that follow are left out."""

_ESCAPES = (
    r"%(?P<percent>[0-9A-Fa-f]{2})|\\u(?P<json>[0-9A-Fa-f]{4})|\\x(?P<hex>[0-9A-Fa-f]{2})"
    r"|&#x(?P<html>[0-9A-Fa-f]{1,6});|&#(?P<decimal>[0-9]{1,7});|(?P<nothing>\x00)|\\(?P<plain>[{}/])"
)
_ESCAPE = re.compile(_ESCAPES.replace("{}", r"\"\\"))
_ESCAPE_BUT_BACKSLASH = re.compile(_ESCAPES.replace("{}", r"\""))
"""Of two backslashes, the second may be escaped by the first, or begin an escape of its own. Each round tries both."""
_ROUNDS_AT_MOST = 5
"""Escapes within escapes that are replaced. A text that has more is left out as a whole."""

SHOWN_HEADERS = frozenset(
    (
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "age", "allow",
        "cache-control", "connection", "content-disposition", "content-encoding", "content-language", "content-length",
        "content-location", "content-range", "content-security-policy", "content-type", "date", "dnt", "etag", "expect",
        "expires", "forwarded", "from", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "keep-alive", "last-event-id", "last-modified", "link", "location", "max-forwards",
        "origin", "pragma", "prefer", "preference-applied", "priority", "range", "referer", "retry-after", "server",
        "te", "traceparent", "tracestate", "trailer", "transfer-encoding", "upgrade", "upgrade-insecure-requests",
        "user-agent", "vary", "via", "warning", "www-authenticate", "x-content-type-options", "x-correlation-id",
        "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-prefix", "x-forwarded-proto",
        "x-http-method-override", "x-real-ip", "x-request-id", "x-requested-with", "x-sandbox-rule",
    )
)  # fmt: skip
"""Headers whose values are shown. Of any other the value is left out: it may be a credential under any name."""

_CREDENTIALS = frozenset(("authorization", "proxy-authorization"))

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Reading:
    """A text with its escapes replaced.

    :param begins: where each character begins in the text as it was sent.
    :param ends: where it ends there.
    """

    text: str
    begins: list[int]
    ends: list[int]

    def source(self, begin: int, end: int) -> Span:
        """The part of the text as it was sent that spells a part of this one."""
        return self.begins[begin], self.ends[end - 1]

    def unescaped(self, escape: re.Pattern[str]) -> "_Reading | None":
        """The same with its escapes replaced once; None if it has none."""
        if escape.search(self.text) is None:
            return None
        parts: list[str] = []
        begins: list[int] = []
        ends: list[int] = []
        at = 0
        for match in escape.finditer(self.text):
            parts.append(self.text[at : match.start()])
            begins += self.begins[at : match.start()]
            ends += self.ends[at : match.start()]
            at = match.end()
            character = _character(match)
            if character:
                parts.append(character)
                begins.append(self.begins[match.start()])
                ends.append(self.ends[at - 1])
        parts.append(self.text[at:])
        return _Reading("".join(parts), begins + self.begins[at:], ends + self.ends[at:])


def _character(match: re.Match[str]) -> str:
    groups = match.groupdict()
    if groups["nothing"] is not None:
        return ""
    if groups["plain"] is not None:
        return groups["plain"]
    number = (
        int(groups["decimal"])
        if groups["decimal"] is not None
        else int(groups["percent"] or groups["json"] or groups["hex"] or groups["html"], 16)
    )
    return chr(number) if 0 < number <= 0x10FFFF else ""


@dataclass(frozen=True, slots=True)
class Secrets:
    """What no entry of a project may have.

    :param secret_hash: the SHA-256 of the client's secret.
    :param values: further secrets.
    """

    secret_hash: bytes = b""
    values: tuple[str, ...] = ()

    def spans(self, text: str) -> list[Span]:
        """The parts of a text that have to be left out, in their order and apart from each other."""
        found = sorted(_spans(text, self))
        joined: list[Span] = []
        for begin, end in found:
            if joined and begin <= joined[-1][1]:
                joined[-1] = joined[-1][0], max(end, joined[-1][1])
            elif begin < end:
                joined.append((begin, end))
        return joined


def redacted(text: str, secrets: Secrets, length: int | None = None) -> str:
    """A text without tokens and secrets.

    :param length: only so many characters are kept. What follows shows whether a secret begins before the end.
    """
    length = len(text) if length is None else length
    parts: list[str] = []
    at = 0
    for begin, end in secrets.spans(text):
        if begin >= length:
            break
        parts += text[at:begin], PLACE
        at = end
    parts.append(text[at:length])
    return "".join(parts)


def _spans(text: str, secrets: Secrets) -> Iterator[Span]:
    yield from _named_spans(text)
    yield from _value_spans(text, secrets)
    if _ESCAPE.search(text) is not None and _is_suspect(text, secrets):
        yield from _escaped_spans(text, secrets)


def _is_suspect(text: str, secrets: Secrets) -> bool:
    """Whether something is found once escapes are replaced. Finding its place takes much longer."""
    texts = {text}
    for _ in range(_ROUNDS_AT_MOST):
        texts = {
            replaced
            for each in texts
            for escape in (_ESCAPE, _ESCAPE_BUT_BACKSLASH)
            if (replaced := escape.sub(_character, each)) != each
        }
        if not texts:
            return False
        for each in texts:
            if _NAMED.search(each) is not None or any(True for _ in _value_spans(each, secrets)):
                return True
    return True


def _escaped_spans(text: str, secrets: Secrets) -> Iterator[Span]:
    positions = list(range(len(text) + 1))
    readings = {text: _Reading(text, positions[:-1], positions[1:])}
    for _ in range(_ROUNDS_AT_MOST):
        unescaped = [
            each.unescaped(escape) for each in readings.values() for escape in (_ESCAPE, _ESCAPE_BUT_BACKSLASH)
        ]
        readings = {each.text: each for each in unescaped if each is not None}
        for reading in readings.values():
            yield from _spans_of_reading(reading, text, secrets)
    if any(_ESCAPE.search(each) is not None for each in readings):
        yield 0, len(text)


def _spans_of_reading(reading: _Reading, text: str, secrets: Secrets) -> Iterator[Span]:
    for begin, end in _value_spans(reading.text, secrets):
        yield reading.source(begin, end)
    done = 0
    for match in _NAMED.finditer(reading.text):
        after = match.end()
        if after < len(reading.text) and reading.begins[after] >= done:
            # Up to where the value ends in the text as it was sent: an escape in it may be a delimiter.
            begin, done = _value_at(text, reading.begins[after], in_form=match[0].endswith("="))
            yield begin, done


def _named_spans(text: str) -> Iterator[Span]:
    """The values that go by the name of a secret."""
    done = 0
    for match in _NAMED.finditer(text):
        if match.end() >= done:
            begin, done = _value_at(text, match.end(), in_form=match[0].endswith("="))
            if text[begin:done] in ("null", "true", "false", '""'):
                continue
            if text[begin : begin + 1] == '"':
                yield begin + 1, done - (done - begin > 1 and text[done - 1] == '"')
            else:
                yield begin, done


def _value_at(text: str, begin: int, *, in_form: bool) -> Span:
    match = (_REST_OF_FORM if in_form else _REST_OF_JSON).match(text, begin)
    return (begin, begin) if match is None else match.span()


def _value_spans(text: str, secrets: Secrets) -> Iterator[Span]:
    """The parts that are secret whatever their name."""
    if "eyJ" in text:
        for match in _TOKEN.finditer(text):
            yield match.span()
    for value in secrets.values:
        for spelt in {value, value.encode().decode("latin-1")}:
            begin = text.find(spelt)
            while begin >= 0:
                yield begin, begin + len(spelt)
                begin = text.find(spelt, begin + 1)
    if len(text) >= SECRET_LENGTH and secrets.secret_hash:
        yield from _hashed_spans(text, secrets.secret_hash)
    yield from _encoded_spans(text, secrets)


def _hashed_spans(text: str, secret_hash: bytes) -> Iterator[Span]:
    compared = 0
    for match in _RUN.finditer(text):
        run = match[0]
        for begin in range(len(run) - SECRET_LENGTH + 1):
            compared += 1
            if compared > _COMPARED_AT_MOST:
                yield match.start() + begin, match.end()
                break
            if hashlib.sha256(run[begin : begin + SECRET_LENGTH].encode()).digest() == secret_hash:
                yield match.start() + begin, match.start() + begin + SECRET_LENGTH


@cache
def _encoded_run(length: int) -> re.Pattern[str]:
    return re.compile(rf"[A-Za-z0-9+/_-]{{{length},}}={{0,2}}")


def _encoded_spans(text: str, secrets: Secrets) -> Iterator[Span]:
    """The runs of base64 that decode to a text with a secret, as the credentials of HTTP Basic do.

    Such a run may begin with characters that are not part of it, such as those of a path.
    """
    shortest = min([SECRET_LENGTH, *[len(value) for value in secrets.values]])
    for match in _encoded_run(shortest * 4 // 3).finditer(text):
        run = match[0].rstrip("=").replace("-", "+").replace("_", "/")
        for begin in range(4):
            part = run[begin:]
            part = part[:-1] if len(part) % 4 == 1 else part
            decoded = base64.b64decode(part + "=" * (-len(part) % 4))
            pieces = re.findall(rb"[ -~]{%d,}" % shortest, decoded)
            if any(True for piece in pieces for _ in _spans(piece.decode("ascii"), secrets)):
                yield match.span()
                break


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
