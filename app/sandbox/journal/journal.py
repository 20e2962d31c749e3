"""The journal of a worker: requests are noted in memory and written a moment later, many at a time.

Only a reference to what is known anyway is kept while a request is answered. Its entry is made when it is written, five
times a second, and at once when somebody asks for the journal.
"""

import base64
import codecs
import itertools
import logging
import secrets as secrets_module
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache, partial
from json import dumps
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

import psycopg

from app.database.connection import Connection
from app.identity.verification import VerifiedToken
from app.sandbox.journal import store as journal_store
from app.sandbox.journal.redaction import Secrets, redacted, redacted_header
from app.sandbox.journal.store import BYTES_KEPT, KEPT, UNREADABLE, Row
from app.telemetry.lasting_threads import keep_running
from app.values.large_values import LARGE_FROM, beside_other_requests
from app.values.timestamps import text_of

BODY_BYTES_KEPT = 64 * 1024
FLUSH_INTERVAL_S = 0.2

BODY_BYTES_NOTED = BODY_BYTES_KEPT + 4096
"""With what follows, so that a secret is seen whole that the end of the kept part cuts in two."""

_FORGOTTEN_AFTER = 250
_FORGOTTEN_AFTER_BYTES = 4 * 1024 * 1024
"""Entries of a project that a worker adds before it deletes those that are not kept any more."""

_WRITTEN_AT_ONCE = 1024 * 1024
"""Characters of the entries that one statement writes."""

_log = logging.getLogger("app.sandbox")

Headers = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class HttpMessage:
    """A request or an answer, as it went over the wire.

    :param headers: pairs, or lines as they were sent.
    """

    headers: Headers | bytes
    body: bytes
    size: int | None
    """Bytes of the whole body; None if it was not read to its end."""


@dataclass(slots=True)
class Exchange:
    """A request to a sandbox project with its answer."""

    project_key: str
    owner: str
    """The project's client, which tells it from a later project with the same key."""
    secret_hash: bytes
    started_at: float
    ended_at: float
    """When the answer began to be sent, or, if that took long, when it was done."""
    duration_s: float
    client_id: str | None
    operation_id: str | None
    method: str
    target: str
    http_version: str
    request: HttpMessage
    status: int | None
    """None: there was no answer."""
    answer: HttpMessage | None
    """None: there was none."""
    correlation_id: str
    statements: int
    sql_s: float
    token: VerifiedToken | None
    rule: Mapping[str, Any] | None
    connection: tuple[int, int] | None
    """The number of the connection, and that of the request on it."""
    client_gone: bool
    project_time: float | None
    """The time of the project's clock; None if it shows real time."""

    @property
    def bytes(self) -> int:
        """About as many as it keeps in memory."""
        return len(self.request.body) + (0 if self.answer is None else len(self.answer.body)) + 1024


@dataclass(slots=True)
class _Noted:
    """What is noted of one project and not written yet."""

    exchanges: deque[Exchange] = field(default_factory=deque[Exchange])
    bytes: int = 0
    count: int = 0
    """Of all requests, also those that are not kept."""

    def add(self, exchange: Exchange) -> None:
        """Note a request, and drop the oldest ones if the journal would not keep them anyway."""
        self.exchanges.append(exchange)
        self.bytes += exchange.bytes
        self.count += 1
        while len(self.exchanges) > KEPT or (self.bytes > BYTES_KEPT and len(self.exchanges) > 1):
            self.bytes -= self.exchanges.popleft().bytes


_Owner = tuple[str, str]
"""A project and its client."""


