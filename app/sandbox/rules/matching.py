"""Which requests a rule matches: what it looks at in a request, and the conditions of ``match``."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, cast
from urllib.parse import parse_qs

import re2  # pyright: ignore[reportMissingTypeStubs] -- it has none; its matching takes linear time, that of re does not
from werkzeug.datastructures import Headers

TOKEN_OPERATION = "getToken"  # noqa: S105 -- an operationId

_MATCHED_PATH_AT_MOST = 2_000
"""Characters of a path; a longer one matches no pattern."""
MATCHED_BODY_AT_MOST = 64 * 1024
"""Bytes of a body; a longer one matches no condition."""
_PATTERN_BYTES = 128 * 1024
"""Memory of RE2 for a pattern, with what it remembers while it matches."""

Wanted = str | bool | tuple[str, ...]
"""What is asked of a parameter or a header: a value that it has, several of them, or whether it is there at all."""


class Sent:
    """What rules look at in a request.

    :param path: the raw path below the project, with its slash; ``/oauth/token`` for that endpoint.
    :param query: the raw query string.
    :param headers: of the request.
    :param read: reads the body; None if it is too long or cannot be read. Called if a rule asks for it.
    """

    def __init__(
        self,
        operation_id: str | None,
        method: str,
        path: str,
        client_id: str | None,
        query: str = "",
        headers: Headers | None = None,
        read: Callable[[], bytes | None] = lambda: None,
    ) -> None:
        self.operation_id = operation_id
        self.method = method
        self.path = path
        self.client_id = client_id
        self.headers = Headers() if headers is None else headers
        self._query = query
        self._read = read

    @cached_property
    def parameters(self) -> Mapping[str, list[str]]:
        """The values of each parameter of the query string, decoded."""
        return parse_qs(self._query, keep_blank_values=True)

    @cached_property
    def body(self) -> str | None:
        """The body as text; None if it is none."""
        data = self._read()
        return None if data is None or len(data) > MATCHED_BODY_AT_MOST else data.decode("utf-8", "replace")

    @cached_property
    def json(self) -> Any:
        """The body as a value of JSON; :data:`NOTHING` if it is none."""
        try:
            return NOTHING if not self.body else json.loads(self.body)
        except (ValueError, RecursionError):
            return NOTHING


NOTHING: Any = object()
"""In place of a value: there is none."""


@dataclass(frozen=True, slots=True)
class Match:
    """The conditions of a rule; all of them have to hold, and None or nothing is no condition."""

    operation_ids: frozenset[str] | None = None
    method: str | None = None
    path: str | None = None
    client: str | None = None
    query: tuple[tuple[str, Wanted], ...] = ()
    header: tuple[tuple[str, Wanted], ...] = ()
    body: Any = NOTHING
    """A pattern that is found in it, or a value of JSON that it contains."""

    def holds(self, sent: Sent) -> bool:
        """Whether a request fulfils all of them. A request for a token has to be named by its operation."""
        if self.operation_ids is None:
            if sent.operation_id == TOKEN_OPERATION:
                return False
        elif sent.operation_id not in self.operation_ids:
            return False
        return (
            (self.method is None or sent.method == self.method)
            and (self.client is None or sent.client_id == self.client)
            and (self.path is None or _matches_path(self.path, sent.path))
            and all(_is_wanted(wanted, sent.parameters.get(name, [])) for name, wanted in self.query)
            and all(_is_wanted(wanted, sent.headers.getlist(name)) for name, wanted in self.header)
            and self._holds_for_body(sent)
        )

    def _holds_for_body(self, sent: Sent) -> bool:
        if self.body is NOTHING:
            return True
        if isinstance(self.body, str):
            try:
                return sent.body is not None and compiled(self.body).search(sent.body) is not None
            except re2.error:
                return False  # stored when larger ones were taken
        return sent.json is not NOTHING and contains(sent.json, self.body)

    def covers(self, other: "Match") -> bool:
        """Whether it holds for certain wherever the other one does: each of its conditions is one of the other's."""
        if self.operation_ids is None:
            if other.operation_ids is not None and TOKEN_OPERATION in other.operation_ids:
                return False
        elif other.operation_ids is None or not other.operation_ids <= self.operation_ids:
            return False
        same = (
            (self.method, other.method),
            (self.path, other.path),
            (self.client, other.client),
        )
        return (
            all(mine is None or mine == its for mine, its in same)
            and set(self.query) <= set(other.query)
            and set(self.header) <= set(other.header)
            and (self.body is NOTHING or (other.body is not NOTHING and _is_same(self.body, other.body)))
        )


def _matches_path(pattern: str, path: str) -> bool:
    try:
        return len(path) <= _MATCHED_PATH_AT_MOST and compiled(pattern).fullmatch(path) is not None
    except re2.error:
        return False  # stored when larger ones were taken


def _is_wanted(wanted: Wanted, values: list[str]) -> bool:
    if isinstance(wanted, bool):
        return bool(values) is wanted
    return set((wanted,) if isinstance(wanted, str) else wanted) <= set(values)


def contains(value: Any, part: Any) -> bool:
    """Whether a value of JSON contains another: each member of an object, and each item of an array somewhere."""
    if isinstance(part, dict):
        members = cast("dict[str, Any]", part)
        return isinstance(value, dict) and all(
            name in value and contains(cast("dict[str, Any]", value)[name], each) for name, each in members.items()
        )
    if isinstance(part, list):
        listed = cast("list[Any]", value) if isinstance(value, list) else None
        return listed is not None and all(
            any(contains(item, each) for item in listed) for each in cast("list[Any]", part)
        )
    return isinstance(value, bool) is isinstance(part, bool) and value == part


def _is_same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Any:
    """A pattern of RE2.

    :raises re2.error: for one that is none, or takes too much memory.
    """
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_BYTES
    return re2.compile(pattern, options)


def made_match(source: Mapping[str, Any]) -> Match:
    """The conditions in the checked member ``match`` of a rule."""
    operations = source.get("operationId")
    return Match(
        operation_ids=None
        if operations is None
        else frozenset([operations] if isinstance(operations, str) else operations),
        method=source.get("method"),
        path=source.get("path"),
        client=source.get("client"),
        query=_made_wanted(source.get("query", {})),
        header=_made_wanted({name.lower(): value for name, value in source.get("header", {}).items()}),
        body=source.get("body", NOTHING),
    )


def _made_wanted(source: Mapping[str, Any]) -> tuple[tuple[str, Wanted], ...]:
    return tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in source.items())
