"""What a client has sent: entries of the journal of a project, and what a test expects of them."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A request that reached the server, and its answer.

    :param number: rises with the requests of a project, in the order of their arrival.
    :param path: below the project and without the query, as it came: ``/resource/key=a%2Fb``.
    :param query: what follows the question mark, as it came.
    :param status: of the answer. If the request was carried out and a rule withheld its answer, the status that was
        withheld; None if it was not carried out and had no answer.
    :param answered: whether the client was sent an answer; False for a connection that was closed or reset.
    :param headers: of the request, in their order and spelling; tokens are left out.
    :param body: of the request as text; None without one, or if it is no text.
    :param response_body: of the answer, likewise.
    :param rule: the rule that acted, as the server describes it; None if none did.
    :param data: the whole entry as the server has it, with ``findings`` and others.
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
        """Read an entry of the journal."""
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
        """The messages of the error that was answered, each with its code, and what else it tells."""
        body = _json(self.response_body)
        listed = body.get("errors") if isinstance(body, dict) else None
        if self.status is None or self.status < 400 or not isinstance(listed, list):
            return ()
        return tuple(_error_text(each) for each in listed if isinstance(each, dict))

    @property
    def findings(self) -> tuple[Mapping[str, Any], ...]:
        """What should not be so although it works: of each ``id``, ``told`` and what that is made of."""
        return tuple(self.data.get("findings", ()))

    def __str__(self) -> str:
        target = f"{self.path}?{self.query}" if self.query else self.path
        return f"{self.number}: {self.method} {target} -> {self.data['outcome']}"


def _pairs(message: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in (message or {}).get("headers", ()))


def _json(text: str | None) -> Any:
    """The value of a JSON text; None if it is none."""
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
    """A journal for a reader, oldest first: each request with the errors that it was answered, and what was found."""
    return "\n".join(line for entry in reversed(list(entries)) for line in _told(entry))


def _told(entry: JournalEntry) -> Iterator[str]:
    yield str(entry)
    for error in entry.errors:
        yield f"     {error}"
    for finding in entry.findings:
        yield f"     finding: {finding['told']}"


# What a test expects

Values = str | Sequence[str] | bool
"""Of a parameter or header: a value that it has, several of them, or whether it is there."""

Times = int | tuple[int, int | None]
"""How often: exactly, or at least and at most."""


class _Anything:
    def __repr__(self) -> str:
        return "anything"


ANYTHING = _Anything()


def times_order(times: Times) -> int | dict[str, int]:
    """How often, as the service is asked."""
    if isinstance(times, int):
        return times
    return {name: each for name, each in zip(("atLeast", "atMost"), times, strict=True) if each is not None}


def fits(wanted: str, text: str) -> bool:
    """Whether a text is the wanted one, in which ``*`` stands for any characters."""
    return re.fullmatch(".*".join(map(re.escape, wanted.split("*"))), text, re.DOTALL) is not None
