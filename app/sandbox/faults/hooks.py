"""What the sandbox does before and after the view of a request: rules carried out, and the request noted.

:meth:`Hooks.before` is the last hook before a view, behind the gate: who has no right to a request gets the answer of
any other project. :meth:`Hooks.after` is the first hook after it, so that the request log shows the answer as it is
sent. Neither does anything for a project that the sandbox has not made.
"""

import hmac
import random
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial

from flask import Flask, Request, Response, g

from app import errors
from app.database.pool import Database
from app.http.error_answers import error_answered
from app.http.request_log import add_log_fields
from app.identity.clients import hash_secret
from app.identity.gate import find_view
from app.identity.verification import Principal
from app.openapi.marks import operation_of
from app.sandbox.analysis.refusals import with_clauses
from app.sandbox.connections import ConnectionRecord, Connections, TooManyWaits, Waited
from app.sandbox.faults import answers, conflicts, noting, requests
from app.sandbox.faults.noting import Decision
from app.sandbox.faults.preferences import read_preferences
from app.sandbox.projects.described import removed
from app.sandbox.projects.lifecycle import Projects
from app.sandbox.projects.model import SandboxProject
from app.sandbox.projects.world import ProjectWorld
from app.sandbox.rules.rules import Rule

RULE_HEADER = "X-Sandbox-Rule"


