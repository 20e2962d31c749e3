"""The hooks of the sandbox before and after the view of a request. They carry out rules and record the request.

:meth:`Hooks.before` is the last hook before a view, after the gate. :meth:`Hooks.after` is the first hook after the
view, so that the request log shows the answer as it is sent. It also carries out rules on requests that were refused
before the view, because a proxy answers 502 for an unknown URL and for a bad token, too. Neither hook does anything for
projects that are not the sandbox's.
"""

import hmac
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import ceil

from flask import Request, Response, current_app, g

from app import errors
from app.database.pool import Database
from app.http.request_log import add_log_fields
from app.identity.gate import find_view
from app.identity.tokens import AccessToken, digest_of
from app.identity.verification import REVOKED
from app.openapi.marks import operation_of
from app.values.strict_json import INT64_MAX, INT64_MIN
from sample_resource_sandbox.connections import RequestCounts, Waits
from sample_resource_sandbox.faults import answers, conflicts, noting, requests
from sample_resource_sandbox.faults.noting import Exchange
from sample_resource_sandbox.projects.lifecycle import Projects, removed
from sample_resource_sandbox.projects.model import SandboxProject
from sample_resource_sandbox.rules.matching import TOKEN_PATH, Sent
from sample_resource_sandbox.rules.rules import Rule

RULE_HEADER = "X-Sandbox-Rule"
_REVOKE_PATH = "/oauth/revoke"


