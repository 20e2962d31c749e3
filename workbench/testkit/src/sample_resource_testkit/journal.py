"""Entries of a project's journal, which are the requests of a client, and the expectations of tests about them."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A request that reached the server, and its answer.

    :param number: the position in the order of arrival; later requests of a project have higher numbers.
    :param path: the path below the project, without the query and not decoded: ``/resource/key=a%2Fb``.
    :param query: the text after the question mark, not decoded.
    :param status: the status of the answer. If a rule withheld the answer to a request that was carried out, the status
        that was withheld. None if the request was not carried out and had no answer.
    :param answered: whether the client was sent an answer; False if the connection was closed or reset.
    :param headers: the headers of the request in their order and spelling, without tokens.
    :param body: the body of the request as text; None if there is no body, or it is no text.
    :param response_body: the body of the answer, likewise.
    :param rule: the server's description of the rule that acted; None if no rule acted.
    :param data: the whole entry as the server sent it, with ``findings`` and other members.
    """

    number: int
    method: str
    path: str
    query: str
    status: int | None
    answered: bool
    headers: tuple[tuple[str, str], ...]
    body: str | None
    response_headers: tuple[tuple[str, str], ...]
    response_body: str | None
    rule: Mapping[str, Any] | None
    data: Mapping[str, Any]

    @classmethod
    def of(cls, data: Mapping[str, Any], project: str) -> Self:
        """An entry from the JSON object of the server."""
        request, response, rule = data["request"], data.get("response"), data.get("rule")
        target, _, query = str(request["target"]).partition("?")
        withheld = None if rule is None else rule.get("replacedStatus")
        return cls(
            number=data["number"],
            method=request["method"],
            path=target.removeprefix(f"/{project}"),
            query=query,
            status=response["status"] if response is not None else withheld,
            answered=response is not None,
            headers=_pairs(request),
            body=_text(request),
            response_headers=_pairs(response),
            response_body=_text(response),
            rule=rule,
            data=data,
        )

    @property
    def errors(self) -> tuple[str, ...]:
        """The error messages in the answer, each with its code and details."""
        body = _json(self.response_body)
        listed = body.get("errors") if isinstance(body, dict) else None
        if self.status is None or self.status < 400 or not isinstance(listed, list):
            return ()
        return tuple(_error_text(each) for each in listed if isinstance(each, dict))

    @property
    def findings(self) -> tuple[Mapping[str, Any], ...]:
        """The findings of the sandbox: mistakes that did not make the request fail, each with ``id``, ``told`` and
        details."""
        return tuple(self.data.get("findings", ()))

    def __str__(self) -> str:
        target = f"{self.path}?{self.query}" if self.query else self.path
        return f"{self.number}: {self.method} {target} -> {self.data['outcome']}"


def _pairs(message: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in (message or {}).get("headers", ()))


def _json(text: str | None) -> Any:
    """The value of a JSON text; None if the text is not JSON."""
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        return None


def _error_text(error: Mapping[str, Any]) -> str:
    texts = [text for text in (error.get("message"), error.get("detailedErrorMessage")) if text]
    return f"{error.get('code')}: {' '.join(map(str, texts))}"


def _text(message: Mapping[str, Any] | None) -> str | None:
    return ((message or {}).get("body") or {}).get("text")


def told(entries: Iterable[JournalEntry]) -> str:
    """A journal as text, oldest entry first: each request with the errors of its answer, and its findings."""
    return "\n".join(line for entry in reversed(list(entries)) for line in _told(entry))


def _told(entry: JournalEntry) -> Iterator[str]:
    yield str(entry)
    for error in entry.errors:
        yield f"     {error}"
    for finding in entry.findings:
        yield f"     finding: {finding['told']}"


# Expectations of tests

Values = str | Sequence[str] | bool
"""The expected value of a parameter or header, several values, or whether it is present."""

Times = int | tuple[int, int | None]
"""How often a request is expected: an exact number, or the least and the largest number."""


class _Anything:
    def __repr__(self) -> str:
        return "anything"


ANYTHING = _Anything()


def times_order(times: Times) -> int | dict[str, int]:
    """An expected number of requests in the form of the sandbox's order."""
    if isinstance(times, int):
        return times
    return {name: each for name, each in zip(("atLeast", "atMost"), times, strict=True) if each is not None}


def fits(wanted: str, text: str) -> bool:
    """Whether a text matches a pattern, in which ``*`` stands for any characters."""
    return re.fullmatch(".*".join(map(re.escape, wanted.split("*"))), text, re.DOTALL) is not None
