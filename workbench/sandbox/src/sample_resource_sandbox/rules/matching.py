"""Decides which requests a rule matches: the members of a request that it reads, and the conditions of ``match``."""

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, cast
from urllib.parse import parse_qs

from werkzeug.datastructures import Headers

from sample_resource_sandbox.journal.entry import BODY_BYTES_KEPT, Entry

TOKEN_PATH = "/oauth/token"  # noqa: S105 -- a path
TOKEN_OPERATION = "getToken"  # noqa: S105 -- an operationId

COMPARISONS_AT_MOST = 50_000
"""The most comparisons that are made to match one request against the rules. Beyond this number nothing matches. One
comparison compares a JSON value, or :data:`_COMPARED_AT_ONCE` characters of a text, and takes about half a
microsecond. A text with ``*`` is compared at each character."""
_COMPARED_AT_ONCE = 1024

Wanted = str | bool | list[str]
"""The condition on a parameter or a header: a value that it has, several values, or whether it is present."""


def fits(wanted: str, text: str) -> bool:
    """Whether a text fits a wanted text, in which ``*`` stands for any number of characters."""
    first, *parts = wanted.split("*")
    if not parts:
        return text == wanted
    last = parts.pop()
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for part in parts:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


class Sent:
    """A request as rules and expectations read it.

    :param read: returns the body; None if it is too long or cannot be read. Called only for a condition on the body.
    :ivar path: the raw path below the project, with a slash at its beginning; ``/oauth/token`` for the token endpoint.
    :ivar is_unread: whether a condition could not be checked, because the body is too long or there were too many
        comparisons.
    """

    def __init__(self, entry: Entry, read: Callable[[], bytes | None]) -> None:
        self.operation_id = entry.operation
        self.method = entry.method
        path, _, self._query = entry.target.partition("?")
        is_grant = path == TOKEN_PATH or entry.operation == TOKEN_OPERATION
        self.path = TOKEN_PATH if is_grant else _below(entry.target)
        self._request = entry.request
        self._read = read
        self._comparisons = COMPARISONS_AT_MOST
        self.is_unread = False

    @cached_property
    def headers(self) -> Headers:
        """The headers of the request."""
        return Headers(list(self._request.headers))

    @cached_property
    def parameters(self) -> Mapping[str, list[str]]:
        """The values of each parameter of the query string, decoded."""
        return parse_qs(self._query, keep_blank_values=True)

    @cached_property
    def body(self) -> str | None:
        """The body as text; None if it cannot be read or is longer than the journal keeps."""
        data = self._read()
        if data is None or len(data) > BODY_BYTES_KEPT:
            self.is_unread = True
            return None
        return data.decode("utf-8", "replace")

    @cached_property
    def json(self) -> Any:
        """The body as a JSON value; :data:`NOTHING` if it is no JSON."""
        try:
            return NOTHING if not self.body else json.loads(self.body)
        except (ValueError, RecursionError):
            return NOTHING

    def fits(self, wanted: str, text: str) -> bool:
        """Whether a text of the request fits a wanted text, as :func:`fits` decides."""
        self._comparisons -= 1 + len(text) * (max(4, len(wanted)) if "*" in wanted else 4) // _COMPARED_AT_ONCE
        if self._comparisons < 0:
            self.is_unread = True
            return False
        return fits(wanted, text)

    def has(self, wanted: Wanted, values: list[str]) -> bool:
        """Whether a parameter or header with these values fulfils a condition."""
        if isinstance(wanted, bool):
            return bool(values) is wanted
        texts = [wanted] if isinstance(wanted, str) else wanted
        return all(any(self.fits(each, value) for value in values) for each in texts)

    def is_in(self, part: Any, value: Any) -> bool:
        """Whether JSON contains other JSON: each member of an object, and each item of an array at any position."""
        # As in :meth:`fits`. A common method, called for each value, would take as long as the comparison itself.
        self._comparisons -= 1
        if self._comparisons < 0:
            self.is_unread = True
            return False
        if isinstance(part, dict):
            members = cast("dict[str, Any]", part)
            return isinstance(value, dict) and all(
                name in value and self.is_in(each, cast("dict[str, Any]", value)[name])
                for name, each in members.items()
            )
        if isinstance(part, list):
            listed = cast("list[Any]", value) if isinstance(value, list) else None
            return listed is not None and all(
                any(self.is_in(each, item) for item in listed) for each in cast("list[Any]", part)
            )
        return isinstance(value, bool) is isinstance(part, bool) and value == part


def _below(target: str) -> str:
    """The raw path of a target below the project, with a slash at its beginning."""
    # A target in absolute form may have any text after its scheme, such as half of an IPv6 address.
    path = target if target.startswith("/") else "/" + target.partition("://")[2].partition("/")[2]
    path = path.partition("?")[0].partition("#")[0]
    return "/" + path[1:].partition("/")[2]


NOTHING: Any = object()
"""Stands for a missing value."""


class Match:
    """The conditions of a rule, all of which have to hold. None, an empty mapping and :data:`NOTHING` are no condition.

    :param source: the checked member ``match``.
    """

    def __init__(self, source: Mapping[str, Any]) -> None:
        named = source.get("operationId")
        self.operation_ids = None if named is None else frozenset([named] if isinstance(named, str) else named)
        self.method: str | None = source.get("method")
        self.path: str | None = source.get("path")
        self.query: Mapping[str, Wanted] = source.get("query", {})
        self.header: Mapping[str, Wanted] = {name.lower(): each for name, each in source.get("header", {}).items()}
        self.body: Any = source.get("body", NOTHING)
        """The wanted text of the body, or the JSON value that the body contains."""

    def holds(self, sent: Sent, *, with_tokens: bool = False) -> bool:
        """Whether a request fulfils all conditions.

        :param with_tokens: whether a token request may match without ``operationId``. For rules it does not, so that a
            rule without conditions lets a client get its token.
        """
        if self.operation_ids is None:
            if sent.operation_id == TOKEN_OPERATION and not with_tokens:
                return False
        elif sent.operation_id not in self.operation_ids:
            return False
        return (
            (self.method is None or sent.method == self.method)
            and (self.path is None or sent.fits(self.path, sent.path))
            and all(sent.has(wanted, sent.parameters.get(name, [])) for name, wanted in self.query.items())
            and all(sent.has(wanted, sent.headers.getlist(name)) for name, wanted in self.header.items())
            and self.holds_for_body(sent)
        )

    def holds_for_body(self, sent: Sent) -> bool:
        """Whether the body of a request fulfils the condition on the body."""
        if self.body is NOTHING:
            return True
        if isinstance(self.body, str):
            return sent.body is not None and sent.fits(self.body, sent.body)
        return sent.json is not NOTHING and sent.is_in(self.body, sent.json)
