"""Answers of the server, with methods that check them.

Each ``expect_...`` counts as one check and returns the answer.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from sample_resource_testkit.exchanges import Exchange, shortened
from sample_resource_testkit.outcomes import Failed
from sample_resource_testkit.wire import RawAnswer

_MISSING = object()

Counted = Callable[[], None]


class Answer:
    """The answer of a server to one request.

    :param count: called for each expectation.
    """

    def __init__(self, exchange: Exchange, raw: RawAnswer, count: Counted) -> None:
        self.exchange = exchange
        self.raw = raw
        self._count = count

    @property
    def status(self) -> int:
        """The status code."""
        return self.raw.status

    @property
    def body(self) -> bytes:
        """The bytes of the body."""
        return self.raw.body

    @property
    def text(self) -> str:
        """The body as text.

        :raises Failed: if it is not UTF-8.
        """
        try:
            return self.raw.body.decode()
        except UnicodeDecodeError:
            raise self.failed("a body in UTF-8", repr(self.raw.body[:200])) from None

    @property
    def json(self) -> Any:
        """The JSON value in the body.

        :raises Failed: if the body is not JSON.
        """
        try:
            return json.loads(self.text, parse_constant=_refuse)
        except ValueError as error:
            raise self.failed("a JSON body", f"{shortened(self.raw.body) or 'an empty one'} ({error})") from None

    @property
    def members(self) -> dict[str, Any]:
        """The JSON object in the body.

        :raises Failed: if the body is no JSON object.
        """
        body = self.json
        if not isinstance(body, dict):
            raise self.failed("a JSON object", shortened(self.raw.body))
        return cast("dict[str, Any]", body)

    def headers(self, name: str) -> list[str]:
        """The values of a header, one for each time that the answer has it."""
        return [value for found, value in self.raw.headers if found.lower() == name.lower()]

    def header(self, name: str) -> str | None:
        """The value of a header. Several values are joined by commas (RFC 9110, section 5.3)."""
        values = self.headers(name)
        return ", ".join(values) if values else None

    def at(self, *path: str | int) -> Any:
        """The value at a path in the JSON body.

        :raises Failed: if the body has no such path.
        """
        value = _find(self.json, path)
        if value is _MISSING:
            raise self.failed(f"a body with {_place(path)}", shortened(self.raw.body))
        return value

    def failed(self, expected: str, got: str) -> Failed:
        """The exception for a failed check of this answer."""
        return Failed(expected, got, self.exchange)

    def expect(self, condition: bool, expected: str, got: object = None) -> "Answer":
        """Expect that a condition holds.

        :param expected: the condition in words, such as ``results in the order of their keys``.
        :param got: what the answer has instead, as a text for the report or a JSON value; by default the body.
        :raises Failed: if the condition is false.
        """
        self._count()
        if not condition:
            if got is None:
                got = shortened(self.raw.body)
            raise self.failed(expected, got if isinstance(got, str) else told(got))
        return self

    def expect_status(self, *allowed: int) -> "Answer":
        """Expect one of the given status codes.

        :raises Failed: for another status code.
        """
        wanted = " or ".join(map(str, allowed))
        return self.expect(self.status in allowed, f"status {wanted}", f"status {self.status}")

    def expect_success(self) -> "Answer":
        """Expect any status from 200 to 299. The interface often does not say which.

        :raises Failed: for another status code.
        """
        return self.expect(200 <= self.status < 300, "a status of success (2xx)", f"status {self.status}")

    def expect_json(self, *path_and_value: Any) -> "Answer":
        """Expect a value at a path in the JSON body: ``expect_json("results", 0, "key", "a")``.

        A value without a path is the whole body. 1 and 1.0 are equal; true and 1 are not.

        :raises Failed: for another value, or if the body has no such path.
        """
        *path, value = path_and_value
        found = _find(self.json, path)
        place = _place(path) if path else "the body"
        got = "there is none" if found is _MISSING else f"{place} is {told(found)}"
        return self.expect(found is not _MISSING and same(found, value), f"{place} to be {told(value)}", got)

    def expect_absent(self, *path: str | int) -> "Answer":
        """Expect that the JSON body has nothing at a path. null counts as a value.

        :raises Failed: if the body has the path.
        """
        found = _find(self.json, path)
        return self.expect(found is _MISSING, f"no {_place(path)}", f"{_place(path)} is {told(found)}")

    def expect_subset(self, wanted: Mapping[str, Any], *path: str | int) -> "Answer":
        """Expect an object at a path in the body that has at least these members, each with this value.

        :raises Failed: if a member is missing or has another value.
        """
        found = self.at(*path)
        holds = isinstance(found, dict) and all(name in found and same(found[name], wanted[name]) for name in wanted)
        return self.expect(holds, f"{_place(path) if path else 'the body'} to contain {told(wanted)}", found)

    def expect_header(self, name: str, value: "str | re.Pattern[str] | None" = None) -> "Answer":
        """Expect a header.

        :param value: its whole value, or a pattern for the whole value; None accepts any value.
        :raises Failed: if the header is missing or has another value.
        """
        found = self.header(name)
        if isinstance(value, re.Pattern):
            holds, wanted = found is not None and value.fullmatch(found) is not None, f" that matches {value.pattern}"
        else:
            holds, wanted = found is not None and value in (None, found), "" if value is None else f": {value}"
        got = f"no header {name}" if found is None else f"{name}: {found}"
        return self.expect(holds, f"the header {name}{wanted}", got)

    def expect_no_header(self, name: str) -> "Answer":
        """Expect that the answer does not have a header.

        :raises Failed: if it has the header.
        """
        return self.expect(self.header(name) is None, f"no header {name}", f"{name}: {self.header(name)}")

    def expect_empty(self) -> "Answer":
        """Expect an answer without a body, and no bytes after its end.

        :raises Failed: if there are any.
        """
        return self.expect(not self.raw.body + self.raw.extra, "no body", shortened(self.raw.body + self.raw.extra))


def told(value: object) -> str:
    """A value as JSON for a report, cut short after 1,000 characters."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 1_000 else f"{text[:1_000]} ..."


def same(found: Any, wanted: Any) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are, true and 1 are not."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, dict) and isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[name], wanted[name]) for name in wanted)
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return found == wanted


def _find(value: Any, path: "tuple[str | int, ...] | list[Any]") -> Any:
    for step in path:
        if isinstance(step, str):
            if not isinstance(value, dict) or step not in value:
                return _MISSING
            value = value[step]
        elif isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return _MISSING
    return value


def _place(path: "tuple[str | int, ...] | list[Any]") -> str:
    """A path in the notation of JavaScript: ``results[0].key``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "the body"


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