class Hooks:
    """The hooks of one application.

    :param count_order: counts what is done on order, by a word of :data:`app.sandbox.rules.rules.KINDS`.
    """

    def __init__(
        self,
        app: Flask,
        database: Database,
        projects: Projects,
        connections: Connections,
        count_order: Callable[[str], object],
    ) -> None:
        self._operation_of = cache(partial(_find_operation, app))
        self._database = database
        self._registry = projects.registry
        self._projects = projects
        self._connections = connections
        self._count_order = count_order

    # Before the view

    def before(self, request: Request) -> Response | None:
        """Carry out what the request itself or a rule orders; an answer ends the request here.

        :raises ApiError: 503 if too many requests of the process wait already, 401 if the project is removed meanwhile.
        """
        project = self._project_before(request)
        if project is None:
            return None
        operation_id, own_codes = self._operation(request)
        note = noting.begin(request, project, operation_id, self._connections)
        decision = g.sandbox = Decision(project, note, request.environ.get("gunicorn.socket"))
        if request.path != requests.TOKEN_PATH:
            decision.preferences = read_preferences(request.headers.get("Prefer"), own_codes)
            if decision.preferences.delay_ms and not self._wait(decision, decision.preferences.delay_ms / 1000):
                return self._gone(decision)
            if decision.preferences.code is not None:
                decision.is_carried_out = False
                return self._error(decision, request, decision.preferences.code)
        return self._obey(decision, request) if project.rules else None

    def _project_before(self, request: Request) -> SandboxProject | None:
        """The sandbox project of a request that has the right to what it asks."""
        arguments = request.view_args
        if not arguments or "project_key" not in arguments:
            return self._project_of_grant(request) if request.path == requests.TOKEN_PATH else None
        project = self._registry.find(arguments["project_key"])
        principal: Principal | None = g.get("principal")
        if principal is not None and self._registry.is_removed(principal.client_id):
            raise removed(arguments["project_key"])  # since the gate has looked
        return project

    def _project_of_grant(self, request: Request) -> SandboxProject | None:
        """The project whose client asks for a token, and shows its secret."""
        credentials = requests.credentials_of(request)
        project = None if credentials is None else self._registry.find_by_client(credentials.client_id)
        if credentials is None or project is None or project.is_removed:
            return None
        if not hmac.compare_digest(hash_secret(credentials.secret), project.secret_hash):
            return None
        project.journal.secrets.add(credentials.secret)
        return project

    def _obey(self, decision: Decision, request: Request) -> Response | None:
        """Let the rules act that match and are due, in their order, until one gives an answer."""
        entry = decision.note.entry
        sent = requests.sent_of(entry, partial(requests.read_whole, request))
        project = decision.project
        for counted in project.rules:
            rule = counted.rule
            if rule.connection is not None and decision.connection_rule is not None:
                continue  # there is one connection
            if not rule.matches(sent):
                continue
            if rule.conflict and not conflicts.expects_version(request, sent.operation_id):
                continue
            retry_after_s = counted.count()
            if retry_after_s is None:
                continue
            decision.acting.append(rule)
            if rule.conflict:
                world = ProjectWorld.of(project)
                conflicts.write_before(self._database, world, project.key, request, sent.operation_id or "")
            if rule.phase == "after":
                if rule.answers_itself:
                    return None
                continue
            if rule.waits_first and not self._wait_as_ruled(decision, rule):
                return self._gone(decision)
            if rule.answers_itself:
                decision.is_carried_out = False
                return self._own_answer(decision, request, rule, retry_after_s)
        return None

    def _own_answer(self, decision: Decision, request: Request, rule: Rule, retry_after_s: float) -> Response:
        if rule.expire_tokens:
            self._projects.expire_tokens(decision.project)
            return answers.expired_token_answer(decision.project.key)
        if rule.limit is not None:
            message = rule.message or f"More than {rule.limit.requests} requests in {rule.limit.per_seconds:g} s."
            seconds = max(1, -int(-retry_after_s // 1))
            return answers.error_answer(429, message=message, retry_after_s=seconds)
        return self._ruled_answer(decision, request, rule)

    def _ruled_answer(self, decision: Decision, request: Request, rule: Rule) -> Response:
        if rule.own_body is not None or (rule.status or 400) < 400:
            return answers.own_answer(rule.status or 200, rule.own_body, rule.retry_after)
        status = rule.status or (502 if rule.body == "html" else 503)
        return self._error(decision, request, status, rule)

    def _error(self, decision: Decision, request: Request, status: int, rule: Rule | None = None) -> Response:
        sent = requests.version_sent(request) if status == 409 else None
        return answers.error_answer(
            status,
            code=None if rule is None else rule.code,
            message=None if rule is None else rule.message,
            retry_after_s=None if rule is None else rule.retry_after,
            # Above the one that was sent, as a conflict has it, although nobody has written.
            current_version=None if sent is None else int(sent) + 1,
            realm=decision.project.key,
            is_oauth=request.path == requests.TOKEN_PATH,
        )

    @staticmethod
    def _gone(decision: Decision) -> Response:
        """What nobody reads: the client has closed its connection before the request was carried out."""
        decision.is_carried_out = False
        return answers.error_answer(503, message="The client has closed the connection.")

    def _wait_as_ruled(self, decision: Decision, rule: Rule) -> bool:
        jitter_ms = random.uniform(0, rule.jitter_ms) if rule.jitter_ms else 0.0  # noqa: S311 -- no secret
        delay_ms = (rule.delay_ms or 0) + jitter_ms
        return not delay_ms or self._wait(decision, delay_ms / 1000)

    def _wait(self, decision: Decision, seconds: float) -> bool:
        """Wait, but not for a project that is removed meanwhile; False if the client has gone."""
        began = time.monotonic()
        project = decision.project
        client = decision.client
        try:
            waited = self._connections.wait(seconds, client, lambda: self._registry.is_removed(project.client_id))
        except TooManyWaits:
            raise errors.over_capacity("Too many requests of the sandbox wait already.") from None
        decision.waited_s += time.monotonic() - began
        decision.client_gone = waited is Waited.GONE
        if self._registry.is_removed(project.client_id):
            raise removed(project.key)
        return not decision.client_gone

    # After the view

    def after(self, request: Request, answer: Response) -> Response:
        """Change the answer as the rules say, and note the request."""
        decision: Decision | None = g.get("sandbox")
        if decision is not None:
            note = decision.note
            self._name_clauses(answer, note.entry.operation)
            answer = self._changed(decision, request, answer)
        else:
            project = self._project_of(request)
            if project is None:
                return answer
            note = noting.begin(request, project, self._operation(request)[0], self._connections)
            self._name_clauses(answer, note.entry.operation)
        note.decide(request, decision, answer)
        return answer

    @staticmethod
    def _name_clauses(answer: Response, operation_id: str | None) -> None:
        """Name the clauses of an error that the service itself has answered; those on order are the tester's."""
        error = error_answered()
        if error is not None:
            answer.data = with_clauses(error, operation_id).body()

    def _changed(self, decision: Decision, request: Request, answer: Response) -> Response:
        if decision.preferences.applied:
            answer.headers["Preference-Applied"] = ", ".join(
                [*answer.headers.getlist("Preference-Applied"), decision.preferences.applied]
            )
        for kind in decision.kinds:
            self._count_order(kind)
        if not decision.acting:
            return answer
        decision.replaced_status = answer.status_code if decision.is_carried_out else None
        for rule in decision.acting:
            if rule.phase == "after":
                if rule.answers:
                    answer = self._ruled_answer(decision, request, rule)
                self._wait_after(decision, request, answer, rule)
            if rule.body is not None:
                answer = answers.with_altered_body(answer, rule.body, keeps_status=rule.status is not None)
            for name, value in rule.headers:
                answer.headers[name] = value
        answer.headers[RULE_HEADER] = decision.label
        add_log_fields(sandbox_rule=decision.label)
        if decision.connection_rule is not None:
            connection = self._connections.of(request.environ)
            answer = self._with_failing_connection(decision, answer, decision.connection_rule, connection)
        return answer

    def _wait_after(self, decision: Decision, request: Request, answer: Response, rule: Rule) -> None:
        """Wait with an answer that is decided; the journal has it meanwhile."""
        if rule.waits_first and (rule.delay_ms or rule.jitter_ms) and not decision.client_gone:
            decision.note.show(request, decision, answer)
            with suppress(errors.ApiError):
                self._wait_as_ruled(decision, rule)

    def _with_failing_connection(
        self, decision: Decision, answer: Response, rule: Rule, connection: ConnectionRecord | None
    ) -> Response:
        client = decision.client

        def wait(seconds: float) -> bool:
            try:
                waited = self._connections.wait(seconds, client)
            except TooManyWaits:
                return False
            decision.client_gone |= waited is Waited.GONE
            return waited is Waited.WHOLE

        return answers.with_failing_connection(answer, rule, connection, wait)

    def _project_of(self, request: Request) -> SandboxProject | None:
        """The sandbox project of a request that was refused before :meth:`before`, by its path or by its client."""
        if request.path == requests.TOKEN_PATH:
            credentials = requests.credentials_of(request)
            return None if credentials is None else self._registry.find_by_client(credentials.client_id)
        arguments = request.view_args
        key = arguments.get("project_key") if arguments else None
        if key is None and request.url_rule is None:
            key = request.environ["PATH_INFO"].lstrip("/").partition("/")[0]
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


def _find_operation(app: Flask, endpoint: str, method: str) -> tuple[str | None, frozenset[int]]:
    described = operation_of(find_view(app, endpoint, method))
    if described is None:
        return None, frozenset()
    chosen = frozenset(answer.status for answer in described.answers)
    return described.id, chosen if "Prefer" in described.headers else frozenset()