class Hooks:
    """The hooks of the sandbox for one application.

    :param count_order: counts an effect of a rule in the metrics, by its word in
        :data:`sample_resource_sandbox.rules.rules.KINDS`.
    """

    def __init__(
        self, database: Database, projects: Projects, waits: Waits, count_order: Callable[[str], object]
    ) -> None:
        self._database = database
        self._projects = projects
        self._waits = waits
        self._counts = RequestCounts()
        self._count_order = count_order

    # Before the view

    def before(self, request: Request) -> Response | None:
        """Carry out the rules of the project. An answer ends the request.

        :raises ApiError: 503 if too many requests are already waiting, 401 if the project is removed during a wait.
        """
        project = self._project_before(request)
        if project is None:
            return None
        exchange = g.sandbox = noting.begin(request, project, _operation(request), self._counts)
        return self._obey(exchange)

    def _project_before(self, request: Request) -> SandboxProject | None:
        """The sandbox project of an authorised request; None for other requests."""
        arguments = request.view_args
        if not arguments or "project_key" not in arguments:
            return self._project_of_grant(request) if request.path == TOKEN_PATH else None
        project = self._projects.registry.find(arguments["project_key"])
        token: AccessToken | None = g.get("token")
        if token is not None and self._projects.registry.is_removed(token.client_id):
            raise removed(arguments["project_key"])  # removed after the gate has checked the token
        return project

    def _project_of_grant(self, request: Request) -> SandboxProject | None:
        """The project whose client requests a token with its right secret; None for other token requests."""
        credentials = requests.credentials_of(request)
        if credentials is None:
            return None
        project = self._projects.registry.find_by_client(credentials.client_id)
        if project is None or project.is_removed:
            return None
        if not hmac.compare_digest(digest_of(credentials.secret), project.secret_hash):
            return None
        # After a restart only the hash of the secret is known, so the journal learns it here.
        project.journal.secrets.add(credentials.secret)
        return project

    def _obey(self, exchange: Exchange, *, is_refused: bool = False) -> Response | None:
        """Carry out the rules that match and are due, in their order, until one of them gives an answer.

        :param is_refused: whether the service has refused the request before its view. Then no conflicting write is
            made.
        """
        request, project = exchange.request, exchange.project
        # The browser sends preflight requests, which the client does not know of, so no rule applies to them.
        if request.method == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in request.environ:
            return None
        sent = Sent(exchange.entry, partial(requests.read_whole, request))
        for counted in project.rules:
            rule = counted.rule
            if rule.connection is not None and exchange.connection_rule is not None:
                continue  # another rule already breaks the connection
            if not rule.match.holds(sent) or (rule.conflict and is_refused):
                continue
            if rule.conflict:
                retry_after_s = conflicts.write_before(self._database, project, request, exchange.entry, counted.count)
            else:
                retry_after_s = counted.count()
            if retry_after_s is None:
                continue
            exchange.acting += (rule,)
            if rule.phase == "after":
                if rule.replaces_answer:
                    return None  # the answer is made after the view
                continue
            if not self._wait(exchange, rule):
                exchange.is_carried_out = False  # nobody reads the answer
                return answers.error_answer(503, message="The client has closed the connection.")
            if rule.replaces_answer:
                exchange.is_carried_out = False
                return self._replacement(exchange, rule, retry_after_s)
        return None

    def _replacement(self, exchange: Exchange, rule: Rule, retry_after_s: float) -> Response:
        """The answer of a rule in place of carrying out the request."""
        if rule.expire_tokens:
            self._projects.expire_tokens(exchange.project)
            return answers.answer_of(errors.token_refused(exchange.project.key, REVOKED))
        if rule.limit is not None:
            message = rule.message or f"More than {rule.limit['requests']} requests in {rule.limit['perSeconds']:g} s."
            return answers.error_answer(429, message=message, retry_after_s=max(1, ceil(retry_after_s)))
        return self._made_answer(exchange, rule)

    def _made_answer(self, exchange: Exchange, rule: Rule) -> Response:
        """The answer with the status and body of a rule. Nobody gets it if the rule breaks the connection."""
        if rule.own_body is not None or (rule.status or 400) < 400:
            return answers.own_answer(rule.status or 200, rule.own_body, rule.retry_after)
        status = rule.status or (502 if rule.body == "html" else 503)
        request = exchange.request
        sent = requests.version_sent(request) if status == 409 else None
        return answers.error_answer(
            status,
            code=rule.code,
            message=rule.message,
            retry_after_s=rule.retry_after,
            # One more than the sent version, as in a real conflict, although nobody has written.
            current_version=None if sent is None or not INT64_MIN <= sent < INT64_MAX else int(sent) + 1,
            realm=exchange.project.key,
            is_oauth=request.path == TOKEN_PATH,
        )

    def _wait(self, exchange: Exchange, rule: Rule) -> bool:
        """Wait as a rule says, unless the project is removed in this time. Return False if the client is gone.

        :raises ApiError: 503 if too many requests are already waiting, 401 if the project is removed.
        """
        if not rule.delay_ms or not rule.waits_first:
            return True
        began = time.monotonic()
        project, entry = exchange.project, exchange.entry
        is_removed = partial(self._projects.registry.is_removed, project.client_id)
        requests.note_body(exchange.request, entry.request)
        exchange.observer.journal.note_change()
        is_there = self._waits.wait(rule.delay_ms / 1000, project.key, entry.client, is_removed)
        exchange.waited_s += time.monotonic() - began
        entry.client_gone |= not is_there
        if is_removed():
            raise removed(project.key)
        return is_there

    # After the view

    def after(self, request: Request, answer: Response) -> Response:
        """Change the answer as the rules say, and record it for the journal."""
        if request.path == _REVOKE_PATH and (revoking := self._project_of_grant(request)) is not None:
            revoking.observer.revoke(requests.token_in(request))
        exchange: Exchange | None = g.get("sandbox")
        if exchange is None:
            project = self._project_of(request)
            if project is None:
                return answer
            exchange = noting.begin(request, project, _operation(request), self._counts)
            if request.path != TOKEN_PATH:  # rules act on a request for a token only if its secret is right
                with suppress(errors.ApiError):  # no wait is possible, or the project is gone: keep the answer
                    answer = self._obey(exchange, is_refused=True) or answer
        exchange.note_token(answer)
        if exchange.acting:
            answer = self._changed(exchange, answer)
        exchange.show(answer)
        if exchange.connection_rule is not None:
            answer = self._with_failing_connection(exchange, answer, exchange.connection_rule)
        exchange.decide(answer)
        return answer

    def _changed(self, exchange: Exchange, answer: Response) -> Response:
        """The answer as the acting rules change it, before one of them breaks the connection."""
        for kind in exchange.kinds:
            self._count_order(kind)
        exchange.replaced_status = answer.status_code if exchange.is_carried_out else None
        for rule in exchange.acting:
            if rule.phase == "after":
                if rule.makes_answer:
                    answer = self._made_answer(exchange, rule)
                if rule.waits_first and rule.delay_ms and not exchange.entry.client_gone:
                    exchange.show(answer)  # the answer is decided, so the journal shows it during the wait
                    try:
                        self._wait(exchange, rule)
                    except errors.ApiError as error:
                        answer = answers.answer_of(error)
            if rule.body is not None:
                answer = answers.with_altered_body(answer, rule.body, keeps_status=rule.status is not None)
            for name, value in rule.headers.items():
                answer.headers[name] = value
        answer.headers[RULE_HEADER] = exchange.label
        add_log_fields(sandbox_rule=exchange.label)
        return answer

    def _with_failing_connection(self, exchange: Exchange, answer: Response, rule: Rule) -> Response:
        entry, client = exchange.entry, exchange.entry.client

        def wait(seconds: float) -> None:
            with suppress(errors.ApiError):  # too many wait: the connection ends at once
                entry.client_gone |= not self._waits.wait(seconds, exchange.project.key, client)

        return answers.with_failing_connection(answer, rule, client, wait)

    def _project_of(self, request: Request) -> SandboxProject | None:
        """The sandbox project of a request that was refused before :meth:`before`, found by its path or by its client.

        :raises ApiError: 503 if the database is away.
        """
        if request.path == TOKEN_PATH:
            credentials = requests.credentials_of(request)
            return None if credentials is None else self._projects.registry.find_by_client(credentials.client_id)
        key = (request.view_args or {}).get("project_key")
        if key is None and request.url_rule is None:
            key = request.environ["PATH_INFO"].lstrip("/").partition("/")[0]
        return self._projects.registry.find(key) if key else None


def _operation(request: Request) -> str | None:
    """The operationId of a request; None for an unknown URL or method."""
    rule = request.url_rule
    described = None if rule is None else operation_of(find_view(current_app, rule.endpoint, request.method))
    return None if described is None else described.id
