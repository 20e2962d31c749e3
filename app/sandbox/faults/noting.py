"""Notes each request to a sandbox project: when it arrives, when its answer is decided, and when it ends."""

import time

from flask import Request, Response, g

from app.http.connections import Connections
from app.http.hangups import has_hung_up
from app.http.request_log import RequestRecord
from app.identity.verification import VerifiedToken
from app.sandbox.faults import requests
from app.sandbox.faults.decisions import Decision
from app.sandbox.journal.exchange import BODY_BYTES_NOTED, Exchange, HttpMessage
from app.sandbox.journal.journal import Journal
from app.sandbox.projects.model import SandboxProject


class Noter:
    """Makes the notes of one application."""

    def __init__(self, journal: Journal, connections: Connections) -> None:
        self._journal = journal
        self._connections = connections

    def begin(self, request: Request, project: SandboxProject, operation_id: str | None) -> Exchange:
        """Note a request that has arrived."""
        record: RequestRecord = g.record
        token: VerifiedToken | None = g.get("verified_token")
        client_id = None if token is None else token.principal.client_id
        if client_id is None and request.path == requests.TOKEN_PATH:
            client_id = project.client_id
        connection = self._connections.of(request.environ)
        exchange = Exchange(
            project_key=project.key,
            owner=project.client_id,
            run_id=project.run_id,
            secret_hash=project.secret_hash,
            arrived_at=time.time() - (time.perf_counter() - record.started),
            client_id=client_id,
            operation_id=operation_id,
            method=request.method,
            target=requests.target_of(request),
            http_version=request.environ.get("SERVER_PROTOCOL", "HTTP/1.1"),
            request=requests.head_of(request, connection),
            token=token,
            connection=None if connection is None else (connection.number, connection.requests),
            opened_at=None if connection is None else connection.opened_at,
            correlation_id=record.correlation_id,
            project_time=None if project.clock.is_real else project.clock.time(),
        )
        self._journal.begin(exchange, record.started)
        return exchange

    def show(self, request: Request, decision: Decision, answer: Response) -> None:
        """Note an answer that is decided and has to wait before it is sent."""
        _note_answer(request, decision.exchange, decision, answer)
        self._journal.change(decision.exchange)

    def decide(self, request: Request, exchange: Exchange, decision: Decision | None, answer: Response) -> None:
        """Note the answer that is going to be sent, and the end once it is sent."""
        record: RequestRecord = g.record
        _note_answer(request, exchange, decision, answer)
        if not exchange.client_gone:
            exchange.client_gone = has_hung_up(request.environ.get("gunicorn.socket"))
        began, journal = record.started, self._journal
        exchange.answered_s = time.perf_counter() - began
        journal.change(exchange)

        def ended() -> None:
            exchange.ended_s = time.perf_counter() - began
            if decision is not None and decision.client_gone:
                exchange.client_gone = True
            if exchange.answer is not None:
                exchange.answer.headers = tuple(answer.headers)  # with what later hooks have added
            journal.end(exchange)

        answer.call_on_close(ended)


def _note_answer(request: Request, exchange: Exchange, decision: Decision | None, answer: Response) -> None:
    record: RequestRecord = g.record
    requests.note_body(request, exchange.request)
    rule = None if decision is None else decision.connection_rule
    if rule is None or not rule.leaves_no_answer:
        body = answer.get_data()
        exchange.status = answer.status_code
        exchange.answer = HttpMessage(tuple(answer.headers), body[:BODY_BYTES_NOTED], len(body))
    exchange.statements, exchange.sql_s = record.sql.count, record.sql.seconds
    if decision is not None:
        exchange.rule = decision.described()
        exchange.client_gone = decision.client_gone
