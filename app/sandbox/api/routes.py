"""The routes below ``/sandbox``: throwaway projects, faults on order, the journal, runs and reports."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from flask import Flask, Response, current_app, request

from app import errors
from app.http.answers import html_answer, json_answer
from app.http.arguments import Endpoint
from app.http.bodies import JSON
from app.http.hangups import has_hung_up
from app.sandbox.analysis.report import report
from app.sandbox.analysis.report_junit import as_junit
from app.sandbox.analysis.report_page import PAGE_POLICY, as_page
from app.sandbox.api import answers, orders, page
from app.sandbox.api.addresses import base_url_of
from app.sandbox.api.declaring import SandboxBlueprint
from app.sandbox.api.expecting import expected, nearest
from app.sandbox.api.explain import explain
from app.sandbox.api.parts import EVENTS, Parts, parts
from app.sandbox.api.rules import RulesSchema
from app.sandbox.faults import conflicts
from app.sandbox.faults.requests import TOKEN_PATH
from app.sandbox.journal.entry import Entry
from app.sandbox.journal.har import archive
from app.sandbox.journal.journal import KEPT, Journal
from app.sandbox.journal.stream import Known
from app.sandbox.projects.model import SandboxProject
from app.sandbox.rules.idle import why_it_never_acts

blueprint = SandboxBlueprint("sandbox", __name__, url_prefix="/sandbox")

_PROJECT = "/projects/<project_key:projectKey>"

_HTML = "text/html"
_XML = "application/xml"

_RULES_EXAMPLE = {"rules": [{"name": "503 twice", "times": {"first": 2}, "status": 503, "retryAfter": 1}]}


@blueprint.before_request
def _check_caller() -> None:  # pyright: ignore[reportUnusedFunction] -- Flask calls it
    parts().guard.check(is_public=request.endpoint in _PUBLIC)
    if request.method in ("POST", "PUT") and request.content_length and request.mimetype != JSON:
        raise errors.unsupported_media_type(JSON)


@blueprint.after_request
def _forbid_caching(answer: Response) -> Response:  # pyright: ignore[reportUnusedFunction] -- Flask calls it
    answer.headers.setdefault("Cache-Control", "no-store")
    return answer


def _project(project_key: str) -> SandboxProject:
    """The project of the path.

    :raises ApiError: 404 if the sandbox has not made it.
    """
    return parts().projects.get(project_key)


def _json(value: Any, status: int = 200) -> Response:
    return json_answer(json.dumps(value), status)


def _base_url() -> str:
    return base_url_of(request, current_app.extensions["settings"])


def _token_url() -> str:
    return f"{_base_url()}{TOKEN_PATH}"


def _done() -> Response:
    answer = Response(status=204)
    del answer.headers["Content-Type"]
    return answer


@blueprint.at("")
class Page(Endpoint):
    """The page for people."""

    def get(self) -> Response:
        """Answer the page."""
        return page.document(needs_token=parts().needs_token)


@blueprint.at("/page/<segment:asset>")
class Assets(Endpoint):
    """What the page loads."""

    def get(self, asset: str) -> Response:
        """Answer a style sheet, script or icon."""
        return page.asset(asset)


_PUBLIC = frozenset(f"{blueprint.name}.{view}" for view in ("Page", "Assets"))
"""Views that need no token; the page asks for it."""


@blueprint.at("/openapi.json")
class OpenApi(Endpoint):
    """The document of these routes."""

    def get(self) -> Response:
        """Answer the OpenAPI document."""
        return _json(parts().document(_base_url()))


@blueprint.at("/projects")
class AllProjects(Endpoint):
    """All sandbox projects."""

    @blueprint.operation("listProjects", "Projects", answers.ProjectListSchema)
    def get(self) -> Response:
        """List projects

        All, oldest first.
        """
        return _json({"results": parts().projects.described()})

    @blueprint.operation("makeProject", "Projects", answers.MadeProjectSchema, 201)
    @blueprint.takes(orders.NewProjectSchema(), {"resources": 100}, at_most=orders.PROJECT_BYTES_AT_MOST)
    def post(self, order: Any) -> Response:
        """Make a project

        A project with a client and a token, ready for requests.
        """
        made = parts().projects.make(order, _token_url())
        answer = _json(made, 201)
        answer.headers["Location"] = f"{request.script_root}/sandbox/projects/{made['projectKey']}"
        return answer


@blueprint.at(_PROJECT)
class OneProject(Endpoint):
    """One sandbox project."""

    @blueprint.operation("getProject", "Projects", answers.ProjectSchema)
    def get(self, projectKey: str) -> Response:
        """Describe a project

        With its counts.
        """
        return _json(parts().projects.described_one(projectKey))

    @blueprint.operation("removeProject", "Projects")
    def delete(self, projectKey: str) -> Response:
        """Remove a project

        With everything of it. Its tokens are refused from then on.
        """
        _project(projectKey)
        parts().projects.remove(projectKey)
        return _done()


@blueprint.at(f"{_PROJECT}/tokens")
class Tokens(Endpoint):
    """Tokens of the project's client."""

    @blueprint.operation("issueToken", "Projects", answers.IssuedTokenSchema, 201)
    def post(self, projectKey: str) -> Response:
        """Issue a token

        For a tester who does not have the secret of the project's client. The journal does not show it.
        """
        return _json(parts().projects.issue_token(_project(projectKey), _token_url()), 201)


