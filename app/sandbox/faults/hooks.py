"""What the sandbox does before and after the view of a request: rules carried out, and the request noted.

:meth:`Hooks.before` is the last hook before a view, behind the gate: who has no right to a request gets the answer of
any other project. :meth:`Hooks.after` is the first hook after it, so that the request log shows the answer as it is
sent. Neither does anything for a project that the sandbox has not made.
"""

import random
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from flask import Flask, Request, Response, current_app, g, request
from gunicorn.http.errors import ParseException

from app import errors
from app.database.pool import Database
from app.http.bodies import read_body
from app.http.connections import ConnectionRecord, Connections, TooManyWaits
from app.http.hangups import has_hung_up
from app.http.request_log import RequestRecord, add_log_fields
from app.identity.gate import find_view
from app.identity.server import read_credentials, read_parameters
from app.identity.verification import Principal, VerifiedToken
from app.openapi.marks import operation_of
from app.sandbox.faults import answers
from app.sandbox.faults.preferences import NO_PREFERENCES, Preferences, read_preferences
from app.sandbox.journal.journal import BODY_BYTES_KEPT, BODY_BYTES_NOTED, Exchange, HttpMessage, Journal
from app.sandbox.projects import fence
from app.sandbox.projects.lifecycle import Projects
from app.sandbox.projects.model import SandboxProject
from app.sandbox.projects.registry import Registry
from app.sandbox.rules import counting
from app.sandbox.rules.rules import Rule
from app.telemetry.metrics import metrics
from app.values import strict_json

TOKEN_PATH = "/oauth/token"  # noqa: S105 -- a path

RULE_HEADER = "X-Sandbox-Rule"


_LONG_SENT_S = 0.15
"""An answer that takes longer to be sent stands in the journal by its end: entries that were read keep their places."""


@dataclass(slots=True)
class Decision:
    """What the sandbox does to the current request; ``g.sandbox`` has it once :meth:`Hooks.before` has decided."""

    preferences: Preferences = NO_PREFERENCES
    rule: Rule | None = None
    """The rule that acts."""
    operation_id: str | None = None
    is_carried_out: bool = True
    """Whether the request reached its view."""
    replaced_status: int | None = None
    """The status that the answer had before the rule changed it."""
    waited: list[float] = field(default_factory=list[float])


