"""The entry of the journal for a request to a sandbox project and its answer."""

import base64
import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Protocol

from app.identity.tokens import AccessToken
from app.values.timestamps import text_of
from sample_resource_sandbox.journal.redaction import Secrets

BODY_BYTES_KEPT = 64 * 1024

BODY_BYTES_NOTED = BODY_BYTES_KEPT + 4096
"""The bytes of a body that are kept once its request has been judged. They are more than the shown ones, so that a
secret at the end of the shown part can be recognised as a whole."""

_OVERHEAD_BYTES = 3072
"""The approximate size of an entry without its bodies and headers."""

Headers = tuple[tuple[str, str], ...]


class Describable(Protocol):
    """A finding in an entry, which can be described."""

    def described(self) -> dict[str, Any]:
        """The finding as an entry of the journal shows it."""
        ...


@dataclass(slots=True)
class Message:
    """A request or an answer as it was sent.

    :param headers: pairs of name and value, or header lines as they were sent.
    """

    headers: Headers | bytes
    body: bytes = b""
    """The body; only its first :data:`BODY_BYTES_NOTED` bytes once the request has been judged."""
    size: int | None = 0
    """The number of bytes of the whole body; None if it was not read to its end."""

    def pairs(self) -> Headers:
        """The headers as pairs, in their order and spelling."""
        return _pairs_of(self.headers) if isinstance(self.headers, bytes) else self.headers

    def by_name(self) -> Mapping[str, str]:
        """The headers by their names in lower case. The last of repeated headers counts."""
        return _by_name(self.headers)

    @property
    def bytes(self) -> int:
        """The approximate size of the message in bytes."""
        headers = len(self.headers) if isinstance(self.headers, bytes) else 100 * len(self.headers)
        return len(self.body) + headers


# Cached, because a client sends equal header lines with most of its requests.
@lru_cache(maxsize=64)
def _pairs_of(lines: bytes) -> Headers:
    parts = (line.partition(":") for line in lines.decode("latin-1").split("\r\n") if line)
    return tuple((name, value.strip(" \t")) for name, _, value in parts)


@lru_cache(maxsize=64)
def _by_name(headers: Headers | bytes) -> Mapping[str, str]:
    pairs = _pairs_of(headers) if isinstance(headers, bytes) else headers
    return {name.lower(): value for name, value in pairs}


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
    token: AccessToken | None
    connection: tuple[int, int] | None
    """The number of the connection, and the number of the request on it."""
    opened_at: float | None = None
    """The time when the connection was accepted, in seconds since 1970."""
    client: Any = None
    """The socket of the client while the request is under way; None without a worker."""
    token_seen_at: float | None = None
    """The time when its token was issued or first accepted, in seconds since 1970; None if it never was."""
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
    """Whether the client had closed the connection before it was answered."""
    is_beside: bool = False
    """Whether another request of its client was under way at the same time."""
    is_apart: bool = False
    """Whether its connection shows that it comes from another thread of the client than the previous requests."""
    pending: Mapping[int, int] | None = None
    """For a failure, the requests that had arrived on other connections before the answer but were not yet read: the
    number of each request by the number of its connection."""
    had_backlog: bool = False
    """For a failure, whether connections were waiting to be accepted before the answer."""
    is_judged: bool = False
    counted_bytes: int = 0
    """The bytes that the journal counts for the entry; 0 before the request has ended."""
    repeats: int | None = None
    """The number of the failed request that this one repeats."""
    findings: tuple[Describable, ...] = ()

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
        rule = self.rule
        withheld = None if rule is None else rule["replacedStatus"] or "not carried out"
        if self.client_gone and self.status is None:
            return "the client closed the connection before its answer" + ("" if rule is None else f", {rule['did']}")
        status = (
            "under way" if self.answered_s is None else "no answer" + ("" if withheld is None else f" ({withheld})")
        )
        if self.status is not None:
            status = str(self.status)
        if rule is None:
            return status
        did: str = rule["did"]
        return did if did.startswith(status) else f"{status}, {did}"

    def cut_bodies(self) -> None:
        """Keep only the beginnings of the bodies, because the journal shows no more."""
        for message in (self.request, self.answer):
            if message is not None:
                message.body = message.body[:BODY_BYTES_NOTED]

    def drop_texts(self) -> None:
        """Remove the long texts of an entry that the journal has dropped. Others may still refer to the entry and need
        its other members."""
        self.target = self.http_version = ""
        self.request = Message(())
        self.answer = None if self.answer is None else Message(())

    def described(self, secrets: Secrets) -> dict[str, Any]:
        """The entry as ``GET .../requests/{number}`` answers it, without tokens and secrets."""
        answer, connection = self.answer, None
        if self.connection is not None:
            age_s = None if self.opened_at is None else self.arrived_at - self.opened_at
            connection = {
                **dict(zip(("number", "request"), self.connection, strict=True)),
                "ageMs": _milliseconds(age_s),
            }
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
            "token": _token(self.token),
            "rule": _clean(self.rule, secrets),
            "correlationId": secrets.redacted(self.correlation_id),
            "connection": connection,
            "clientGone": self.client_gone,
            "projectTime": None if self.project_time is None else _moment(self.project_time),
            "repeats": self.repeats,
            "findings": [_clean(each.described(), secrets) for each in self.findings],
        }


def _moment(seconds: float) -> str:
    return text_of(datetime.fromtimestamp(seconds, UTC))


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 2)


def _described(message: Message, secrets: Secrets) -> dict[str, Any]:
    headers = [[secrets.redacted(name), secrets.redacted_header(name, value)] for name, value in message.pairs()]
    return {"headers": headers, "body": _body(message, secrets)}


def _body(message: Message, secrets: Secrets) -> dict[str, Any] | None:
    noted = message.body[:BODY_BYTES_NOTED]  # the whole body while the request is under way
    kept = noted[:BODY_BYTES_KEPT]
    is_cut = message.size is None or message.size > len(kept)
    if not kept and not is_cut:
        return None
    made: dict[str, Any] = {"size": message.size, **({"truncated": True} if is_cut else {})}
    try:
        # The end of a cut body may be a part of a character.
        text = _decoded(noted) if is_cut else noted.decode()
        length = len(_decoded(kept)) if is_cut else len(text)
    except UnicodeDecodeError:
        text, length = "", 0
    if (kept and not text) or "\0" in text:
        clean = secrets.redacted(noted.decode("latin-1"), len(kept)).encode("latin-1", "replace")
        return {**made, "base64": base64.b64encode(clean).decode()}
    return {**made, "text": secrets.redacted(text, length)}


def _decoded(part: bytes) -> str:
    return codecs.getincrementaldecoder("utf-8")().decode(part)


def _token(token: AccessToken | None) -> dict[str, Any] | None:
    """The description of a request's token, without the token itself."""
    if token is None:
        return None
    return {
        "sub": token.client_id,
        "scopes": sorted(token.scopes),
        "id": token.digest.hex()[:16],
        "expiresAt": _moment(token.expires_at),
    }


def _clean(value: Any, secrets: Secrets) -> Any:
    """A JSON value with the secrets removed from its texts. Names of rules and findings may contain secrets."""
    if isinstance(value, str):
        return secrets.redacted(value)
    if isinstance(value, Mapping):
        return {name: _clean(each, secrets) for name, each in value.items()}
    return [_clean(each, secrets) for each in value] if isinstance(value, list | tuple) else value
