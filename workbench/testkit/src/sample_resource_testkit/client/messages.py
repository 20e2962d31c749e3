"""The requests of a client, the answers of its adapter, and the faults that scenarios find."""

import json
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

KINDS = ("http", "network", "timeout", "decoding", "other")
"""The kinds of errors that a client raises."""

LONGEST = 4_000
"""How many characters of a text a report shows."""


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text that is cut short. Lone surrogates become escapes, because a file cannot contain them."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= longest else f"{text[:longest]} ... ({len(text)} characters)"


def as_json(value: Any) -> str:
    """A value as a JSON text for reports."""
    return shortened(json.dumps(value, ensure_ascii=False))


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """A request as it arrived, with its answer.

    :param began: when the request arrived, in seconds of the server's clock; ``ended`` is when it was answered.
    :param status: the status of the answer; None without an answer.
    :param connection: a number that requests on one connection share.
    """

    number: int
    operation: str
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    began: float
    ended: float
    status: int | None
    answer_headers: tuple[tuple[str, str], ...] = ()
    answer: str = ""
    connection: object = None

    def header(self, name: str) -> list[str]:
        """The values of a header."""
        return [value for found, value in self.headers if found.lower() == name.lower()]

    def told(self) -> str:
        """The request as text for reports."""
        lines = [f"{self.method} {self.target}", *(f"{name}: {value}" for name, value in self.headers)]
        if self.body:
            lines += ["", shortened(self.body.decode("utf-8", "backslashreplace"))]
        return "\n".join(lines)

    def answer_told(self) -> str:
        """The answer to the request as text for reports."""
        if self.status is None:
            return self.answer or "no answer"
        shown = [f"{name}: {value}" for name, value in self.answer_headers]
        return "\n".join([f"HTTP/1.1 {self.status}", *shown, *(["", shortened(self.answer)] if self.answer else [])])


@dataclass(frozen=True, slots=True)
class Returned:
    """The answer of an adapter to a call.

    :param error: the error that the client raised; None if it returned ``result``.
    :param meta: what the client shows besides the result.
    :param elapsed_s: the duration of the call.
    """

    result: Any = None
    error: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    elapsed_s: float = 0.0

    def told(self) -> str:
        """The adapter's answer as text for reports."""
        if self.error is not None:
            return as_json({"error": dict(self.error)})
        return as_json({"result": self.result, **({"meta": dict(self.meta)} if self.meta else {})})


@dataclass(eq=False)
class Wrong(Exception):
    """The client does not do what the scenario requires.

    :param reason: a sentence that says what is wrong.
    :param cause: a name shared by all failures that one repair of the client removes; empty if only this scenario
        fails in this way.
    :param is_request: whether the request is wrong, and not only the result.
    :param call: the call; ``sent`` is its request, ``expected`` the expected request or result, ``answer`` the server's
        answer, and ``returned`` the client's result.
    :ivar also: further faults of a scenario that goes on after a wrong call.
    """

    reason: str
    _: KW_ONLY
    cause: str = ""
    is_request: bool = False
    call: str = ""
    sent: str = ""
    expected: str = ""
    answer: str = ""
    returned: str = ""
    also: "tuple[Wrong, ...]" = ()

    def __str__(self) -> str:
        return self.reason


class Unsupported(Exception):
    """The client does not have an operation or feature. The message is that of the adapter."""
