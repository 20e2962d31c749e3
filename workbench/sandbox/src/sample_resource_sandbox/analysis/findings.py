"""The findings: faults of a client that the service tolerates, or that need not show in its tests.

:data:`FINDINGS` is the table. A row names the finding and says what to do instead. The reference of the sandbox says
how each finding is recognised. :mod:`sample_resource_sandbox.analysis.observer` checks each request by this table when
the request has ended.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote_to_bytes

from app.query.kinds import NUMBER
from app.query.object_fields import OBJECT_FIELDS
from app.values.strict_json import is_utf8
from sample_resource_sandbox.analysis.look import BODIES_OF_RESOURCES, LISTS, TOKEN_OPERATION, Look

_OFFSET_AT_MOST = 10_000

_TOLD = 3
"""The most requests of a finding that the text of a report names."""

Finds = Callable[[Look], str | None]
"""Checks one entry by itself. It returns the detail of the finding, or None."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A kind of finding, a row of the table.

    :param title: the fault of the client.
    :param instead: the advice what the client should do.
    :param clauses: the numbers of the specification's clauses for it.
    """

    id: str
    title: str
    instead: str
    clauses: tuple[str, ...]
    look: Finds | None
    """The check of one entry; None for a finding in a sequence of requests, by :mod:`.clients` or :mod:`.stories`."""

    def described(self, detail: str) -> dict[str, Any]:
        """The finding as an entry of the journal shows it.

        :param detail: the exact fault in the entry.
        """
        return {
            "id": self.id,
            "title": self.title,
            "detail": detail,
            "instead": self.instead,
            "clauses": list(self.clauses),
            "told": f"{self.name}: {detail} {self.instead}",
        }

    @property
    def name(self) -> str:
        """The title of the finding, with the clauses."""
        return f"{self.title} ({', '.join(self.clauses)})" if self.clauses else self.title

    def told(self, count: int, examples: Sequence[Mapping[str, Any]]) -> str:
        """The text of a report for a finding: the requests, the fault in each, and the advice."""
        lines = [f"{self.id}, {'once' if count == 1 else f'{count} times'}: {self.name}"]
        for each in examples[:_TOLD]:
            about = f"request {each['request']} of {each['projectKey']}"
            lines.append(f"  {about}, {each['method']} {each['target']}: {each['detail']}")
        return "\n".join([*lines, f"  {self.instead}"])


@dataclass(frozen=True, slots=True)
class Found:
    """A finding in one entry.

    :param number: the number of the entry.
    :param detail: the exact fault in the entry.
    """

    number: int
    finding: Finding
    detail: str

    def described(self) -> dict[str, Any]:
        """The finding as an entry of the journal shows it."""
        return self.finding.described(self.detail)


_DETAIL_AT_MOST = 300
"""The most characters of a detail, because a client may send names and values of any length."""


def shown(detail: str) -> str:
    """A detail in a form for every output: cut, and without lone surrogates."""
    cut = detail if len(detail) <= _DETAIL_AT_MOST else f"{detail[:_DETAIL_AT_MOST]}..."
    return cut.encode("utf-8", "backslashreplace").decode()


# Connections


_AT_ONCE_S = 0.01
"""The seconds after a request in which a client that closes its connection cannot have waited for the answer. A client
that closes it later has reached its time limit."""


def _answer_not_read(entry: Look) -> str | None:
    waited_s = entry.entry.ended_at - entry.began
    if not entry.entry.client_gone or entry.entry.is_under_way or waited_s > _AT_ONCE_S:
        return None
    return f"The client closed the connection {waited_s * 1000:.0f} ms after the request, before it was answered."


# Values


_NUMBER = re.compile(r"\s*-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*", re.ASCII)
_BOOLEANS = ("fuzzy", "staged", "withTotal")
_WITH_NUMBERS = BODIES_OF_RESOURCES | {"updateResourceById"}
"""The operations whose bodies have typed numbers. The record of the echo endpoints accepts any value."""


def _number_as_text(entry: Look) -> str | None:
    if entry.operation not in _WITH_NUMBERS or not isinstance(entry.json, dict):
        return None
    for path, value in _numbers_of(entry.members):
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            return f"{path} is the text {json.dumps(value)}."
    return None


def _numbers_of(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the members of a body that should be numbers, each with its path."""
    yield "version", body.get("version")
    wrapped = body.get("objectTypeProperty")
    if not isinstance(wrapped, dict):
        return
    fields = cast("dict[str, Any]", wrapped)
    for row in OBJECT_FIELDS:
        for index, item in enumerate(_listed(fields.get(row.name))):
            path = f"objectTypeProperty -> {row.name} -> {index}"
            if row.type is not None and row.type.kind is NUMBER:
                yield path, item
            members = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
            yield from ((f"{path} -> {name}", value) for name, value in members.items())