@blueprint.at(f"{_PROJECT}/reset")
class Reset(Endpoint):
    """The project as it was when it was made."""

    @blueprint.operation("resetProject", "Projects")
    @blueprint.takes(orders.ResetOrderSchema(), {"keep": ["rules"]})
    def post(self, order: dict[str, Any], projectKey: str) -> Response:
        """Reset a project

        It becomes what it was when it was made: resources, clock and ids. Snapshots stay; rules and the journal only
        if `keep` names them.
        """
        kept = order.get("keep", ())
        parts().projects.reset(projectKey, keep_rules="rules" in kept, keep_requests="requests" in kept)
        return _done()


def _snapshot_name(text: str) -> str:
    if orders.NAME.fullmatch(text) is None:
        raise errors.invalid_parameter("name", "1 to 64 letters, digits, underscores and hyphens are expected.")
    return text


@blueprint.at(f"{_PROJECT}/snapshots/<segment:name>")
class Snapshot(Endpoint):
    """A snapshot."""

    @blueprint.operation("saveSnapshot", "Projects")
    def put(self, projectKey: str, name: str) -> Response:
        """Save a snapshot

        Keeps what the project holds under a name, in place of an earlier snapshot with this name.
        """
        parts().projects.save(projectKey, _snapshot_name(name))
        return _done()


@blueprint.at(f"{_PROJECT}/snapshots/<segment:name>/restore")
class Restore(Endpoint):
    """A snapshot, to be brought back."""

    @blueprint.operation("restoreSnapshot", "Projects")
    def post(self, projectKey: str, name: str) -> Response:
        """Restore a snapshot

        The project holds again what it held then, to the byte.
        """
        parts().projects.restore(projectKey, _snapshot_name(name))
        return _done()


@blueprint.at(f"{_PROJECT}/clock")
class Clock(Endpoint):
    """The project's clock."""

    @blueprint.operation("setClock", "Projects")
    @blueprint.takes(orders.ClockOrderSchema(), {"now": "2030-01-01T00:00:00.000Z", "runs": True})
    def put(self, order: dict[str, Any], projectKey: str) -> Response:
        """Set the clock

        It dates what is written, and decides whether a token has expired.
        """
        parts().projects.set_clock(projectKey, order)
        return _done()

    @blueprint.operation("endClock", "Projects")
    def delete(self, projectKey: str) -> Response:
        """Return to real time

        As an empty order does.
        """
        parts().projects.set_clock(projectKey, {})
        return _done()


@blueprint.at(f"{_PROJECT}/ids")
class Ids(Endpoint):
    """Where the project's ids come from."""

    @blueprint.operation("setIds", "Projects")
    @blueprint.takes(orders.IdsOrderSchema(), {"seed": 7})
    def put(self, order: dict[str, Any], projectKey: str) -> Response:
        """Seed the ids

        Resources that are made one after the other get the ids of a reproducible sequence.
        """
        parts().projects.set_ids(projectKey, order)
        return _done()

    @blueprint.operation("endIds", "Projects")
    def delete(self, projectKey: str) -> Response:
        """Return to chance

        As an empty order does.
        """
        parts().projects.set_ids(projectKey, {})
        return _done()


