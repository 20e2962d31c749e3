"""The routes of the sandbox, below ``/sandbox``. Only registered with ``SANDBOX=on``; the guard runs before each."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from flask import Blueprint, Flask, Response, current_app, request

from app import errors
from app.http.answers import html_answer, json_answer
from app.http.arguments import Endpoint
from app.http.bodies import JSON
from app.http.hangups import has_hung_up
from app.identity.scopes import public
from app.openapi.document import described_views
from app.routes import sandbox_page
from app.routes.services import database
from app.sandbox.analysis.report import report
from app.sandbox.analysis.report_junit import as_junit
from app.sandbox.analysis.report_page import PAGE_POLICY, as_page
from app.sandbox.api import inputs
from app.sandbox.api.addresses import base_url_of
from app.sandbox.api.document import document
from app.sandbox.api.explain import explain
from app.sandbox.api.guard import Guard
from app.sandbox.faults import conflicts
from app.sandbox.faults.requests import TOKEN_PATH
from app.sandbox.journal import store as journal_store
from app.sandbox.journal.store import Narrowing
from app.sandbox.projects import store as project_store
from app.sandbox.projects.clock import check_clock
from app.sandbox.projects.ids import check_ids
from app.sandbox.projects.lifecycle import not_found
from app.sandbox.projects.model import SandboxProject
from app.sandbox.reading.har import archive
from app.sandbox.reading.lists import entries_of
from app.sandbox.reading.stream import Known
from app.sandbox.rules.idle import why_it_never_acts
from app.sandbox.rules.matching import TOKEN_OPERATION
from app.sandbox.rules.reading import rules_check
from app.sandbox.service import Sandbox
from app.values.large_values import beside_other_requests

blueprint = Blueprint("sandbox", __name__, url_prefix="/sandbox")

PROJECT = "/projects/<project_key:sandbox_key>"

_EVENTS = "text/event-stream"
_HTML = "text/html"
_XML = "application/xml"

AnyClass = TypeVar("AnyClass", bound=type[Endpoint])


def _at(path: str) -> Callable[[AnyClass], AnyClass]:
    """Serve a path of the sandbox; its guard is in place of scopes, so all methods are public to the gate."""

    def register(view: AnyClass) -> AnyClass:
        for method in view.methods or ():
            public(getattr(view, method.lower()))
        blueprint.add_url_rule(path, view_func=view.as_view(view.__name__))
        return view

    return register


def install(app: Flask, guard: Guard) -> None:
    """Register the routes."""
    app.extensions["sandbox_guard"] = guard
    methods = app.extensions["sandbox_operations"] = _operations(app)
    app.extensions["sandbox_rules_check"] = rules_check(frozenset(methods))
    app.register_blueprint(blueprint)


def _operations(app: Flask) -> dict[str, frozenset[str]]:
    """The operations that rules may name, with their methods: those whose path has a project, and that for tokens."""
    found: dict[str, frozenset[str]] = {}
    for rule, method, _, described in described_views(app):
        if "project_key" in rule.arguments or described.id == TOKEN_OPERATION:
            found[described.id] = found.get(described.id, frozenset()) | {method.upper()}
    return found


@blueprint.before_request
def _check_caller() -> None:  # pyright: ignore[reportUnusedFunction] -- Flask calls it
    guard: Guard = current_app.extensions["sandbox_guard"]
    guard.check(is_public=request.endpoint in _PUBLIC)
    if request.method in ("POST", "PUT") and request.content_length and request.mimetype != JSON:
        raise errors.unsupported_media_type(JSON)


@blueprint.after_request
def _forbid_caching(answer: Response) -> Response:  # pyright: ignore[reportUnusedFunction] -- Flask calls it
    answer.headers.setdefault("Cache-Control", "no-store")
    return answer


def _sandbox() -> Sandbox:
    return current_app.extensions["sandbox"]


def _project(sandbox_key: str) -> SandboxProject:
    """The project of the path.

    :raises ApiError: 404 if the sandbox has not made it.
    """
    found = _sandbox().registry.find(sandbox_key)
    if found is None or found.is_removed:
        raise not_found(sandbox_key)
    return found


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


@_at("")
class Page(Endpoint):
    """The page for people."""

    def get(self) -> Response:
        """Answer the page."""
        return sandbox_page.page()


@_at("/page/<segment:asset>")
class Assets(Endpoint):
    """What the page loads."""

    def get(self, asset: str) -> Response:
        """Answer a style sheet, script or icon."""
        return sandbox_page.asset(asset)


_PUBLIC = frozenset(f"{blueprint.name}.{view.__name__}" for view in (Page, Assets))
"""Views that need no token; the page asks for it."""


@_at("/openapi.json")
class OpenApi(Endpoint):
    """The document of these routes."""

    def get(self) -> Response:
        """Answer the OpenAPI document."""
        return _json(document(_base_url()))


@_at("/projects")
class AllProjects(Endpoint):
    """All sandbox projects."""

    def get(self) -> Response:
        """List the projects, oldest first."""
        return _json({"results": _sandbox().projects.described()})

    def post(self) -> Response:
        """Make a project."""
        order = inputs.read_project(request)
        made = _sandbox().projects.make(order, _token_url())
        answer = _json(made, 201)
        answer.headers["Location"] = f"{request.script_root}/sandbox/projects/{made['projectKey']}"
        return answer


@_at(PROJECT)
class OneProject(Endpoint):
    """One sandbox project."""

    def get(self, sandbox_key: str) -> Response:
        """Describe the project."""
        return _json(_sandbox().projects.described(sandbox_key)[0])

    def delete(self, sandbox_key: str) -> Response:
        """Remove the project."""
        _project(sandbox_key)
        _sandbox().projects.remove(sandbox_key)
        return _done()


@_at(f"{PROJECT}/tokens")
class Tokens(Endpoint):
    """Tokens of the project's client."""

    def post(self, sandbox_key: str) -> Response:
        """Issue one, for a tester who does not have the client's secret."""
        return _json(_sandbox().projects.issue_token(_project(sandbox_key), _token_url()), 201)


