"""What the sandbox does to a request, and what it notes of it: its arrival, the answer that is decided, and its end."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flask import Request, Response, g

from app.http.hangups import has_hung_up
from app.http.request_log import RequestRecord
from app.identity.verification import VerifiedToken
from app.sandbox.analysis.observer import Observer
from app.sandbox.connections import Connections
from app.sandbox.faults import requests
from app.sandbox.faults.preferences import NO_PREFERENCES, Preferences
from app.sandbox.journal.entry import BODY_BYTES_NOTED, Entry, Message
from app.sandbox.journal.journal import Journal
from app.sandbox.projects.model import SandboxProject
from app.sandbox.rules.rules import Rule

_WITHOUT_BODY = (204, 304)


@dataclass(frozen=True, slots=True)
class Note:
    """A request in the journal in which it was begun."""

    entry: Entry
    journal: Journal
    observer: Observer
    connections: Connections

    def show(self, request: Request, ordered: "Decision | None", answer: Response) -> None:
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

    def decide(self, request: Request, ordered: "Decision | None", answer: Response) -> None:
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
                # As they went over the wire: with what later hooks have added. Werkzeug changes those without a body.
                is_final = entry.status not in _WITHOUT_BODY and "Content-Length" in answer.headers
                entry.answer.headers = tuple(answer.headers if is_final else answer.get_wsgi_headers(environ))
            self.observer.end(entry)
            self.journal.end(entry)

        answer.call_on_close(ended)


@dataclass(slots=True)
class Decision:
    """What is done to the current request; ``g.sandbox`` has it from :meth:`Hooks.before` on."""

    project: SandboxProject
    note: Note
    client: Any = None
    """The socket of the client; None without a worker."""
    preferences: Preferences = NO_PREFERENCES
    acting: list[Rule] = field(default_factory=list[Rule])
    """The rules that act, in their order."""
    is_carried_out: bool = True
    """Whether the request reached its view."""
    replaced_status: int | None = None
    """The status that the answer had before a rule changed it."""
    waited_s: float = 0.0
    client_gone: bool = False
    """Whether the client closed its connection while the answer waited."""

    @property
    def connection_rule(self) -> Rule | None:
        """The rule that spoils the connection."""
        return next((rule for rule in self.acting if rule.connection is not None), None)

    @property
    def label(self) -> str:
        """What answers and logs say of the rules that act."""
        return ", ".join(rule.label for rule in self.acting)

    @property
    def kinds(self) -> list[str]:
        """What is done, each once, in words of :data:`app.sandbox.rules.rules.KINDS`."""
        kinds = [kind for rule in self.acting for kind in rule.kinds]
        return list(dict.fromkeys([*(["prefer"] if self.preferences.applied else []), *kinds]))

    def described(self) -> Mapping[str, Any] | None:
        """What an entry says of the orders that were carried out; its name and number are those of the last rule."""
        if not self.acting and not self.preferences.applied:
            return None
        rule = self.acting[-1] if self.acting else None
        return {
            "name": None if rule is None else rule.name,
            "number": None if rule is None else rule.number,
            "all": [{"name": each.name, "number": each.number} for each in self.acting],
            "prefer": self.preferences.applied or None,
            "does": self.kinds,
            "phase": None if rule is None else rule.phase,
            "carriedOut": self.is_carried_out,
            "replacedStatus": self.replaced_status,
            "waitedMs": round(self.waited_s * 1000),
        }


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
