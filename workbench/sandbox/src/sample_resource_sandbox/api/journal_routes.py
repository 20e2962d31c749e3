"""The routes of the journal, of expectations, of reports and of runs."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from flask import Response, current_app, request

from app import errors
from app.http.answers import html_answer
from app.http.arguments import Endpoint
from app.http.bodies import JSON
from sample_resource_sandbox.analysis.report import report
from sample_resource_sandbox.analysis.report_page import PAGE_POLICY, as_page
from sample_resource_sandbox.api import answers, orders
from sample_resource_sandbox.api.answering import PROJECT, base_url, blueprint, done, giving_way, json_of, project_of
from sample_resource_sandbox.api.expecting import expected, unmet
from sample_resource_sandbox.api.parts import parts
from sample_resource_sandbox.journal.entry import Entry
from sample_resource_sandbox.journal.har import archive
from sample_resource_sandbox.journal.journal import Journal

_HTML = "text/html"

_asked = orders.ReportQuerySchema()


@blueprint.at(f"{PROJECT}/requests")
class Requests(Endpoint):
    """The journal."""

    @blueprint.operation("listRequests", "Journal", answers.EntryPageSchema)
    @blueprint.arguments(orders.PageSchema(), location="query")
    def get(self, query: dict[str, Any], projectKey: str) -> Response:
        """List requests

        Of the last 1,000 requests, numbered by their arrival: newest first, or with `after` those with higher numbers,
        oldest first.
        """
        journal = project_of(projectKey).journal
        limit, offset = query.get("limit", 20), query.get("offset", 0)
        entries, total = journal.page(query, limit, offset, query.get("after"))
        head = f'"limit":{limit},"offset":{offset},"count":{len(entries)},"total":{total}'
        return _in_parts(_listed(head, entries, journal))

    @blueprint.operation("emptyJournal", "Journal")
    def delete(self, projectKey: str) -> Response:
        """Empty the journal

        And begin the report anew, as a reset does; a run keeps what its projects have shown.
        """
        parts().projects.forget_requests(project_of(projectKey))
        return done()


def _listed(head: str, entries: Iterable[Entry], journal: Journal) -> Iterator[str]:
    yield f'{{{head},"results":['
    for number, entry in enumerate(entries):
        yield f"{',' if number else ''}{json.dumps(entry.described(journal.secrets))}"
    yield "]}"


def _in_parts(texts: Iterator[str]) -> Response:
    """A long JSON answer, whose parts are made while it is sent."""
    return Response((text.encode() for text in giving_way(texts)), content_type=f"{JSON}; charset=utf-8")


@blueprint.at(f"{PROJECT}/requests.har")
class Archive(Endpoint):
    """The journal as an HTTP archive."""

    @blueprint.operation("getArchive", "Journal", answers.ArchiveSchema)
    @blueprint.arguments(orders.NarrowingSchema(), location="query")
    def get(self, query: dict[str, Any], projectKey: str) -> Response:
        """Get an HTTP archive

        All entries as HAR 1.2, oldest first.
        """
        journal = project_of(projectKey).journal
        entries, _ = journal.page(query)
        described = (entry.described(journal.secrets) for entry in reversed(entries))
        answer = _in_parts(archive(described, base_url()))
        answer.headers["Content-Disposition"] = f'attachment; filename="{projectKey}.har"'
        return answer


@blueprint.at(f"{PROJECT}/requests/<int:number>")
class OneRequest(Endpoint):
    """An entry of the journal."""

    @blueprint.operation("getRequest", "Journal", answers.EntrySchema)
    def get(self, projectKey: str, number: int) -> Response:
        """Get a request

        One entry.
        """
        journal = project_of(projectKey).journal
        entry = journal.get(number)
        if entry is None:
            raise errors.ApiError(
                [errors.Fault("ResourceNotFound", f"The journal of '{projectKey}' has no request {number}.")]
            )
        return json_of(entry.described(journal.secrets))


@blueprint.at(f"{PROJECT}/requests/expect")
class Expected(Endpoint):
    """What a test expects."""

    @blueprint.operation("expectRequests", "Journal", answers.ExpectedSchema)
    @blueprint.alt_response(409, schema=answers.UnmetSchema, description="It is not so.")
    @blueprint.takes(orders.ExpectationSchema(), {"method": "GET", "times": {"atLeast": 0}})
    def post(self, expectation: orders.Expectation, projectKey: str) -> Response:
        """Expect requests

        Answers with the numbers of those that fit, within `withinMs` milliseconds, or with 409 and the requests that
        nearly fit. `settleMs` waits for one too many.
        """
        fits, looked = expected(lambda: project_of(projectKey).journal, expectation, parts().pause)
        if fits:
            return json_of({"requests": [entry.number for entry in looked.found]})
        return json_of(unmet(project_of(projectKey).journal, expectation, looked), 409)


@blueprint.at(f"{PROJECT}/report")
class Report(Endpoint):
    """What a client has exercised, and how it dealt with what went wrong."""

    @blueprint.operation("getReport", "Journal", answers.ReportSchema, 200, _HTML)
    @blueprint.arguments(_asked, location="query")
    def get(self, query: dict[str, Any], projectKey: str) -> Response:
        """Report on the client

        What of the interface its requests have exercised, how it dealt with 401, 409, 429, 503 and lost answers, and
        the findings. As HTML with `Accept: text/html`. `gate` says whether it is as good as `min`, `of` and
        `noFindings` ask for.
        """
        tally = project_of(projectKey).observer.tally()
        return _report(report({"projectKey": projectKey}, tally, parts().known, query))


def _report(made: Mapping[str, Any]) -> Response:
    """A report in the form that the request accepts."""
    form = request.accept_mimetypes.best_match([JSON, _HTML], JSON)
    if form == _HTML:
        answer = html_answer(as_page(made, base_url(), current_app.extensions["extension"]), PAGE_POLICY)
    else:
        answer = json_of(made)
    answer.headers["Vary"] = "Accept"
    return answer


@blueprint.at("/runs/<segment:run>")
class OneRun(Endpoint):
    """A run of tests."""

    @blueprint.operation("removeRun", "Runs")
    def delete(self, run: str) -> Response:
        """Remove a run

        With what was counted. Its projects stay, and are counted no more.
        """
        parts().projects.remove_run(run)
        return done()


@blueprint.at("/runs/<segment:run>/report")
class RunReport(Endpoint):
    """What the projects of a run have exercised together."""

    @blueprint.operation("getRunReport", "Runs", answers.ReportSchema, 200, _HTML)
    @blueprint.arguments(_asked, location="query")
    def get(self, query: dict[str, Any], run: str) -> Response:
        """Report on a run

        As that on a project, of all projects that were made with the name of the run, also of those that are gone.
        """
        found = parts().projects.runs.find(run)
        about = {"run": run, "projects": found.projects}
        return _report(report(about, found.tally(), parts().known, query))