@blueprint.at(f"{_PROJECT}/rules")
class Rules(Endpoint):
    """The project's rules."""

    @blueprint.operation("listRules", "Faults", answers.RuleListSchema)
    def get(self, projectKey: str) -> Response:
        """Show the rules

        In their order, with how often each has matched and acted, and why if it cannot act.
        """
        rules = _project(projectKey).rules
        shown: list[dict[str, Any]] = []
        for each in rules:
            why = why_it_never_acts(
                [one.rule for one in rules], each.rule, each.matched, parts().methods, conflicts.OPERATIONS
            )
            never = {} if why is None else {"neverActs": why}
            shown.append({**each.rule.source, "matched": each.matched, "acted": each.acted, **never})
        return _json({"rules": shown})

    @blueprint.operation("setRules", "Faults")
    @blueprint.takes(RulesSchema(), _RULES_EXAMPLE, optional=False)
    def put(self, order: dict[str, Any], projectKey: str) -> Response:
        """Replace the rules

        All that match a request and are due act on it in their order, until one gives an answer. A rule that cannot
        be is refused with its place, and none of the list is taken.
        """
        parts().projects.set_rules(projectKey, order["rules"])
        return _done()

    @blueprint.operation("endRules", "Faults")
    def delete(self, projectKey: str) -> Response:
        """End all rules

        As an empty list does.
        """
        parts().projects.set_rules(projectKey, ())
        return _done()


_page, _narrowing = orders.PageSchema(), orders.NarrowingSchema()


@blueprint.at(f"{_PROJECT}/requests")
class Requests(Endpoint):
    """The journal."""

    @blueprint.operation("listRequests", "Journal", answers.EntryPageSchema, 200, EVENTS)
    @blueprint.arguments(_page, location="query")
    def get(self, query: dict[str, Any], projectKey: str) -> Response:
        """List requests

        The last 1,000 requests, newest first, numbered by their arrival. With `Accept: text/event-stream` each as an
        event `request`, once more as an event `ended` if it was under way then, and an event `finding` for what a
        later request shows of an earlier one.
        """
        project = _project(projectKey)
        if request.accept_mimetypes.best_match([JSON, EVENTS], JSON) == EVENTS:
            return _stream(project)
        limit, offset = query.get("limit", 20), query.get("offset", 0)
        entries, total = project.journal.page(_page.narrowing(query), limit, offset)
        head = f'"limit":{limit},"offset":{offset},"count":{len(entries)},"total":{total}'
        return _in_parts(_listed(head, entries, project.journal))


def _listed(head: str, entries: Iterable[Entry], journal: Journal) -> Iterator[str]:
    yield f'{{{head},"results":['
    for number, entry in enumerate(entries):
        yield f"{',' if number else ''}{json.dumps(entry.described(journal.secrets))}"
    yield "]}"


def _in_parts(texts: Iterator[str]) -> Response:
    """A long answer, made while it is sent."""
    return Response((text.encode() for text in texts), content_type=f"{JSON}; charset=utf-8")


def _stream(project: SandboxProject) -> Response:
    known = Known.read(request.headers.get("Last-Event-ID", ""))
    client, journal = request.environ.get("gunicorn.socket"), project.journal
    answer = Response(
        parts().streams.events(
            journal, known, partial(has_hung_up, client), lambda: not project.is_removed and project.journal is journal
        ),
        content_type=EVENTS,
    )
    answer.headers["X-Accel-Buffering"] = "no"  # nginx would keep events back
    return answer


@blueprint.at(f"{_PROJECT}/requests.har")
class Archive(Endpoint):
    """The journal as an HTTP archive."""

    @blueprint.operation("getArchive", "Journal", answers.ArchiveSchema)
    @blueprint.arguments(_narrowing, location="query")
    def get(self, query: dict[str, Any], projectKey: str) -> Response:
        """Get an HTTP archive

        All entries as HAR 1.2, oldest first.
        """
        journal = _project(projectKey).journal
        entries, _ = journal.page(_narrowing.narrowing(query), KEPT)
        described = (entry.described(journal.secrets) for entry in reversed(entries))
        answer = _in_parts(archive(described, _base_url()))
        answer.headers["Content-Disposition"] = f'attachment; filename="{projectKey}.har"'
        return answer


@blueprint.at(f"{_PROJECT}/requests/<int:number>")
class OneRequest(Endpoint):
    """An entry of the journal."""

    @blueprint.operation("getRequest", "Journal", answers.EntrySchema)
    def get(self, projectKey: str, number: int) -> Response:
        """Get a request

        One entry.
        """
        journal = _project(projectKey).journal
        entry = journal.get(number)
        if entry is None:
            raise errors.ApiError(
                [errors.Fault("ResourceNotFound", f"The journal of '{projectKey}' has no request {number}.")]
            )
        return _json(entry.described(journal.secrets))


