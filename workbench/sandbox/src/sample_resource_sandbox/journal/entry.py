"""The entry of the journal for a request to a sandbox project and its answer."""

import base64
import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from app.values.timestamps import text_of
from sample_resource_sandbox.journal.redaction import Secrets

BODY_BYTES_KEPT = 64 * 1024
"""The first bytes of a body that are kept. Rules, findings and the journal look at no more."""

_OVERHEAD_BYTES = 3072
"""The approximate size of an entry without its bodies and headers."""

Headers = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Message:
    """A request or an answer."""

    headers: Headers
    body: bytes = b""
    """The first :data:`BODY_BYTES_KEPT` bytes of the body."""
    size: int | None = 0
    """The number of bytes of the whole body; None if it was not read to its end."""

    def by_name(self) -> Mapping[str, str]:
        """The headers by their names in lower case. The last of repeated headers counts."""
        return {name.lower(): value for name, value in self.headers}

    @property
    def bytes(self) -> int:
        """The approximate size of the message in bytes."""
        return len(self.body) + 100 * len(self.headers)


@dataclass(slots=True, kw_only=True, eq=False)
class Entry:
    """A request to a sandbox project, and its answer once the answer is decided."""

    number: int = 0
    arrived_at: float
    """The time of arrival, in seconds since 1970."""
    client_id: str | None
    """The client of the token; None if the request had no valid token."""
    operation: str | None
    """The operationId; None for an unknown URL or method."""
    method: str
    target: str
    http_version: str
    request: Message
    connection: tuple[int, int] | None
    """The number of the connection, and the number of the request on it; None without a connection."""
    client: Any = None
    """The socket of the client while the request is under way; None without a worker."""
    correlation_id: str
    project_time: float | None
    """The time of the project's clock; None if it shows real time."""
    answered_s: float | None = None
    """The seconds from the arrival until the answer was decided; None if it is not decided yet."""
    ended_s: float | None = None
    """The seconds from the arrival until the answer was sent or the connection had ended; None if the request is under
    way."""
    status: int | None = None
    """The status of the answer; None if there was no answer."""
    answer: Message | None = None
    """The answer; None if there was none."""
    rule: Mapping[str, Any] | None = None
    client_gone: bool = False
    """Whether the client closed the connection before it was answered, or while a rule stalled its answer."""
    is_beside: bool = False
    """Whether another request of its client was under way at the same time."""
    is_judged: bool = False
    """Whether it has been judged: when it has ended, or earlier if its client has given it up."""
    counted_bytes: int = 0
    """The bytes that the journal counts for the entry; 0 before the request has ended."""
    repeats: int | None = None
    """The number of the failed request that this one repeats."""
    findings: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_under_way(self) -> bool:
        """Whether the request has not ended."""
        return self.ended_s is None

    @property
    def answered_at(self) -> float:
        """The time when its answer was decided, in seconds since 1970. The client had no part of the answer before."""
        return self.arrived_at + (self.answered_s if self.answered_s is not None else self.ended_s or 0.0)

    @property
    def ended_at(self) -> float:
        """The time when it ended, in seconds since 1970."""
        return self.arrived_at + (self.ended_s or 0.0)

    @property
    def bytes(self) -> int:
        """The approximate size of the entry in memory, in bytes."""
        answer = 0 if self.answer is None else self.answer.bytes
        return _OVERHEAD_BYTES + len(self.target) + self.request.bytes + answer

    @property
    def outcome(self) -> str:
        """The outcome of the request in words: its status, and the effects of rules."""
        done: str = "" if self.rule is None else self.rule["did"]
        if self.status is not None:
            status = str(self.status)
        elif self.client_gone:
            status = "the client closed the connection before its answer"
        elif self.answered_s is None:
            status = "under way"
        else:
            withheld = "" if self.rule is None else f" ({self.rule['replacedStatus'] or 'not carried out'})"
            status = f"no answer{withheld}"
        # A rule that has made the status tells it first.
        is_told = any(each.startswith(status) for each in done.split("; "))
        return done if is_told else ", ".join(filter(None, (status, done)))

    def drop_texts(self) -> None:
        """Remove the long texts of an entry that the journal has dropped. Others may still refer to the entry and need
        its other members."""
        self.target = self.http_version = ""
        self.request = Message(())
        self.answer = None if self.answer is None else Message(())

    def described(self, secrets: Secrets) -> dict[str, Any]:
        """The entry as ``GET .../requests/{number}`` answers it, without tokens and secrets."""
        answer, connection = self.answer, self.connection
        return {
            "number": self.number,
            "startedAt": _moment(self.arrived_at),
            "endedAt": None if self.ended_s is None else _moment(self.ended_at),
            "answeredMs": _milliseconds(self.answered_s),
            "durationMs": _milliseconds(self.ended_s),
            "underWay": self.is_under_way,
            "clientId": self.client_id,
            "operationId": self.operation,
            "request": {
                "method": secrets.redacted(self.method),
                "target": secrets.redacted(self.target),
                "httpVersion": self.http_version,
                **_described(self.request, secrets),
            },
            "outcome": secrets.redacted(self.outcome),
            "response": None if answer is None else {"status": self.status, **_described(answer, secrets)},
            "rule": _clean(self.rule, secrets),
            "correlationId": secrets.redacted(self.correlation_id),
            "connection": None if connection is None else {"number": connection[0], "request": connection[1]},
            "clientGone": self.client_gone,
            "projectTime": None if self.project_time is None else _moment(self.project_time),
            "repeats": self.repeats,
            "findings": _clean(self.findings, secrets),
        }


def _moment(seconds: float) -> str:
    return text_of(datetime.fromtimestamp(seconds, UTC))


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 2)


def _described(message: Message, secrets: Secrets) -> dict[str, Any]:
    headers = [[secrets.redacted(name), secrets.redacted_header(name, value)] for name, value in message.headers]
    return {"headers": headers, "body": _body(message, secrets)}


def _body(message: Message, secrets: Secrets) -> dict[str, Any] | None:
    kept = message.body
    is_cut = message.size is None or message.size > len(kept)
    if not kept and not is_cut:
        return None
    made: dict[str, Any] = {"size": message.size, **({"truncated": True} if is_cut else {})}
    try:
        # The end of a cut body may be a part of a character.
        text = codecs.getincrementaldecoder("utf-8")().decode(kept, final=not is_cut)
    except UnicodeDecodeError:
        text = ""
    if (kept and not text) or "\0" in text:
        clean = secrets.redacted(kept.decode("latin-1")).encode("latin-1", "replace")
        return {**made, "base64": base64.b64encode(clean).decode()}
    return {**made, "text": secrets.redacted(text)}


def _clean(value: Any, secrets: Secrets) -> Any:
    """A JSON value with the secrets removed from its texts. Names of rules and findings may contain secrets."""
    if isinstance(value, str):
        return secrets.redacted(value)
    if isinstance(value, Mapping):
        return {name: _clean(each, secrets) for name, each in value.items()}
    return [_clean(each, secrets) for each in value] if isinstance(value, list | tuple) else value