class Hooks:
    """The hooks of one application."""

    def __init__(
        self,
        app: Flask,
        database: Database,
        registry: Registry,
        projects: Projects,
        journal: Journal,
        connections: Connections,
    ) -> None:
        self._operation_of = cache(partial(_find_operation, app))
        self._database = database
        self._registry = registry
        self._projects = projects
        self._journal = journal
        self._connections = connections

    # Before the view

    def before(self, request: Request) -> Response | None:
        """Carry out what the request itself or a rule orders; an answer ends the request here.

        :raises ApiError: 503 if too many requests of the process wait already, 401 if the project is removed meanwhile.
        """
        arguments = request.view_args
        if not arguments or "project_key" not in arguments:
            return None
        project = self._registry.find(arguments["project_key"])
        principal: Principal | None = g.get("principal")
        if principal is not None and self._registry.is_removed(principal.client_id):
            raise fence.removed(arguments["project_key"])  # since the gate has looked
        if project is None:
            return None
        fence.pin(project)
        operation_id, own_codes = self._operation(request)
        header = request.headers.get("Prefer")
        decision = g.sandbox = Decision(read_preferences(header, own_codes), operation_id=operation_id)
        if decision.preferences.delay_ms:
            self._wait(project, decision, decision.preferences.delay_ms / 1000)
        if decision.preferences.code is not None:
            decision.is_carried_out = False
            return answers.error_answer(
                decision.preferences.code, current_version=_version_sent(request), realm=project.key
            )
        return self._obey(project, decision, operation_id) if project.rules else None

    def _obey(self, project: SandboxProject, decision: Decision, operation_id: str | None) -> Response | None:
        path = _path_below(_target(request))
        principal: Principal | None = g.get("principal")
        client_id = None if principal is None else principal.client_id
        for rule in project.rules:
            if not rule.matches(operation_id, request.method, path, client_id):
                continue
            retry_after_s = self._due(project, rule)
            if retry_after_s is None:
                continue
            decision.rule = rule
            if rule.phase == "after":
                return None
            if rule.waits_first:
                self._wait_as_ruled(project, decision, rule)
            if not rule.answers_itself:
                return None
            decision.is_carried_out = False
            return self._own_answer(project, rule, retry_after_s)
        return None

    def _due(self, project: SandboxProject, rule: Rule) -> float | None:
        """Count a match: None if the rule does not act, else the seconds after which its limit lets requests pass."""
        with self._database.writing(project.key) as connection:
            if rule.limit is not None:
                return counting.count_limited(
                    connection, project.key, project.rules_generation, rule, rule.limit, time.time()
                )
            is_due = counting.count_match(connection, project.key, project.rules_generation, rule)
        return 0.0 if is_due else None

    def _own_answer(self, project: SandboxProject, rule: Rule, retry_after_s: float) -> Response:
        if rule.expire_tokens:
            self._projects.expire_tokens(project.key)
            return answers.expired_token_answer(project.key)
        if rule.limit is not None:
            message = rule.message or f"More than {rule.limit.requests} requests in {rule.limit.per_seconds:g} s."
            return answers.error_answer(429, message=message, retry_after_s=max(1, -int(-retry_after_s // 1)))
        return self._ruled_answer(project, rule)

    def _ruled_answer(self, project: SandboxProject, rule: Rule) -> Response:
        return answers.error_answer(
            rule.status or (502 if rule.body == "html" else 503),
            code=rule.code,
            message=rule.message,
            retry_after_s=rule.retry_after,
            current_version=_version_sent(request),
            realm=project.key,
        )

    def _wait_as_ruled(self, project: SandboxProject, decision: Decision, rule: Rule) -> None:
        jitter_ms = random.uniform(0, rule.jitter_ms) if rule.jitter_ms else 0.0  # noqa: S311 -- no secret
        if rule.delay_ms or jitter_ms:
            self._wait(project, decision, ((rule.delay_ms or 0) + jitter_ms) / 1000)

    def _wait(self, project: SandboxProject, decision: Decision, seconds: float) -> None:
        """Wait, but not for a project that is removed meanwhile."""
        began = time.monotonic()
        try:
            self._connections.wait(seconds, lambda: self._registry.is_removed(project.client_id))
        except TooManyWaits:
            raise errors.over_capacity("Too many requests of the sandbox wait already.") from None
        decision.waited.append(time.monotonic() - began)
        if self._registry.is_removed(project.client_id):
            raise fence.removed(project.key)

    # After the view

    def after(self, request: Request, answer: Response) -> Response:
        """Change the answer as the rule says, and note the request."""
        project = self._project_of(request)
        if project is None:
            return answer
        decision: Decision | None = g.get("sandbox")
        connection = self._connections.of(request.environ)
        if decision is not None:
            answer = self._changed(project, decision, answer, connection)
        self._note(request, project, decision, answer, connection)
        return answer

    def _changed(
        self, project: SandboxProject, decision: Decision, answer: Response, connection: ConnectionRecord | None
    ) -> Response:
        rule = decision.rule
        if decision.preferences.applied:
            answer.headers["Preference-Applied"] = ", ".join(
                [*answer.headers.getlist("Preference-Applied"), decision.preferences.applied]
            )
            metrics.sandbox_orders.labels("prefer").inc()
        if rule is None:
            return answer
        decision.replaced_status = answer.status_code if decision.is_carried_out else None
        if rule.phase == "after":
            with suppress(errors.ApiError):
                if rule.waits_first:
                    self._wait_as_ruled(project, decision, rule)
            if rule.status is not None or rule.body == "html":
                answer = self._ruled_answer(project, rule)
        if rule.body is not None:
            answer = answers.with_altered_body(answer, rule.body)
        answer.headers[RULE_HEADER] = rule.label
        if rule.connection is not None:
            answer = answers.with_failing_connection(answer, rule, connection, self._cut_wait)
        add_log_fields(sandbox_rule=rule.label)
        for kind in rule.kinds:
            metrics.sandbox_orders.labels(kind).inc()
        return answer

    def _cut_wait(self, seconds: float) -> bool:
        try:
            return self._connections.wait(seconds)
        except TooManyWaits:
            return False

    def _project_of(self, request: Request) -> SandboxProject | None:
        """The sandbox project that a request belongs to, by its path, or by its client at the token endpoint."""
        pinned = fence.pinned_project()
        if pinned is not None:
            return pinned
        path: str = request.environ["PATH_INFO"]
        if path == TOKEN_PATH:
            client_id = _client_of_form(request)
            return None if client_id is None else self._registry.find_by_client(client_id)
        arguments = request.view_args
        key = arguments.get("project_key") if arguments else None
        if key is None and request.url_rule is None:
            key = path.lstrip("/").partition("/")[0]
        if not key:
            return None
        with suppress(errors.ApiError):  # the database is away, and so is the journal
            return self._registry.find(key)
        return None

    def _operation(self, request: Request) -> tuple[str | None, frozenset[int]]:
        """The operation of a request, and the statuses that a client may choose from with ``Prefer``."""
        rule = request.url_rule
        if rule is None:
            return None, frozenset()
        return self._operation_of(rule.endpoint, request.method)

    def _note(
        self,
        request: Request,
        project: SandboxProject,
        decision: Decision | None,
        answer: Response,
        connection: ConnectionRecord | None,
    ) -> None:
        """Note the request once its answer is sent."""
        record: RequestRecord = g.record
        now, clock = time.time(), time.perf_counter()
        operation_id = self._operation(request)[0] if decision is None else decision.operation_id
        token: VerifiedToken | None = g.get("verified_token")
        client_id = None if token is None else token.principal.client_id
        if client_id is None and request.path == TOKEN_PATH:
            client_id = project.client_id
        rule = None if decision is None else decision.rule
        is_lost = rule is not None and rule.leaves_no_answer
        body = answer.get_data()
        exchange = Exchange(
            project_key=project.key,
            owner=project.client_id,
            secret_hash=project.secret_hash,
            started_at=now - (clock - record.started),
            ended_at=now,
            duration_s=0.0,
            client_id=client_id,
            operation_id=operation_id,
            method=request.method,
            target=_target(request),
            http_version=request.environ.get("SERVER_PROTOCOL", "HTTP/1.1"),
            request=_request_message(request, connection),
            status=None if is_lost else answer.status_code,
            answer=None if is_lost else HttpMessage((), body[:BODY_BYTES_NOTED], len(body)),
            correlation_id=record.correlation_id,
            statements=record.sql.count,
            sql_s=record.sql.seconds,
            token=token,
            rule=_rule_member(decision),
            connection=None if connection is None else (connection.number, connection.requests),
            client_gone=has_hung_up(request.environ.get("gunicorn.socket")),
            project_time=None if project.clock.is_real else project.clock.time(),
        )
        began, journal = record.started, self._journal

        def sent() -> None:
            ended = time.perf_counter()
            exchange.duration_s = ended - began
            if ended - clock > _LONG_SENT_S:
                exchange.ended_at = time.time()
            if exchange.answer is not None:
                exchange.answer.headers = tuple(answer.headers)  # with what later hooks have added
            journal.note(exchange)

        answer.call_on_close(sent)


def _find_operation(app: Flask, endpoint: str, method: str) -> tuple[str | None, frozenset[int]]:
    described = operation_of(find_view(app, endpoint, method))
    if described is None:
        return None, frozenset()
    chosen = frozenset(answer.status for answer in described.answers)
    return described.id, chosen if "Prefer" in described.headers else frozenset()


def _rule_member(decision: Decision | None) -> Mapping[str, Any] | None:
    """What an entry says of the orders that were carried out."""
    if decision is None or (decision.rule is None and not decision.preferences.applied):
        return None
    rule = decision.rule
    return {
        "name": None if rule is None else rule.name,
        "number": None if rule is None else rule.number,
        "prefer": decision.preferences.applied or None,
        "does": ["prefer"] if rule is None else list(rule.kinds),
        "phase": None if rule is None else rule.phase,
        "carriedOut": decision.is_carried_out,
        "replacedStatus": decision.replaced_status,
        "waitedMs": round(sum(decision.waited) * 1000),
    }


def _target(request: Request) -> str:
    """The target as it was sent."""
    environ = request.environ
    return environ.get("RAW_URI") or environ.get("REQUEST_URI") or request.full_path


def _path_below(target: str) -> str:
    """The raw path behind the project, with its slash."""
    # An absolute target may be anything behind its scheme, such as half of an IPv6 address.
    path = target if target.startswith("/") else "/" + target.partition("://")[2].partition("/")[2]
    path = path.partition("?")[0].partition("#")[0]
    return "/" + path[1:].partition("/")[2]


def _request_message(request: Request, connection: ConnectionRecord | None) -> HttpMessage:
    headers = tuple(request.headers) if connection is None or not connection.head else connection.head
    body, size = b"", 0
    if request.content_length or "Transfer-Encoding" in request.headers:
        try:
            body = read_body(request, current_app.config["MAX_CONTENT_LENGTH"])
            body, size = body[:BODY_BYTES_NOTED], len(body)
        except (errors.ApiError, ParseException, OSError):
            size = None
    return HttpMessage(headers, body, size)


def _version_sent(request: Request) -> int | None:
    """The version in the body of a request, if there is one."""
    with suppress(errors.ApiError, strict_json.InvalidJson, ParseException, OSError):
        body = strict_json.decode(read_body(request, BODY_BYTES_KEPT) or b"null")
        if isinstance(body, dict) and isinstance(body.get("version"), int):
            return body["version"]
    return None


def _client_of_form(request: Request) -> str | None:
    """The client that a token request names."""
    with suppress(errors.ApiError, ParseException, OSError):
        return read_credentials(request.headers.get("Authorization"), read_parameters(request)).client_id
    return None
