"""The routes of the sandbox as an OpenAPI 3.1 document of their own, so that ``/openapi.json`` stays the contract.

A test compares its paths and methods with those that are served.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.sandbox.api.inputs import LIMIT_AT_MOST, RUN_PATTERN
from app.sandbox.api.schema_parts import KEY, Document, number, ref
from app.sandbox.api.schemas import SCHEMAS
from app.sandbox.journal.store import KEPT
from app.sandbox.rules.rules import METHODS

_NAME_PATTERN = "[A-Za-z0-9_-]{1,64}"

_RULES_EXAMPLE = {"rules": [{"name": "503 twice", "times": {"first": 2}, "status": 503, "retryAfter": 1}]}
_MADE_EXAMPLE = {
    "projectKey": "sb-abcdefghijkl",
    "clientId": "V9Ir9nrm0EG1NhaCCVZBIJXe",
    "clientSecret": "(shown once)",
    "scope": "manage_test:sb-abcdefghijkl view_test:sb-abcdefghijkl",
    "accessToken": "(a token)",
    "tokenUrl": "http://127.0.0.1:8000/oauth/token",
    "expiresAt": "2030-01-01T01:00:00.000Z",
}
_TOKEN_EXAMPLE = {
    "clientId": "V9Ir9nrm0EG1NhaCCVZBIJXe",
    "scope": "manage_test:sb-abcdefghijkl view_test:sb-abcdefghijkl",
    "accessToken": "(a token)",
    "tokenUrl": "http://127.0.0.1:8000/oauth/token",
    "expiresIn": 172800,
}


@dataclass(frozen=True, slots=True)
class _Operation:
    """A row: an operation of the sandbox."""

    method: str
    path: str
    id: str
    tag: str
    summary: str
    description: str
    body: str | None = None
    example: Any = None
    answer: str | None = None
    status: int = 200
    media_types: tuple[str, ...] = ("application/json",)
    parameters: tuple[str, ...] = ()
    answer_example: Any = field(default=None)


_ONE = "/sandbox/projects/{projectKey}"
_RUN = "/sandbox/runs/{run}"

_OPERATIONS = (
    _Operation(
        "get", "/sandbox/projects", "listProjects", "Projects", "List projects", "All, oldest first.",
        answer="ProjectList",
    ),
    _Operation(
        "post", "/sandbox/projects", "makeProject", "Projects", "Make a project",
        "A project with a client and a token, ready for requests. Every member of the body is optional, and so is it.",
        "NewProject", {"resources": 100}, "MadeProject", 201, answer_example=_MADE_EXAMPLE,
    ),
    _Operation("get", _ONE, "getProject", "Projects", "Describe a project", "With its counts.", answer="Project"),
    _Operation(
        "delete", _ONE, "removeProject", "Projects", "Remove a project",
        "With everything of it. Its tokens are refused from then on.",
    ),
    _Operation(
        "post", f"{_ONE}/tokens", "issueToken", "Projects", "Issue a token",
        "For a tester who does not have the secret of the project's client. The journal does not show it.",
        answer="IssuedToken", status=201, answer_example=_TOKEN_EXAMPLE,
    ),
    _Operation(
        "post", f"{_ONE}/reset", "resetProject", "Projects", "Reset a project",
        "It becomes what it was when it was made: resources, clock and ids. Snapshots stay; rules and the journal only"
        " if `keep` names them.",
        "ResetOrder", {"keep": ["rules"]},
    ),
    _Operation(
        "put", f"{_ONE}/snapshots/{{name}}", "saveSnapshot", "Projects", "Save a snapshot",
        "Keeps what the project holds under a name, in place of an earlier snapshot with this name.",
    ),
    _Operation(
        "post", f"{_ONE}/snapshots/{{name}}/restore", "restoreSnapshot", "Projects", "Restore a snapshot",
        "The project holds again what it held then, to the byte.",
    ),
    _Operation(
        "put", f"{_ONE}/clock", "setClock", "Projects", "Set the clock",
        "It dates what is written, and decides whether a token has expired.",
        "ClockOrder", {"now": "2030-01-01T00:00:00.000Z", "runs": True},
    ),
    _Operation("delete", f"{_ONE}/clock", "endClock", "Projects", "Return to real time", "As an empty order does."),
    _Operation(
        "put", f"{_ONE}/ids", "setIds", "Projects", "Seed the ids",
        "Resources that are made one after the other get the ids of a reproducible sequence.",
        "IdsOrder", {"seed": 7},
    ),
    _Operation("delete", f"{_ONE}/ids", "endIds", "Projects", "Return to chance", "As an empty order does."),
    _Operation(
        "get", f"{_ONE}/rules", "listRules", "Faults", "Show the rules",
        "In their order, with how often each has matched and acted, and why if it cannot act.", answer="RuleList",
    ),
    _Operation(
        "put", f"{_ONE}/rules", "setRules", "Faults", "Replace the rules",
        "All that match a request and are due act on it in their order, until one gives an answer. A rule that cannot"
        " be is refused with its place, and none of the list is taken.",
        "RuleList", _RULES_EXAMPLE,
    ),
    _Operation("delete", f"{_ONE}/rules", "endRules", "Faults", "End all rules", "As an empty list does."),
    _Operation(
        "get", f"{_ONE}/requests", "listRequests", "Journal", "List requests",
        f"The last {KEPT:,} requests, newest first, numbered by their arrival. With `Accept: text/event-stream` each as"
        " an event `request`, once more as an event `ended` if it was under way then, and an event `finding` for what"
        " a later request shows of an earlier one.",
        answer="EntryPage", media_types=("application/json", "text/event-stream"),
        parameters=("limit", "offset", "status", "operationId", "method", "Last-Event-ID"),
    ),
    _Operation(
        "get", f"{_ONE}/requests/{{number}}", "getRequest", "Journal", "Get a request", "One entry.", answer="Entry"
    ),
    _Operation(
        "get", f"{_ONE}/requests.har", "getArchive", "Journal", "Get an HTTP archive",
        "All entries as HAR 1.2, oldest first.", answer="Archive", parameters=("status", "operationId", "method"),
    ),
    _Operation(
        "get", f"{_ONE}/report", "getReport", "Journal", "Report on the client",
        "Which clauses of the specification its requests have exercised, the notations, operations and statuses that"
        " they met, how it dealt with 401, 409, 429, 503 and lost answers, and the findings. As HTML with"
        " `Accept: text/html`, as JUnit XML with `Accept: application/xml`.",
        answer="Report", media_types=("application/json", "text/html", "application/xml"),
    ),
    _Operation(
        "get", "/sandbox/runs", "listRuns", "Runs", "List runs", "All, oldest first.", answer="RunList"
    ),
    _Operation(
        "get", f"{_RUN}/report", "getRunReport", "Runs", "Report on a run",
        "As that on a project, of all projects that were made with the name of the run, also of those that are gone and"
        " of requests that no journal keeps any more. As HTML with `Accept: text/html`, as JUnit XML with"
        " `Accept: application/xml`.",
        answer="RunReport", media_types=("application/json", "text/html", "application/xml"),
    ),
    _Operation(
        "delete", _RUN, "removeRun", "Runs", "Remove a run",
        "With what was counted. Its projects stay, and are counted no more.",
    ),
    _Operation(
        "post", f"{_ONE}/explain", "explainRead", "Explain", "Explain a read",
        "What a query is parsed to, its SQL, PostgreSQL's plan, and which index serves each condition. With `execute`"
        " its answer too; the journal does not show it.",
        "Question", {"operationId": "listResourcesSorted", "query": "where=version%20%3E%203"}, "Explanation",
    ),
)  # fmt: skip

ROUTES = frozenset((operation.method.upper(), operation.path) for operation in _OPERATIONS)
"""The methods and paths that the document describes."""

_PARAMETERS: Mapping[str, Document] = {
    "projectKey": {"in": "path", "required": True, "schema": KEY, "description": "a sandbox project"},
    "run": {
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": f"^{RUN_PATTERN}$"},
        "description": "the name of a run",
    },
    "name": {
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": f"^{_NAME_PATTERN}$"},
        "description": "the name of a snapshot",
    },
    "number": {
        "in": "path",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
        "description": "the number of a request",
    },
    "limit": {"in": "query", "schema": number(0, LIMIT_AT_MOST), "description": "entries; 20 if not given"},
    "offset": {"in": "query", "schema": number(0, KEPT), "description": "entries to skip"},
    "status": {"in": "query", "schema": number(100, 599), "description": "only with this status"},
    "operationId": {"in": "query", "schema": {"type": "string"}, "description": "only of this operation"},
    "method": {
        "in": "query",
        "schema": {"type": "string", "enum": list(METHODS)},
        "description": "only with this method",
    },
    "Last-Event-ID": {
        "in": "header",
        "schema": {"type": "string"},
        "description": "the id of the last event that a stream has had: a number, and those under way, with commas",
    },
}

_TAGS = {
    "Projects": "Throwaway projects, their snapshots, clocks and ids.",
    "Faults": "Rules that make answers fail.",
    "Journal": "What clients have sent and got.",
    "Runs": "What the projects of one run of tests have exercised together, for a build to be judged by.",
    "Explain": "What a query means.",
}

_ERRORS = {
    "400": "The order cannot be carried out; each fault says where.",
    "401": "The bearer token of SANDBOX_TOKEN is missing.",
    "403": "A foreign Host or Origin.",
    "404": "The sandbox has no such project or run.",
    "415": "The body is no JSON.",
    "503": "The database is away or busy.",
}


def document(base_url: str) -> Document:
    """The document.

    :param base_url: the address of the service.
    """
    paths: Document = {}
    for operation in _OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sample Resource Service: sandbox",
            "version": "v1",
            "description": "Throwaway projects for those who test clients: faults on order, a clock and ids of their"
            " own, and a journal of what the client really sent. The manual is in"
            " [the guide](docs/guide/docs/sandbox.html).",
            "contact": {"name": "Whoever runs this server"},
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": base_url, "description": "this server"}],
        "tags": [{"name": name, "description": meaning} for name, meaning in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(SCHEMAS.items())),
            "securitySchemes": {
                "sandboxToken": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token of `SANDBOX_TOKEN`, if the service has one.",
                }
            },
        },
    }


def _described(operation: _Operation) -> Document:
    names = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
    names += operation.parameters
    made: Document = {
        "operationId": operation.id,
        "summary": operation.summary,
        "description": operation.description,
        "tags": [operation.tag],
        "parameters": [{"name": name, **_PARAMETERS[name]} for name in names],
        "security": [{"sandboxToken": []}, {}],
        "responses": {str(_status(operation)): _answer(operation), **_failures(operation)},
    }
    if operation.body is not None:
        made["requestBody"] = {
            "required": operation.body in ("RuleList", "Question"),
            "content": {"application/json": {"schema": ref(operation.body), "example": operation.example}},
        }
    return made


def _status(operation: _Operation) -> int:
    return operation.status if operation.answer is not None else 204


def _answer(operation: _Operation) -> Document:
    if operation.answer is None:
        return {"description": "Done."}
    content: Document = {}
    for media_type in operation.media_types:
        schema = ref(operation.answer) if media_type == "application/json" else {"type": "string"}
        content[media_type] = {"schema": schema}
        if operation.answer_example is not None:
            content[media_type]["example"] = operation.answer_example
    return {"description": f"{operation.summary}.", "content": content}


def _failures(operation: _Operation) -> Document:
    codes = {"401", "403", "503"}
    if "{" in operation.path:
        codes.add("404")
    if operation.body is not None:
        codes |= {"400", "415"}
    if operation.parameters or "{name}" in operation.path or "{number}" in operation.path:
        codes.add("400")
    return {
        code: {"description": _ERRORS[code], "content": {"application/json": {"schema": ref("Error")}}}
        for code in sorted(codes)
    }