@_at(f"{PROJECT}/reset")
class Reset(Endpoint):
    """The project as it was when it was made."""

    def post(self, sandbox_key: str) -> Response:
        """Reset the project."""
        kept = inputs.read_checked(request, inputs.check_reset)
        _sandbox().projects.reset(sandbox_key, keep_rules="rules" in kept, keep_requests="requests" in kept)
        return _done()


@_at(f"{PROJECT}/snapshots/<segment:name>")
class Snapshot(Endpoint):
    """A snapshot."""

    def put(self, sandbox_key: str, name: str) -> Response:
        """Keep what the project holds."""
        _sandbox().projects.save(sandbox_key, inputs.snapshot_name(name))
        return _done()


@_at(f"{PROJECT}/snapshots/<segment:name>/restore")
class Restore(Endpoint):
    """A snapshot, to be brought back."""

    def post(self, sandbox_key: str, name: str) -> Response:
        """Let the project hold what it held."""
        _sandbox().projects.restore(sandbox_key, inputs.snapshot_name(name))
        return _done()


@_at(f"{PROJECT}/clock")
class Clock(Endpoint):
    """The project's clock."""

    def put(self, sandbox_key: str) -> Response:
        """Set it."""
        _sandbox().projects.set_clock(sandbox_key, inputs.read_checked(request, check_clock))
        return _done()

    def delete(self, sandbox_key: str) -> Response:
        """Let it show real time."""
        _sandbox().projects.set_clock(sandbox_key, {})
        return _done()


@_at(f"{PROJECT}/ids")
class Ids(Endpoint):
    """Where the project's ids come from."""

    def put(self, sandbox_key: str) -> Response:
        """Begin a sequence, or end it."""
        _sandbox().projects.set_ids(sandbox_key, inputs.read_checked(request, check_ids))
        return _done()

    def delete(self, sandbox_key: str) -> Response:
        """Make ids by chance."""
        _sandbox().projects.set_ids(sandbox_key, {})
        return _done()


@_at(f"{PROJECT}/rules")
class Rules(Endpoint):
    """The project's rules."""

    def get(self, sandbox_key: str) -> Response:
        """Show them with how often each has matched and acted."""
        project = _project(sandbox_key)
        methods = current_app.extensions["sandbox_operations"]
        shown: list[dict[str, Any]] = []
        for rule, matched, acted in _sandbox().projects.rules(project):
            why = why_it_never_acts(project.rules, rule, matched, methods, conflicts.OPERATIONS)
            never = {} if why is None else {"neverActs": why}
            shown.append({**json.loads(rule.source), "matched": matched, "acted": acted, **never})
        return _json({"rules": shown})

    def put(self, sandbox_key: str) -> Response:
        """Replace them."""
        check = current_app.extensions["sandbox_rules_check"]
        rules = inputs.read_checked(request, check, optional=False, takes_long=True)
        _sandbox().projects.set_rules(sandbox_key, rules)
        return _done()

    def delete(self, sandbox_key: str) -> Response:
        """End them."""
        _sandbox().projects.set_rules(sandbox_key, "[]")
        return _done()