class Journal:
    """What this worker has to write, on a connection of its own: it waits for no request.

    :param connect: opens the connection.
    :param keep: whether a project with this key and client is there; if so, it stays until the transaction ends.
    :param secrets: that no entry may have, whoever sends them.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        keep: Callable[[Connection, str, str], bool],
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._connect = connect
        self._keep = keep
        self._connection: Connection | None = None
        self._secrets = secrets
        self._noted: dict[_Owner, _Noted] = {}
        self._added: dict[_Owner, tuple[int, int]] = {}
        """Entries and bytes since those were deleted that are not kept."""
        self._something = threading.Event()
        self._flushing = threading.Lock()
        self._stopped = threading.Event()

    def note(self, exchange: Exchange) -> None:
        """Note a request that was answered. Of one project as much is kept as the journal keeps."""
        owner = exchange.project_key, exchange.owner
        noted = self._noted.get(owner)
        if noted is None:
            noted = self._noted[owner] = _Noted()
        noted.add(exchange)
        if not self._something.is_set():
            self._something.set()

    def start(self) -> None:
        """Write what is noted, from now on, five times a second."""
        keep_running("sandbox-journal", self._run)

    def stop(self) -> None:
        """Write what is left, and end."""
        self._stopped.set()
        self._something.set()
        self.flush()
        with self._flushing:
            if self._connection is not None:
                self._connection.close()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._something.wait()
            self._stopped.wait(FLUSH_INTERVAL_S)
            self.flush()

    def flush(self, project_key: str | None = None) -> None:
        """Write what is noted, of one project or of all. What cannot be written is lost, and the log says so."""
        with self._flushing:  # also for nothing: what another flush has taken is not written yet
            if project_key is None:
                self._something.clear()
            for owner in [each for each in list(self._noted) if project_key in (None, each[0])]:
                noted = self._noted.pop(owner, None)
                if noted is not None:
                    self._write(owner, noted)

    def _write(self, owner: _Owner, noted: _Noted) -> None:
        """Write some entries at a time, so that no statement is large."""
        left = noted.exchanges
        uncounted = noted.count - len(left)
        while left:
            rows: list[Row] = []
            size = 0
            while left and size < _WRITTEN_AT_ONCE:
                rows.append(_made(left.popleft(), self._secrets))
                size += len(rows[-1].entry)
            self._write_rows(owner, rows, len(rows) + uncounted, size)
            uncounted = 0

    def _write_rows(self, owner: _Owner, rows: list[Row], count: int, size: int) -> None:
        project_key, client_id = owner
        try:
            connection = self._connection
            if connection is None or connection.closed:
                connection = self._connection = self._connect()
            with connection.transaction():
                if not self._keep(connection, project_key, client_id):
                    return  # the project is being removed
                journal_store.add(connection, project_key, rows, count)
            entries, added = self._added.pop(owner, (0, 0))
            if entries + len(rows) >= _FORGOTTEN_AFTER or added + size >= _FORGOTTEN_AFTER_BYTES:
                journal_store.forget(connection, project_key)
            else:
                self._added[owner] = entries + len(rows), added + size
        except psycopg.Error as error:
            fields = {"project": project_key, "entries": len(rows), "reason": str(error).strip()}
            _log.warning("entries of the journal are lost", extra={"fields": fields})


# Entries


def _made(exchange: Exchange, secrets: tuple[str, ...]) -> Row:
    """The entry of a request. If it cannot be made, the log says why, and the entry says that there was a request."""
    try:
        if exchange.bytes > LARGE_FROM:
            return beside_other_requests(partial(row_of, exchange, secrets))
        return row_of(exchange, secrets)
    except Exception:  # noqa: BLE001 -- whatever it is, the other entries are to be written
        _log.exception("an entry of the journal could not be made", extra={"fields": {"project": exchange.project_key}})
        return Row(
            round(exchange.ended_at * 1e6), next(_places), exchange.status, exchange.operation_id, "", UNREADABLE
        )


def row_of(exchange: Exchange, secrets: tuple[str, ...]) -> Row:
    """The entry of a request, without tokens and secrets. Strings and headers are put together by hand: it is made for
    each request, and a general encoder takes three times as long."""
    started_at = datetime.fromtimestamp(exchange.started_at, UTC)
    known = Secrets(exchange.secret_hash, secrets)
    answer = "null"
    if exchange.answer is not None:
        answer = f'{{"status":{exchange.status},{_message(exchange.answer, known)}}}'
    sql = f'{{"statements":{exchange.statements},"milliseconds":{exchange.sql_s * 1000:.2f}}}'
    connection = "null"
    if exchange.connection is not None:
        connection = f'{{"number":{exchange.connection[0]},"request":{exchange.connection[1]}}}'
    entry = (
        f'"startedAt":"{text_of(started_at)}","durationMs":{exchange.duration_s * 1000:.2f},'
        f'"clientId":{_optional(exchange.client_id)},"operationId":{_optional(exchange.operation_id)},'
        f'"request":{{"method":{quoted(redacted(exchange.method, known))},'
        f'"target":{quoted(redacted(exchange.target, known))},'
        f'"httpVersion":{quoted(exchange.http_version)},{_message(exchange.request, known)}}},'
        f'"response":{answer},"token":{_token(exchange.token)},"rule":{_object(exchange.rule)},'
        f'"sql":{sql},"correlationId":{quoted(redacted(exchange.correlation_id, known))},"connection":{connection},'
        f'"clientGone":{"true" if exchange.client_gone else "false"},"projectTime":{_moment(exchange.project_time)}}}'
    )
    return Row(
        round(exchange.ended_at * 1e6),
        next(_places),
        exchange.status,
        exchange.operation_id,
        exchange.method,
        "{" + entry,
    )


_places = itertools.count(secrets_module.randbits(40) << 20)
"""Rising in a process, and different from those of others."""


def _message(message: HttpMessage, known: Secrets) -> str:
    headers = message.headers
    if isinstance(headers, bytes):
        text = _lines(headers, known)
    else:
        text = ",".join([_header(name, value, known) for name, value in headers])
    return f'"headers":[{text}],"body":{_body(message, known)}'


@lru_cache(maxsize=512)
def _lines(head: bytes, known: Secrets) -> str:
    """Header lines as JSON. Most requests of a client have the same ones, so they are kept."""
    pairs = (line.partition(":") for line in head.decode("latin-1").split("\r\n") if line)
    return ",".join([_header(name, value.strip(" \t"), known) for name, _, value in pairs])


@lru_cache(maxsize=4096)
def _header(name: str, value: str, known: Secrets) -> str:
    """A header as JSON."""
    return f"[{quoted(redacted(name, known))},{quoted(redacted_header(name, value, known))}]"


def _body(message: HttpMessage, known: Secrets) -> str:
    noted = message.body
    kept = noted[:BODY_BYTES_KEPT]
    size = "null" if message.size is None else str(message.size)
    is_cut = message.size is None or message.size > len(kept)
    cut = ',"truncated":true' if is_cut else ""
    if not kept and not is_cut:
        return "null"
    try:
        # Of a body that was cut, the last character may have been cut in two.
        text = _decoded(noted) if is_cut else noted.decode()
        length = len(_decoded(kept)) if is_cut else len(text)
    except UnicodeDecodeError:
        text, length = "", 0
    if (kept and not text) or "\0" in text:
        # No text. What looks like a secret is left out before it is encoded.
        clean = redacted(noted.decode("latin-1"), known, len(kept)).encode("latin-1", "replace")
        return f'{{"size":{size},"base64":"{base64.b64encode(clean).decode()}"{cut}}}'
    return f'{{"size":{size},"text":{quoted(redacted(text, known, length))}{cut}}}'


def _decoded(part: bytes) -> str:
    return codecs.getincrementaldecoder("utf-8")().decode(part)


@lru_cache(maxsize=256)
def _token(token: VerifiedToken | None) -> str:
    """What the token of a request says, without the token. Most requests of a client have the same one."""
    if token is None:
        return "null"
    expires_at = datetime.fromtimestamp(token.expires_at, UTC)
    return dumps(
        {
            "sub": token.principal.client_id,
            "scopes": sorted(token.principal.scopes),
            "id": token.token_id,
            "expiresAt": text_of(expires_at),
        }
    )


def _optional(text: str | None) -> str:
    return "null" if text is None else quoted(text)


def _object(value: Mapping[str, Any] | None) -> str:
    return "null" if value is None else dumps(value)


def _moment(seconds: float | None) -> str:
    return "null" if seconds is None else f'"{text_of(datetime.fromtimestamp(seconds, UTC))}"'
