"""The routes of the journal, of expectations, of reports and of runs."""

from collections.abc import Iterator
from typing import Any

from flask import Response, request

from app import errors
from app.http.arguments import Endpoint
from app.http.bodies import JSON
from sample_resource_sandbox.analysis.report import report, verdict
from sample_resource_sandbox.api import orders
from sample_resource_sandbox.api.answering import PROJECT, base_url, blueprint, done, giving_way, json_of, project_of
from sample_resource_sandbox.api.declaring import ref
from sample_resource_sandbox.api.expecting import expected, unmet
from sample_resource_sandbox.api.parts import parts
from sample_resource_sandbox.journal.har import archive, in_parts

_allow = orders.AllowSchema()

_PLAIN = "text/plain; charset=utf-8"


@blueprint.at(f"{PROJECT}/requests")
class Requests(Endpoint):
    """The journal."""

    @blueprint.operation("listRequests", "Journal", "EntryPage")
    @blueprint.arguments(orders.PageSchema(), location="query")
    def get(self, query: dict[str, Any], projectKey: str) -> Response:
        """List requests

        Of the last 1,000 requests, numbered by their arrival: newest first, or with `after` those with higher numbers,
        oldest first.
        """
        journal = project_of(projectKey).journal
        limit, offset = query.get("limit", 20), query.get("offset", 0)
        entries, total = journal.page(query, limit, offset, query.get("after"))
        head = f'{{"limit":{limit},"offset":{offset},"count":{len(entries)},"total":{total},"results":['
        return _streamed(in_parts(head, (entry.described(journal.secrets) for entry in entries), "]}"))

    @blueprint.operation("emptyJournal", "Journal")
    def delete(self, projectKey: str) -> Response:
        """Empty the journal

        And begin the report anew, as a reset does; a run keeps what its projects have shown.
        """
        parts().projects.forget_requests(project_of(projectKey))
        return done()


def _streamed(texts: Iterator[str]) -> Response:
    """A long JSON answer, whose parts are made while it is sent."""
    return Response((text.encode() for text in giving_way(texts)), content_type=f"{JSON}; charset=utf-8")


@blueprint.at(f"{PROJECT}/requests.har")
class Archive(Endpoint):
    """The journal as an HTTP archive."""

    @blueprint.operation("getArchive", "Journal", "Archive")
    @blueprint.arguments(orders.NarrowingSchema(), location="query")
    def get(self, query: dict[str, Any], projectKey: str) -> Response:
        """Get an HTTP archive

        All entries as HAR 1.2, oldest first.
        """
        journal = project_of(projectKey).journal
        entries, _ = journal.page(query)
        described = (entry.described(journal.secrets) for entry in reversed(entries))
        answer = _streamed(archive(described, base_url()))
        answer.headers["Content-Disposition"] = f'attachment; filename="{projectKey}.har"'
        return answer


@blueprint.at(f"{PROJECT}/requests/<int:number>")
class OneRequest(Endpoint):
    """An entry of the journal."""

    @blueprint.operation("getRequest", "Journal", "Entry")
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

    @blueprint.operation("expectRequests", "Journal", "Expected")
    @blueprint.alt_response(409, schema=ref("Unmet"), description="It is not so.")
    @blueprint.takes(orders.ExpectationSchema(), {"method": "GET", "times": {"atLeast": 0}})
    def post(self, expectation: orders.Expectation, projectKey: str) -> Response:
        """Expect requests

        Answers with the numbers of those that fit, within `withinMs` milliseconds, or with 409 and the requests that
        nearly fit. `settleMs` waits for one too many.
        """
        with parts().waits.begin(projectKey, request.environ.get("gunicorn.socket")) as wait:
            fits, looked = expected(lambda: project_of(projectKey).journal, expectation, wait)
        if fits:
            return json_of({"requests": [entry.number for entry in looked.found]})
        return json_of(unmet(project_of(projectKey).journal, expectation, looked), 409)


@blueprint.at(f"{PROJECT}/report")
class Report(Endpoint):
    """What a client did."""

    @blueprint.operation("getReport", "Journal", "Report")
    @blueprint.arguments(_allow, location="query")
    def get(self, query: dict[str, Any], projectKey: str) -> Response:
        """Report on the client

        Which operations the service has carried out, how the client went on after 401, 409, 412, 429, 503 and lost
        answers, and the findings.
        """
        tally = project_of(projectKey).observer.tally()
        return json_of(report({"projectKey": projectKey}, tally, query.get("allow", ())))


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


@blueprint.at("/runs/<segment:run>/verdict")
class Verdict(Endpoint):
    """Whether a build passes."""

    @blueprint.operation("judgeRun", "Runs", "Verdict", content_type=_PLAIN)
    @blueprint.alt_response(409, schema=ref("Verdict"), description="It does not pass.", content_type=_PLAIN)
    @blueprint.arguments(_allow, location="query")
    def get(self, query: dict[str, Any], run: str) -> Response:
        """Judge a run

        200 if its projects had requests, none of which is unknown after a restart, and no finding but those that
        `allow` names; else 409. The body is the report on all projects of the run, also of those that are gone, as
        text.
        """
        tally = parts().projects.runs.find(run).tally()
        passed, told = verdict(run, tally, query.get("allow", ()))
        return Response(f"{told}\n", 200 if passed else 409, content_type=_PLAIN)