@_at(f"{PROJECT}/requests")
class Requests(Endpoint):
    """The journal."""

    def get(self, sandbox_key: str) -> Response:
        """Answer a page, newest first, or stream what is added."""
        project = _project(sandbox_key)
        if request.accept_mimetypes.best_match([JSON, _EVENTS], JSON) == _EVENTS:
            return _stream(project.key)
        narrowing, limit, offset = inputs.read_narrowing(request, paged=True)
        _sandbox().projects.flush(project.key)
        page, total = _sandbox().readings.page(project.key, narrowing, limit, offset)
        texts = [text for _, text in reversed(page)]
        head = f'"limit":{limit},"offset":{offset},"count":{len(texts)},"total":{total}'
        return json_answer(f'{{{head},"results":[{",".join(texts)}]}}')


def _stream(project_key: str) -> Response:
    known = Known.read(request.headers.get("Last-Event-ID", ""))
    client, registry = request.environ.get("gunicorn.socket"), _sandbox().registry
    answer = Response(
        _sandbox().streams.events(
            project_key, known, lambda: has_hung_up(client), lambda: registry.find(project_key) is not None
        ),
        content_type=_EVENTS,
    )
    answer.headers["X-Accel-Buffering"] = "no"  # nginx would keep events back
    return answer


@_at(f"{PROJECT}/requests.har")
class Archive(Endpoint):
    """The journal as an HTTP archive."""

    def get(self, sandbox_key: str) -> Response:
        """Answer all entries, oldest first."""
        project = _project(sandbox_key)
        narrowing, _, _ = inputs.read_narrowing(request, paged=False)
        _sandbox().projects.flush(project.key)
        entries, _ = _sandbox().readings.page(project.key, narrowing)
        base_url = _base_url()
        answer = json_answer(beside_other_requests(lambda: archive(entries, base_url)))
        answer.headers["Content-Disposition"] = f'attachment; filename="{project.key}.har"'
        return answer


@_at(f"{PROJECT}/requests/<int:number>")
class OneRequest(Endpoint):
    """An entry of the journal."""

    def get(self, sandbox_key: str, number: int) -> Response:
        """Answer the entry."""
        project = _project(sandbox_key)
        _sandbox().projects.flush(project.key)
        found, _ = _sandbox().readings.page(project.key, Narrowing(number=number))
        if not found:
            raise errors.ApiError(
                [errors.Fault("ResourceNotFound", f"The journal of '{sandbox_key}' has no request {number}.")]
            )
        return json_answer(found[0][1])


@_at(f"{PROJECT}/report")
class Report(Endpoint):
    """What a client has exercised, and how it dealt with what went wrong."""

    def get(self, sandbox_key: str) -> Response:
        """Report on the journal, as JSON, as a page that stands alone, or as JUnit XML."""
        project = _project(sandbox_key)
        _sandbox().projects.flush(project.key)
        with database().connection(project.key) as connection:
            kept = journal_store.listed(connection, project.key)
            total = project_store.count_requests(connection, project.key)
        return _report(beside_other_requests(lambda: report(project.key, entries_of(kept), total)))


def _report(made: Mapping[str, Any]) -> Response:
    """A report in the form that the request accepts."""
    form = request.accept_mimetypes.best_match([JSON, _HTML, _XML], JSON)
    if form == _HTML:
        answer = html_answer(as_page(made, _base_url()), PAGE_POLICY)
    elif form == _XML:
        answer = Response(as_junit(made), content_type=f"{_XML}; charset=utf-8")
    else:
        answer = _json(made)
    answer.headers["Vary"] = "Accept"
    return answer


@_at("/runs")
class Runs(Endpoint):
    """All runs of tests."""

    def get(self) -> Response:
        """List the runs, oldest first."""
        return _json({"results": _sandbox().runs.described()})


@_at("/runs/<segment:run>")
class OneRun(Endpoint):
    """A run of tests."""

    def delete(self, run: str) -> Response:
        """Remove the run; its projects stay."""
        _sandbox().runs.remove(run)
        return _done()


@_at("/runs/<segment:run>/report")
class RunReport(Endpoint):
    """What the projects of a run have exercised together."""

    def get(self, run: str) -> Response:
        """Report on the run, as JSON, as a page, or as JUnit XML."""
        return _report(_sandbox().runs.report(run))


@_at(f"{PROJECT}/explain")
class Explain(Endpoint):
    """What a read would do."""

    def post(self, sandbox_key: str) -> Response:
        """Explain it, and execute it if that is asked for."""
        operation_id, query, execute = inputs.read_checked(request, inputs.check_question, optional=False)
        project = _project(sandbox_key)
        return _json(explain(database(), project.key, operation_id, query, execute=execute))
