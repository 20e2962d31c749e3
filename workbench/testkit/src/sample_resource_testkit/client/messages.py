"""What an adapter sent over the wire, and what it said that its client returned."""

import json
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

KINDS = ("http", "network", "timeout", "decoding", "other")
"""Of errors that a client raises."""

LONGEST = 4_000
"""Characters of a text that a report shows."""


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text of a bearable length, whose lone surrogates stand as escapes: no file can have them as they are."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= longest else f"{text[:longest]} ... ({len(text)} characters)"


def as_json(value: Any) -> str:
    """A JSON value for a reader."""
    return shortened(json.dumps(value, ensure_ascii=False))


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """A request as it arrived, with what it was answered.

    :param began: when it arrived, and ``ended``, when it was answered, in seconds of the server's clock.
    :param status: None if it had no answer.
    :param connection: tells connections apart.
    :param findings: what the sandbox found in it.
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
    findings: tuple[str, ...] = ()

    def header(self, name: str) -> list[str]:
        """The values of a header."""
        return [value for found, value in self.headers if found.lower() == name.lower()]

    def told(self) -> str:
        """The request for a reader."""
        lines = [f"{self.method} {self.target}", *(f"{name}: {value}" for name, value in self.headers)]
        if self.body:
            lines += ["", shortened(self.body.decode("utf-8", "backslashreplace"))]
        return "\n".join(lines)

    def answer_told(self) -> str:
        """The answer for a reader."""
        if self.status is None:
            return self.answer or "no answer"
        shown = [f"{name}: {value}" for name, value in self.answer_headers]
        return "\n".join([f"HTTP/1.1 {self.status}", *shown, *(["", shortened(self.answer)] if self.answer else [])])


@dataclass(frozen=True, slots=True)
class Returned:
    """What an adapter answered to a call.

    :param error: what the client raised; None if it returned ``result``.
    :param meta: what the client shows beside the result.
    :param elapsed_s: how long the call took.
    """

    result: Any = None
    error: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    elapsed_s: float = 0.0

    def told(self) -> str:
        """The answer for a reader, as the adapter wrote it."""
        if self.error is not None:
            return as_json({"error": dict(self.error)})
        return as_json({"result": self.result, **({"meta": dict(self.meta)} if self.meta else {})})


@dataclass(eq=False)
class Wrong(Exception):
    """The client differs from what the scenario asks for.

    :param reason: a sentence that says what is wrong.
    :param cause: the same for all failures that one repair of the client removes; empty: this scenario alone.
    :param is_request: whether the request that was sent is what is wrong.
    :param call: what was called, ``sent`` what went over the wire for it, beside the ``expected`` request or result,
        the ``answer`` to it, and what the client ``returned``.
    :ivar also: what else is wrong, of a scenario that goes on after a call that is wrong.
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
    """The client has no such operation or feature; the message says what the adapter said."""
