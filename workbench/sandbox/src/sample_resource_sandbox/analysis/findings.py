"""The findings: faults of a client that the service tolerates, or that need not show in its tests.

:data:`FINDINGS` is the table. A row names the finding and says what to do instead. The reference of the sandbox says
how each finding is recognised. :mod:`sample_resource_sandbox.analysis.observer` checks each request by this table when
the request has ended.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from app.values.strict_json import is_utf8
from sample_resource_sandbox.analysis.look import TOKEN_OPERATION, Look

_TOLD = 3
"""The most requests of a finding that the text of a report names."""

Check = Callable[[Look], str | None]
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
    clauses: tuple[str, ...] = ()
    check: Check | None = None
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


def _answer_not_read(look: Look) -> str | None:
    waited_s = look.entry.ended_at - look.began
    if not look.entry.client_gone or look.entry.is_under_way or waited_s > _AT_ONCE_S:
        return None
    return f"The client closed the connection {waited_s * 1000:.0f} ms after the request, before it was answered."


# Values


_BOOLEANS = ("fuzzy", "staged", "withTotal")


def _boolean_of_python(look: Look) -> str | None:
    for name, value in look.parameters if look.operation != TOKEN_OPERATION else ():
        if name in _BOOLEANS and value.lower() in ("true", "false") and value != value.lower():
            return f"{name}={value} was sent."
    return None


_UNENCODED = re.compile(r"""[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]|%(?![0-9A-Fa-f]{2})""")
"""The characters that no request target may contain (RFC 3986, appendix A), and a percent sign that begins no
triplet."""

_TRIPLET = re.compile("%25[0-9A-Fa-f]{2}")
_FREE_TEXTS = ("stringParameter", "arrayOfString", "queryParameterTwo", "text.", "var.")
"""The beginnings of the names of parameters whose values are any text."""
_ENCODED = re.compile(rb"(?:[A-Za-z0-9\-._~+*/]|%[0-9A-Fa-f]{2})+")
"""The form of an encoded component."""


def _double_encoding(look: Look) -> str | None:
    """The detail if a part of the target was encoded twice: if it still looks encoded after one decoding.

    Where the interface has a grammar, such a part is always wrong. A free text may really be `%2F`. It counts as
    encoded twice only if the client has written its second decoding to a resource, and not its first decoding.
    """
    if "%25" not in look.target:
        return None
    path, _, query = look.target.partition("?")
    pairs = [each.partition("=") for each in query.split("&")]
    texts = [value for name, _, value in pairs if name.startswith(_FREE_TEXTS)]
    parts = [part for name, _, value in pairs for part in (name, value) if part not in texts]
    texts += re.split("[/=]", path)
    for part in (*parts, *texts):
        found, once = _TRIPLET.search(part), unquote_to_bytes(part)
        if found is None or _ENCODED.fullmatch(once) is None or not is_utf8(unquote_to_bytes(once)):
            continue
        is_meant = once.decode() in look.written or unquote_to_bytes(once).decode() not in look.written
        if part in parts or not is_meant:
            return f"{found[0]} is %{found[0][3:]}, which was encoded again."
    return None


def _missing_encoding(look: Look) -> str | None:
    """The detail if the target has a character that it may not have, or if a parameter has a text that the client has
    written with plus signs, and they are not encoded, so that they mean blanks."""
    found = _UNENCODED.search(look.target)
    if found is not None:
        return f"{json.dumps(found[0])} has to be percent-encoded in a target."
    pairs = f"{look.target.partition('?')[2]}&{look.text if look.form else ''}"
    if "+" not in pairs:
        return None
    texts = [text for text in look.written if "+" in text and text.replace("+", " ") not in look.written]
    for pair in pairs.split("&"):
        sent = unquote(pair.partition("=")[2].replace("%2B", " ").replace("%2b", " "))
        for text in texts:
            if sent == text or f'"{text}"' in sent:
                meant = json.dumps(text.replace("+", " "))
                return f"{pair} has the text {meant}, and the client has written {json.dumps(text)}."
    return None


FINDINGS: tuple[Finding, ...] = (
    Finding("unsafeRepetition", "A repeated POST has made two resources",
        "Give new resources a `key`: then a retry finds the resource instead of making a second one.",
        ("4.6-3",)),
    Finding("lostUpdate", "A write overwrites a change of another writer that the client has not read",
        "Send the version that was read, as `version` or in `If-Match`; after a 409 or 412 read and decide again."),
    Finding("staleVersionRepeated", "The same version sent again after a 409 or 412",
        "Read the resource, decide again, and send its version; update actions can take `currentVersion` of the error,"
        " unless an answer was lost.",
        ("9-5",)),
    Finding("refusedTokenRepeated", "A refused token sent again",
        "After a 401 get a new token, and retry the request once with it.",
        ("A-3",)),
    Finding("refusedRequestRepeated", "A refused request sent again unchanged",
        "Do not retry these: the same request gets the same answer."),
    Finding("retryBeforeRetryAfter", "A retry before Retry-After",
        "Wait for the seconds that `Retry-After` states.",
        ("E-26",)),
    Finding("retriedWithoutPause", "Repeated without a pause",
        "Wait before each retry, longer each time, and give up after a few."),
    Finding("tokenForEachRequest", "A new token while the one before is valid for long",
        "Keep the token until shortly before `expires_in` is over, or until a 401.",
        ("A-15",)),
    Finding("connectionForEachRequest", "A new connection for each request",
        "Keep the connection open (RFC 9112, 9.3), and use one pool of connections for all requests."),
    Finding("doubleEncoding", "A value percent-encoded twice",
        "Encode each part once (RFC 3986, 2.4): leave it to the HTTP library, or do it yourself.",
        check=_double_encoding),
    Finding("missingEncoding", "A missing percent-encoding",
        "Percent-encode it as UTF-8 (RFC 3986, 2.1), and a plus sign in a query as `%2B`.",
        ("4-12",), _missing_encoding),
    Finding("booleanInOtherCase", "A boolean spelt as in Python",
        "Send `true` or `false`.",
        ("4-7",), _boolean_of_python),
    Finding("answerNotRead", "An answer that was not read",
        "Wait for answers for some seconds at least, and read what a write did before you repeat it.",
        check=_answer_not_read),
)  # fmt: skip

BY_ID: Mapping[str, Finding] = {finding.id: finding for finding in FINDINGS}
