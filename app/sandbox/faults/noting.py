"""Notes each request to a sandbox project: when it arrives, when its answer is decided, and when it ends."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from flask import Request, Response, g

from app.http.hangups import has_hung_up
from app.http.request_log import RequestRecord
from app.identity.verification import VerifiedToken
from app.sandbox.analysis.observer import Observer
from app.sandbox.connections import Connections
from app.sandbox.faults import requests
from app.sandbox.journal.entry import BODY_BYTES_NOTED, Entry, Message
from app.sandbox.journal.journal import Journal
from app.sandbox.projects.model import SandboxProject
from app.sandbox.rules.rules import Rule

_WITHOUT_BODY = (204, 304)


class Ordered(Protocol):
    """What was done to a request on order."""

    client_gone: bool

    @property
    def connection_rule(self) -> Rule | None:
        """The rule that spoils the connection."""
        ...

    def described(self) -> Mapping[str, Any] | None:
        """What an entry says of it."""
        ...


@dataclass(frozen=True, slots=True)
class Note:
    """A request in the journal in which it was begun."""

    entry: Entry
    journal: Journal
    observer: Observer
    connections: Connections

    def show(self, request: Request, ordered: Ordered | None, answer: Response) -> None:
        """Note an answer that is decided."""
        entry, record = self.entry, _record()
        requests.note_body(request, entry.request)
        rule = None if ordered is None else ordered.connection_rule
        if rule is None or not rule.leaves_no_answer:
            body = b"" if entry.method == "HEAD" or answer.status_code in _WITHOUT_BODY else answer.get_data()
            if rule is not None and rule.connection in ("truncate", "stall"):
                body = body[: len(body) // 2] if rule.connection == "truncate" else b""
            entry.status = answer.status_code
            entry.answer = Message(tuple(answer.headers), body[:BODY_BYTES_NOTED], len(body))
        entry.statements, entry.sql_s = record.sql.count, record.sql.seconds
        if ordered is not None:
            entry.rule = ordered.described()
            entry.client_gone |= ordered.client_gone

    def decide(self, request: Request, ordered: Ordered | None, answer: Response) -> None:
        """Note the answer that is going to be sent, and the end once it is sent."""
        entry, began, environ = self.entry, _record().started, request.environ
        self.show(request, ordered, answer)
        if not entry.client_gone:
            entry.client_gone = has_hung_up(environ.get("gunicorn.socket"))
        if entry.status is None or entry.status >= 400:
            # Now: once the answer is sent, a fast client may have reacted to it.
            entry.pending, entry.had_backlog = self.connections.pending(environ.get("gunicorn.socket"))
        entry.answered_s = time.perf_counter() - began

        def ended() -> None:
            entry.ended_s = time.perf_counter() - began
            if ordered is not None and ordered.client_gone:
                entry.client_gone = True
            if entry.answer is not None:
                # As they went over the wire: with what later hooks have added, and without what a 304 does not have.
                entry.answer.headers = tuple(answer.get_wsgi_headers(environ))
            self.observer.end(entry)
            self.journal.end(entry)

        answer.call_on_close(ended)


def begin(request: Request, project: SandboxProject, operation_id: str | None, connections: Connections) -> Note:
    """Note a request that has arrived."""
    record = _record()
    token: VerifiedToken | None = g.get("verified_token")
    client_id = None if token is None else token.principal.client_id
    if client_id is None and request.path == requests.TOKEN_PATH:
        client_id = project.client_id
    connection = connections.of(request.environ)
    entry = Entry(
        arrived_at=time.time() - (time.perf_counter() - record.started),
        client_id=client_id,
        operation=operation_id,
        method=request.method,
        target=requests.target_of(request),
        http_version=request.environ.get("SERVER_PROTOCOL", "HTTP/1.1"),
        request=requests.head_of(request, connection),
        token=token,
        connection=None if connection is None else (connection.number, connection.requests),
        opened_at=None if connection is None else connection.opened_at,
        client=request.environ.get("gunicorn.socket"),
        correlation_id=record.correlation_id,
        project_time=None if project.clock.is_real else project.clock.time(),
    )
    note = Note(entry, project.journal, project.observer, connections)
    note.journal.begin(entry)
    note.observer.begin(entry)
    return note


def _record() -> RequestRecord:
    return g.record