def _listed(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _boolean_of_python(entry: Look) -> str | None:
    for name, value in entry.parameters if entry.operation != TOKEN_OPERATION else ():
        if name in _BOOLEANS and value.lower() in ("true", "false") and value != value.lower():
            return f"{name}={value} was sent."
    return None


_NEEDLESS = re.compile("%(?:4[1-9A-Fa-f]|5[0-9Aa]|6[1-9A-Fa-f]|7[0-9Aa]|3[0-9]|2[DdEe]|5[Ff]|7[Ee])")
"""The unreserved characters of RFC 3986, section 2.3, in percent-encoding."""
_DOTS = re.compile("(?:%2[Ee]){1,2}")
"""A path segment of dots, which programs would remove if they were not encoded."""
_OF_FORMS = ("%7E",)
"""The unreserved character that WHATWG's serializer of forms and query strings encodes nevertheless."""
_KEY_SEGMENT = re.compile("/[^/]*/resource/(?:key|artificially-complex/path/uri-parameter-one)%3[Dd]")
_UNENCODED = re.compile(r"""[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]|%(?![0-9A-Fa-f]{2})""")
"""The characters that no request target may contain (RFC 3986, appendix A)."""


def _needless_encoding(entry: Look) -> str | None:
    if "%" not in entry.target:
        return None
    path, _question, query = entry.target.partition("?")
    encoded = [_NEEDLESS.search(segment) for segment in path.split("/") if _DOTS.fullmatch(segment) is None]
    encoded += [each for each in _NEEDLESS.finditer(query) if each[0].upper() not in _OF_FORMS]
    for found in encoded:
        if found is not None:
            return f"{found[0]} is {chr(int(found[0][1:], 16))}, which needs no encoding."
    if _KEY_SEGMENT.match(entry.path):
        return "The equal sign of the segment is encoded; the interface shows it as it is."
    return None


_TRIPLET = re.compile("%25[0-9A-Fa-f]{2}")
_FREE_TEXTS = ("stringParameter", "arrayOfString", "queryParameterTwo", "text.", "var.")
"""The beginnings of the names of parameters whose values are any text."""
_ENCODED = re.compile(rb"(?:[A-Za-z0-9\-._~+*/]|%[0-9A-Fa-f]{2})+")
"""The form of an encoded component."""


def _double_encoding(entry: Look) -> str | None:
    """The detail if a part of the target was encoded twice: if it still looks encoded after one decoding.

    Where the interface has a grammar, such a part is always wrong. A free text may really be `%2F`. It counts as
    encoded twice only if the client has written its second decoding to a resource, and not its first decoding.
    """
    if "%25" not in entry.target:
        return None
    path, _, query = entry.target.partition("?")
    pairs = [each.partition("=") for each in query.split("&")]
    texts = [value for name, _, value in pairs if name.startswith(_FREE_TEXTS)]
    parts = [part for name, _, value in pairs for part in (name, value) if part not in texts]
    texts += re.split("[/=]", path)
    for part in (*parts, *texts):
        found, once = _TRIPLET.search(part), unquote_to_bytes(part)
        if found is None or _ENCODED.fullmatch(once) is None or not is_utf8(unquote_to_bytes(once)):
            continue
        is_meant = once.decode() in entry.written or unquote_to_bytes(once).decode() not in entry.written
        if part in parts or not is_meant:
            return f"{found[0]} is %{found[0][3:]}, which was encoded again."
    return None


def _missing_encoding(entry: Look) -> str | None:
    found = _UNENCODED.search(entry.target)
    return None if found is None else f"{json.dumps(found[0])} has to be percent-encoded in a target."


# Lists


def _deep_offset(entry: Look) -> str | None:
    if entry.operation not in LISTS:
        return None
    for text in entry.values("offset"):
        if re.fullmatch(r"[0-9]{1,15}(\.0*)?", text) and float(text) > _OFFSET_AT_MOST:
            return f"offset={text}; the largest is {_OFFSET_AT_MOST}."
    return None


# Headers and bodies


def _retired_header(entry: Look) -> str | None:
    if not [name for name in entry.headers if name.startswith("x-vrap-")]:
        return None
    found = next(name for name, _ in entry.entry.request.pairs() if name.lower().startswith("x-vrap-"))
    return f"{found} is not read any more."


def _body_on_get(entry: Look) -> str | None:
    if entry.method not in ("GET", "HEAD"):
        return None
    size = entry.entry.request.size
    return f"{size} bytes, which nobody reads." if size else None


FINDINGS: tuple[Finding, ...] = (
    Finding("tokenForEachRequest", "A token for each request",
        "Keep the token until shortly before `expires_in` is over, or until a 401.",
        ("A-17",), None),
    Finding("tokenRenewedEarly", "A token fetched long before the former one expires",
        "Keep the token until shortly before `expires_in` is over, or until a 401.",
        ("A-17",), None),
    Finding("retryBeforeRetryAfter", "A retry before Retry-After",
        "Wait for the seconds that `Retry-After` states.",
        ("E-26",), None),
    Finding("unsafeRepetition", "A repeated POST may make two resources",
        "Give new resources a `key`: then a retry finds the resource instead of making a second one.",
        ("4.6-3", "4.6-4"), None),
    Finding("refusedTokenRepeated", "A refused token sent again",
        "After a 401 get a new token, and retry the request once with it.",
        ("A-3", "A-17"), None),
    Finding("retriedWithoutPause", "Repeated without a pause",
        "Wait before each retry, longer each time, and give up after a few.",
        ("E-26",), None),
    Finding("staleVersionRepeated", "The same version sent again after a 409",
        "Read the resource, or take `currentVersion` from the error, decide again, and send that version.",
        ("9-5", "9-8"), None),
    Finding("refusedRequestRepeated", "A refused request sent again unchanged",
        "Do not retry these: the same request gets the same answer.",
        (), None),
    Finding("connectionForEachRequest", "A new connection for each request",
        "Keep the connection open, and use one pool of connections for all requests.",
        ("H-20",), None),
    Finding("numberAsText", "A number sent as text",
        "Send a number of JSON, without quotes.",
        ("2.3-13", "9-11"), _number_as_text),
    Finding("booleanInOtherCase", "A boolean spelt as in Python",
        "Send `true` or `false`.",
        ("4-7", "4-8"), _boolean_of_python),
    Finding("needlessEncoding", "A needless percent-encoding",
        "Leave unreserved characters (RFC 3986, 2.3) as they are: caches may take the two for different URLs.",
        ("2.1-6", "2.1-7"), _needless_encoding),
    Finding("doubleEncoding", "A value percent-encoded twice",
        "Encode each part once: leave it to the HTTP library, or do it yourself.",
        ("2.1-6", "4-12"), _double_encoding),
    Finding("missingEncoding", "A missing percent-encoding",
        "Percent-encode it as UTF-8.",
        ("4-12",), _missing_encoding),
    Finding("pageForOneResult", "A page of 500 of which one result is used",
        "Ask by id, by key, or by a condition with a small `limit`.",
        ("4.12-4",), None),
    Finding("offsetTooLarge", "A page walked by offset past 10,000",
        "Walk by a condition on the last id, `where=id > :last` with `sort=id`: each page costs the same.",
        ("4.12-5", "4.12-21"), _deep_offset),
    Finding("retiredHeader", "A header that the platform no longer reads",
        "Leave it out.",
        (), _retired_header),
    Finding("bodyOnGet", "A body on GET",
        "Send parameters in the query string: servers and proxies may refuse or drop the body (RFC 9110, 9.3.1).",
        ("4-3",), _body_on_get),
    Finding("answerNotRead", "An answer that was not read",
        "Wait for answers for some seconds at least, and read what a write did before you repeat it.",
        ("9-2",), _answer_not_read),
)  # fmt: skip

BY_ID: Mapping[str, Finding] = {finding.id: finding for finding in FINDINGS}
