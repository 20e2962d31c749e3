"""Records a request to a sandbox project: its arrival, the rules that act on it, its answer and its end."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import Request, Response, g

from app.http.request_log import RequestRecord
from app.identity.tokens import AccessToken
from sample_resource_sandbox.analysis.observer import Observer
from sample_resource_sandbox.connections import RequestCounts, has_hung_up
from sample_resource_sandbox.faults import requests
from sample_resource_sandbox.journal.entry import BODY_BYTES_KEPT, Entry, Message
from sample_resource_sandbox.projects.model import SandboxProject
from sample_resource_sandbox.rules.matching import TOKEN_OPERATION, TOKEN_PATH
from sample_resource_sandbox.rules.rules import Rule

_WITHOUT_BODY = (204, 304)

_OTHERS_BEGIN_S = 0.002
"""The pause before a failure is answered. Requests that have arrived meanwhile begin in it, so that they overlap this
one and do not look like reactions to its answer. It is a timer, because the event loop looks at sockets before timers
are due, and not before ``sleep(0)`` returns."""


@dataclass(slots=True, eq=False)
class Exchange:
    """The current request with its answer. ``g.sandbox`` is the exchange of an authorised request."""

    request: Request
    project: SandboxProject
    record: RequestRecord
    entry: Entry
    observer: Observer
    """The observer of the project when the request arrived. A reset gives the project another observer and another
    journal."""
    acting: tuple[Rule, ...] = ()
    """The rules that act, in their order."""
    is_carried_out: bool = True
    """Whether the service itself answers the request, by its view or by a refusal: no rule answers in its place, and
    the client does not hang up during a delay before the view."""
    replaced_status: int | None = None
    """The status that the answer had before a rule changed it."""
    waited_s: float = 0.0
    answer: Response | None = None
    """The answer, while it is being sent."""

    @property
    def connection_rule(self) -> Rule | None:
        """The rule that breaks the connection; None if there is none."""
        return next((rule for rule in self.acting if rule.connection is not None), None)

    @property
    def label(self) -> str:
        """The names of the acting rules, for answers and logs."""
        return ", ".join(rule.label for rule in self.acting)

    @property
    def kinds(self) -> list[str]:
        """The effects of the acting rules, each once, as words of :data:`sample_resource_sandbox.rules.rules.KINDS`."""
        return list(dict.fromkeys(kind for rule in self.acting for kind in rule.kinds))

    def note_token(self, answer: Response) -> None:
        """Hide the token of the service's own answer in the journal. To be called before rules change the answer."""
        if self.entry.operation == TOKEN_OPERATION and answer.status_code == 200 and self.is_carried_out:
            token = requests.members_of(answer.get_data()).get("access_token")
            self.observer.journal.secrets.add_token(str(token))

    def show(self, answer: Response) -> None:
        """Record a decided answer in the entry of the journal.

        :param answer: the whole answer, even if a rule breaks the connection before all of it is sent.
        """
        entry, rule = self.entry, self.connection_rule
        requests.note_body(self.request, entry.request)
        if entry.client_gone:
            entry.status = entry.answer = None  # the client has gone during the wait, so nothing is sent
        elif rule is None or not rule.leaves_no_answer:
            body = b"" if entry.method == "HEAD" or answer.status_code in _WITHOUT_BODY else answer.get_data()
            size = len(body)
            if rule is not None:  # only ``truncate`` sends a part of the body
                size = min(size // 2, BODY_BYTES_KEPT) if rule.connection == "truncate" else 0
            entry.status = answer.status_code
            entry.answer = Message(tuple(answer.headers), body[: min(size, BODY_BYTES_KEPT)], size)
        if self.acting:
            entry.rule = self._described()
        self.observer.journal.note_change()

    def decide(self, answer: Response) -> None:
        """Record that the answer in the entry is going to be sent, and register the record of its end.

        :param answer: the answer as it is sent.
        """
        entry = self.entry
        entry.client_gone = entry.client_gone or has_hung_up(entry.client)
        is_failure = entry.status is None or entry.status >= 400
        if is_failure and entry.client is not None and not entry.client_gone:
            time.sleep(_OTHERS_BEGIN_S)
        entry.answered_s = time.perf_counter() - self.record.started
        self.answer = answer
        answer.call_on_close(self._end)

    def _end(self) -> None:
        entry, answer = self.entry, self.answer
        self.answer = None  # the answer refers to this method: break the cycle
        entry.ended_s = time.perf_counter() - self.record.started
        if entry.answer is not None and answer is not None:
            # The headers as they were sent, with those that later hooks have added. Werkzeug changes the headers of
            # answers without a body.
            is_final = entry.status not in _WITHOUT_BODY and "Content-Length" in answer.headers
            entry.answer.headers = tuple(answer.headers if is_final else answer.get_wsgi_headers(self.request.environ))
        self.observer.end(entry)

    def _described(self) -> Mapping[str, Any]:
        """The description of the acting rules in an entry. Name and number are those of the last rule."""
        rule = self.acting[-1]
        return {
            "name": rule.name,
            "number": rule.number,
            "all": [{"name": each.name, "number": each.number} for each in self.acting],
            "did": "; ".join(each.done for each in self.acting),
            "does": self.kinds,
            "phase": rule.phase,
            "carriedOut": self.is_carried_out,
            "replacedStatus": self.replaced_status,
            "waitedMs": round(self.waited_s * 1000),
        }


def begin(request: Request, project: SandboxProject, operation_id: str | None, counts: RequestCounts) -> Exchange:
    """Record a request that has arrived, and return its exchange."""
    record: RequestRecord = g.record
    token: AccessToken | None = g.get("token")
    client_id = project.client_id if request.path == TOKEN_PATH else None
    environ = request.environ
    if token is not None:
        client_id = token.client_id
        project.journal.secrets.add_token(environ.get("HTTP_AUTHORIZATION", "").rpartition(" ")[2])
    entry = Entry(
        arrived_at=time.time() - (time.perf_counter() - record.started),
        client_id=client_id,
        operation=operation_id,
        method=request.method,
        target=requests.target_of(request),
        http_version=environ.get("SERVER_PROTOCOL", "HTTP/1.1"),
        request=requests.head_of(request),
        connection=counts.next_on(environ),
        client=environ.get("gunicorn.socket"),
        correlation_id=record.correlation_id,
        project_time=None if project.clock.is_real else project.clock.time(),
    )
    project.observer.begin(entry)
    return Exchange(request, project, record, entry, project.observer)