@blueprint.at(f"{_PROJECT}/requests/expect")
class Expected(Endpoint):
    """What a test expects."""

    @blueprint.operation("expectRequests", "Journal", answers.ExpectedSchema)
    @blueprint.alt_response(409, schema=answers.UnmetSchema, description="It is not so.")
    @blueprint.takes(orders.ExpectationSchema(), {"method": "GET", "times": {"atLeast": 0}})
    def post(self, expectation: orders.Expectation, projectKey: str) -> Response:
        """Expect requests

        Answers with the numbers of those that fit, within `withinMs` milliseconds, or with 409 and the requests that
        nearly fit.
        """
        journal = _project(projectKey).journal
        fits, found = expected(journal, expectation, parts().pause)
        if fits:
            return _json({"requests": found})
        message = f"{len(found)} requests fit, and {expectation.told()} expected."
        return _json(
            {
                "statusCode": 409,
                "message": message,
                "errors": [{"code": "ExpectationNotMet", "message": message}],
                "requests": found,
                "nearest": [] if found else nearest(journal, expectation),
            },
            409,
        )


@blueprint.at(f"{_PROJECT}/report")
class Report(Endpoint):
    """What a client has exercised, and how it dealt with what went wrong."""

    @blueprint.operation("getReport", "Journal", answers.ReportSchema, 200, _HTML, _XML)
    def get(self, projectKey: str) -> Response:
        """Report on the client

        What of the interface its requests have exercised, how it dealt with 401, 409, 429, 503 and lost answers, and
        the findings. As HTML with `Accept: text/html`, as JUnit XML with `Accept: application/xml`.
        """
        tally = _project(projectKey).observer.tally()
        return _report(report({"projectKey": projectKey}, tally, parts().known))


def _report(made: Mapping[str, Any]) -> Response:
    """A report in the form that the request accepts."""
    form = request.accept_mimetypes.best_match([JSON, _HTML, _XML], JSON)
    if form == _HTML:
        answer = html_answer(as_page(made, _base_url(), current_app.extensions["extension"]), PAGE_POLICY)
    elif form == _XML:
        answer = Response(as_junit(made), content_type=f"{_XML}; charset=utf-8")
    else:
        answer = _json(made)
    answer.headers["Vary"] = "Accept"
    return answer


@blueprint.at("/runs")
class Runs(Endpoint):
    """All runs of tests."""

    @blueprint.operation("listRuns", "Runs", answers.RunListSchema)
    def get(self) -> Response:
        """List runs

        All, oldest first.
        """
        return _json({"results": parts().runs.described()})


@blueprint.at("/runs/<segment:run>")
class OneRun(Endpoint):
    """A run of tests."""

    @blueprint.operation("removeRun", "Runs")
    def delete(self, run: str) -> Response:
        """Remove a run

        With what was counted. Its projects stay, and are counted no more.
        """
        parts().runs.remove(run)
        return _done()


@blueprint.at("/runs/<segment:run>/report")
class RunReport(Endpoint):
    """What the projects of a run have exercised together."""

    @blueprint.operation("getRunReport", "Runs", answers.ReportSchema, 200, _HTML, _XML)
    def get(self, run: str) -> Response:
        """Report on a run

        As that on a project, of all projects that were made with the name of the run, also of those that are gone.
        """
        found = parts().runs.find(run)
        return _report(report({"run": run, "projects": found.projects}, found.tally(), parts().known))


@blueprint.at(f"{_PROJECT}/explain")
class Explain(Endpoint):
    """What a read would do."""

    @blueprint.operation("explainRead", "Explain", answers.ExplanationSchema)
    @blueprint.takes(
        orders.QuestionSchema(), {"operationId": "listResourcesSorted", "query": "where=version%20%3E%203"},
        optional=False,
    )  # fmt: skip
    def post(self, question: dict[str, Any], projectKey: str) -> Response:
        """Explain a read

        What a query is parsed to, and which index serves each condition. With `execute` its answer too; the journal
        does not show it.
        """
        key = _project(projectKey).key
        made = explain(
            current_app.extensions["database"], key, question["operationId"], question.get("query", ""),
            execute=question.get("execute", False),
        )  # fmt: skip
        return _json(made)


def install(app: Flask, made: Parts) -> None:
    """Register the routes, and make their document."""
    made.install(app, blueprint, answers.REFERRED)
