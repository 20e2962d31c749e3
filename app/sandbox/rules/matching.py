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


@dataclass(slots=True)
class Budget:
    """What matching may cost; when it is spent, nothing matches any more.

    :param comparisons: of JSON: about half a microsecond each.
    :param steps: of patterns, as instructions times characters: some nanoseconds each at worst.
    """

    comparisons: int = 50_000
    steps: int = 20_000_000

    @property
    def is_spent(self) -> bool:
        """Whether something was not looked at."""
        return self.comparisons < 0 or self.steps < 0


class Sent:
    """What rules look at in a request.

    :param path: the raw path below the project, with its slash; ``/oauth/token`` for that endpoint.
    :param query: the raw query string.
    :param headers: of the request.
    :param read: reads the body; None if it is too long or cannot be read. Called if a rule asks for it.
    :param budget: of all that is asked of it.
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
        budget: Budget | None = None,
    ) -> None:
        self.operation_id = operation_id
        self.method = method
        self.path = path
        self.client_id = client_id
        self.headers = Headers() if headers is None else headers
        self._query = query
        self._read = read
        self._budget = budget or Budget()
        self._searched: dict[tuple[str, bool], bool] = {}

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

    def finds(self, pattern: str, *, in_body: bool) -> bool:
        """Whether a pattern is found in the body, or is that of the whole path; each is searched once."""
        key = pattern, in_body
        if key not in self._searched:
            self._searched[key] = self._search(pattern, self.body if in_body else self.path, in_body=in_body)
        return self._searched[key]

    def _search(self, pattern: str, text: str | None, *, in_body: bool) -> bool:
        if text is None or (not in_body and len(text) > _MATCHED_PATH_AT_MOST):
            return False
        found = compiled(pattern)
        self._budget.steps -= found.programsize * len(text)
        if self._budget.steps < 0:
            return False
        return (found.search(text) if in_body else found.fullmatch(text)) is not None

    def is_in(self, part: Any, value: Any) -> bool:
        """Whether JSON has other JSON in it: each member of an object, and each item of an array somewhere."""
        self._budget.comparisons -= 1
        if self._budget.comparisons < 0:
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

    def holds(self, sent: Sent, *, is_named: bool = False) -> bool:
        """Whether a request fulfils all of them. A request for a token has to be named by its operation.

        :param is_named: whether it is named as a request for a token, if it is one.
        """
        if self.operation_ids is None:
            if sent.operation_id == TOKEN_OPERATION and not is_named:
                return False
        elif sent.operation_id not in self.operation_ids:
            return False
        return (
            (self.method is None or sent.method == self.method)
            and (self.client is None or sent.client_id == self.client)
            and (self.path is None or sent.finds(self.path, in_body=False))
            and all(self.is_wanted(wanted, sent.parameters.get(name, [])) for name, wanted in self.query)
            and all(self.is_wanted(wanted, sent.headers.getlist(name)) for name, wanted in self.header)
            and self.holds_for_body(sent)
        )

    def holds_for_body(self, sent: Sent) -> bool:
        """Whether the body is the one that is asked for."""
        if self.body is NOTHING:
            return True
        if isinstance(self.body, str):
            return sent.finds(self.body, in_body=True)
        return sent.json is not NOTHING and sent.is_in(self.body, sent.json)

    @staticmethod
    def is_wanted(wanted: Wanted, values: list[str]) -> bool:
        """Whether a parameter or header has what is asked of it."""
        if isinstance(wanted, bool):
            return bool(values) is wanted
        return set((wanted,) if isinstance(wanted, str) else wanted) <= set(values)

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
