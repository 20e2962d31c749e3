"""The routes of the sandbox as an OpenAPI 3.1 document of their own, so that ``/openapi.json`` stays the contract.

A test compares its paths and methods with those that are served.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.config import Settings
from app.identity.token_profile import SCOPE_NAMES
from app.sandbox.explain import OPERATIONS
from app.sandbox.journal_store import KEPT
from app.sandbox.orders import KEEPABLE, LIMIT_AT_MOST, RESOURCES_AT_MOST, TTL_S
from app.sandbox.rules import (
    BODIES,
    CONNECTIONS,
    DELAY_MS_AT_MOST,
    LIMITED_REQUESTS_AT_MOST,
    METHODS,
    PHASES,
    RULES_AT_MOST,
)
from app.values.project_keys import PROJECT_KEY_PATTERN

Document = dict[str, Any]

_NAME_PATTERN = "[A-Za-z0-9_-]{1,64}"


def _object(properties: Document, required: tuple[str, ...] = (), **more: Any) -> Document:
    return {
        "type": "object",
        **({"required": list(required)} if required else {}),
        "properties": properties,
        "additionalProperties": False,
        **more,
    }


def _text(meaning: str = "", **more: Any) -> Document:
    return {"type": "string", **({"description": meaning} if meaning else {}), **more}


def _number(minimum: float, maximum: float, meaning: str = "", kind: str = "integer") -> Document:
    return {
        "type": kind,
        "minimum": minimum,
        "maximum": maximum,
        **({"description": meaning} if meaning else {}),
    }


def _ref(name: str) -> Document:
    return {"$ref": f"#/components/schemas/{name}"}


_KEY = {"type": "string", "pattern": f"^{PROJECT_KEY_PATTERN}$"}
_TIME = {"type": "string", "format": "date-time"}
_OPTIONAL_TEXT: Document = {"type": ["string", "null"]}

_MESSAGE_BODY: Document = {
    "type": ["object", "null"],
    "required": ["size"],
    "properties": {
        "size": {"type": ["integer", "null"], "description": "bytes of the whole body; null if it was not read whole"},
        "text": _text("the first 64 KiB, without tokens and secrets"),
        "base64": _text("the same, if they are no text"),
        "truncated": {"type": "boolean", "const": True},
    },
}
_HEADERS: Document = {
    "type": "array",
    "description": "names and values in their order and spelling",
    "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "string"}},
}

_SCHEMAS: Mapping[str, Document] = {
    "ClockOrder": _object(
        {
            "now": {**_TIME, "description": "the time that it shows now"},
            "runs": {"type": "boolean", "description": "false: it stands still; true if not given"},
            "offsetSeconds": {"type": "number", "description": "how far it is ahead of real time, in place of now"},
        },
        description="An empty object is real time.",
    ),
    "IdsOrder": _object(
        {"seed": {"type": "integer", "format": "int64"}},
        description="With a seed, ids are a reproducible sequence; an empty object is chance.",
    ),
    "NewProject": _object(
        {
            "projectKey": {**_KEY, "description": "one that nothing has used; made if not given"},
            "scope": _text(f"names or scopes, separated by blanks; default: {' '.join(SCOPE_NAMES)}"),
            "ttlSeconds": _number(*TTL_S, "after these it is removed; default: 3600"),
            "resources": _number(0, RESOURCES_AT_MOST, "made-up resources that it begins with"),
            "copyOf": {**_KEY, "description": "a sandbox project whose resources it begins with"},
            "clock": _ref("ClockOrder"),
            "ids": _ref("IdsOrder"),
        }
    ),
    "MadeProject": _object(
        {
            "projectKey": _KEY,
            "clientId": _text(),
            "clientSecret": _text("shown this once"),
            "scope": _text(),
            "accessToken": _text(),
            "tokenUrl": _text(format="uri"),
            "expiresAt": _TIME,
        },
        ("projectKey", "clientId", "clientSecret", "scope", "accessToken", "tokenUrl", "expiresAt"),
    ),
    "Project": _object(
        {
            "projectKey": _KEY,
            "createdAt": _TIME,
            "expiresAt": _TIME,
            "resources": {"type": "integer", "minimum": 0},
            "requests": {"type": "integer", "minimum": 0, "description": "all of them, also those no longer kept"},
            "clock": _object(
                {"now": _TIME, "runs": {"type": "boolean"}, "offsetSeconds": {"type": "number"}}, ("now", "runs")
            ),
            "ids": _ref("IdsOrder"),
            "snapshots": {
                "type": "array",
                "items": _object({"name": _text(), "createdAt": _TIME}, ("name", "createdAt")),
            },
        },
        ("projectKey", "createdAt", "expiresAt", "resources", "requests", "clock", "ids", "snapshots"),
    ),
    "ProjectList": _object({"results": {"type": "array", "items": _ref("Project")}}, ("results",)),
    "ResetOrder": _object({"keep": {"type": "array", "items": {"type": "string", "enum": list(KEEPABLE)}}}),
    "Rule": _object(
        {
            "name": _text("what answers and logs call it", minLength=1, maxLength=200),
            "match": _object(
                {
                    "operationId": {"type": ["string", "array"], "items": {"type": "string"}},
                    "method": {"type": "string", "enum": list(METHODS)},
                    "path": _text("a regular expression of RE2 for the whole raw path below the project"),
                    "client": _text("the id of a client"),
                },
                description="All of its members have to hold.",
            ),
            "times": _object(
                {
                    "first": _number(1, 2**53),
                    "after": _number(0, 2**53),
                    "every": _number(1, 2**53),
                    "probability": _number(0, 1, kind="number"),
                    "seed": {"type": "integer", "format": "int64"},
                },
                description="Which of the requests that match are due; one of the first four members.",
            ),
            "phase": {
                "type": "string",
                "enum": list(PHASES),
                "description": "after: the request is carried out, and then its answer is replaced or lost",
            },
            "status": _number(400, 599),
            "code": _text(),
            "message": _text(),
            "retryAfter": _number(0, 86_400, "seconds"),
            "delayMs": _number(0, DELAY_MS_AT_MOST),
            "jitterMs": _number(0, DELAY_MS_AT_MOST, "up to so much is added to the delay, by chance"),
            "connection": {"type": "string", "enum": list(CONNECTIONS)},
            "body": {"type": "string", "enum": list(BODIES)},
            "limit": _object(
                {
                    "requests": _number(1, LIMITED_REQUESTS_AT_MOST),
                    "perSeconds": _number(0.001, 3600, kind="number"),
                },
                ("requests", "perSeconds"),
            ),
            "expireTokens": {"type": "boolean"},
            "matched": {"type": "integer", "minimum": 0, "readOnly": True},
            "acted": {"type": "integer", "minimum": 0, "readOnly": True},
        }
    ),
    "RuleList": _object(
        {"rules": {"type": "array", "maxItems": RULES_AT_MOST, "items": _ref("Rule")}},
        ("rules",),
    ),
    "Entry": _object(
        {
            "number": {"type": "integer", "minimum": 1},
            "startedAt": _TIME,
            "durationMs": {"type": "number"},
            "clientId": _OPTIONAL_TEXT,
            "operationId": _OPTIONAL_TEXT,
            "request": _object(
                {
                    "method": _text(),
                    "target": _text("as it was sent"),
                    "httpVersion": _text(),
                    "headers": _HEADERS,
                    "body": _MESSAGE_BODY,
                },
                ("method", "target", "httpVersion", "headers", "body"),
            ),
            "response": {
                "type": ["object", "null"],
                "description": "null if nothing was answered",
                "required": ["status", "headers", "body"],
                "properties": {"status": {"type": "integer"}, "headers": _HEADERS, "body": _MESSAGE_BODY},
            },
            "token": {
                "type": ["object", "null"],
                "description": "what the token says, if it was valid",
                "properties": {
                    "sub": _text(),
                    "scopes": {"type": "array", "items": {"type": "string"}},
                    "id": _OPTIONAL_TEXT,
                    "expiresAt": _TIME,
                },
            },
            "rule": {
                "type": ["object", "null"],
                "description": "what was done on order",
                "properties": {
                    "name": _OPTIONAL_TEXT,
                    "number": {"type": ["integer", "null"]},
                    "prefer": _OPTIONAL_TEXT,
                    "does": {"type": "array", "items": {"type": "string"}},
                    "phase": _OPTIONAL_TEXT,
                    "carriedOut": {"type": "boolean"},
                    "replacedStatus": {"type": ["integer", "null"]},
                    "waitedMs": {"type": "integer"},
                },
            },
            "sql": _object(
                {"statements": {"type": "integer"}, "milliseconds": {"type": "number"}},
                ("statements", "milliseconds"),
            ),
            "correlationId": _text(),
            "connection": {
                "type": ["object", "null"],
                "properties": {
                    "number": {"type": "integer"},
                    "request": {"type": "integer", "description": "which request on this connection it was"},
                },
            },
            "clientGone": {
                "type": "boolean",
                "description": "the client had closed the connection before it was answered",
            },
            "projectTime": {"type": ["string", "null"], "description": "the project's time, if it is not the real one"},
        },
        ("number", "startedAt", "durationMs", "request", "response"),
    ),
    "EntryPage": _object(
        {
            "limit": {"type": "integer"},
            "offset": {"type": "integer"},
            "count": {"type": "integer"},
            "total": {"type": "integer"},
            "results": {"type": "array", "items": _ref("Entry")},
        },
        ("limit", "offset", "count", "total", "results"),
    ),
    "Archive": _object({"log": {"type": "object"}}, ("log",), description="An HTTP archive, version 1.2."),
    "Question": _object(
        {
            "operationId": {"type": "string", "enum": list(OPERATIONS)},
            "query": _text("the query string, percent-encoded"),
        },
        ("operationId",),
    ),
    "Explanation": _object(
        {
            "operationId": _text(),
            "tree": {"type": ["object", "null"], "description": "what the query was parsed to"},
            "statements": {
                "type": "array",
                "items": _object(
                    {"sql": _text(), "parameters": {"type": "object"}, "plan": {"type": ["object", "null"]}},
                    ("sql", "parameters", "plan"),
                ),
            },
            "conditions": {
                "type": "array",
                "items": _object({"condition": {"type": "object"}, "index": _OPTIONAL_TEXT}, ("condition", "index")),
            },
        },
        ("operationId", "tree", "statements", "conditions"),
    ),
    "Error": _object(
        {
            "statusCode": {"type": "integer"},
            "message": _text(),
            "errors": {"type": "array", "items": {"type": "object"}},
            "error": _text(),
            "error_description": _text(),
        },
        ("statusCode", "message", "errors"),
    ),
}

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
        "In their order, with how often each has matched and acted.", answer="RuleList",
    ),
    _Operation(
        "put", f"{_ONE}/rules", "setRules", "Faults", "Replace the rules",
        "The first rule that matches a request and is due acts on it. A rule that cannot be is refused with its place,"
        " and none of the list is taken.",
        "RuleList", _RULES_EXAMPLE,
    ),
    _Operation("delete", f"{_ONE}/rules", "endRules", "Faults", "End all rules", "As an empty list does."),
    _Operation(
        "get", f"{_ONE}/requests", "listRequests", "Journal", "List requests",
        f"The last {KEPT:,} requests, newest first; with `Accept: text/event-stream` each as it is answered.",
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
        "post", f"{_ONE}/explain", "explainRead", "Explain", "Explain a read",
        "What a query is parsed to, its SQL, PostgreSQL's plan, and which index serves each condition.",
        "Question", {"operationId": "listResourcesSorted", "query": "where=version%20%3E%203"}, "Explanation",
    ),
)  # fmt: skip

ROUTES = frozenset((operation.method.upper(), operation.path) for operation in _OPERATIONS)
"""The methods and paths that the document describes."""

_PARAMETERS: Mapping[str, Document] = {
    "projectKey": {"in": "path", "required": True, "schema": _KEY, "description": "a sandbox project"},
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
    "limit": {"in": "query", "schema": _number(0, LIMIT_AT_MOST), "description": "entries; 20 if not given"},
    "offset": {"in": "query", "schema": _number(0, KEPT), "description": "entries to skip"},
    "status": {"in": "query", "schema": _number(100, 599), "description": "only with this status"},
    "operationId": {"in": "query", "schema": {"type": "string"}, "description": "only of this operation"},
    "method": {
        "in": "query",
        "schema": {"type": "string", "enum": list(METHODS)},
        "description": "only with this method",
    },
    "Last-Event-ID": {
        "in": "header",
        "schema": {"type": "string"},
        "description": "the last event that a stream has had",
    },
}

_TAGS = {
    "Projects": "Throwaway projects, their snapshots, clocks and ids.",
    "Faults": "Rules that make answers fail.",
    "Journal": "What clients have sent and got.",
    "Explain": "What a query means.",
}

_ERRORS = {
    "400": "The order cannot be carried out; each fault says where.",
    "401": "The bearer token of SANDBOX_TOKEN is missing.",
    "403": "A foreign Host or Origin.",
    "404": "The sandbox has made no such project.",
    "415": "The body is no JSON.",
    "503": "The database is away or busy.",
}


def document(settings: Settings) -> Document:
    """The document, for a service with these settings."""
    paths: Document = {}
    for operation in _OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sample Resource Service: sandbox",
            "version": "v1",
            "description": "Throwaway projects for those who test clients: faults on order, a clock and ids of their"
            " own, and a journal of what the client really sent. `docs/sandbox.md` is a tour.",
            "contact": {"name": "Whoever runs this server"},
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": settings.base_url, "description": "this server"}],
        "tags": [{"name": name, "description": meaning} for name, meaning in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(_SCHEMAS.items())),
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
            "content": {"application/json": {"schema": _ref(operation.body), "example": operation.example}},
        }
    return made


def _status(operation: _Operation) -> int:
    return operation.status if operation.answer is not None else 204


def _answer(operation: _Operation) -> Document:
    if operation.answer is None:
        return {"description": "Done."}
    content: Document = {}
    for media_type in operation.media_types:
        schema = _ref(operation.answer) if media_type == "application/json" else {"type": "string"}
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
        code: {"description": _ERRORS[code], "content": {"application/json": {"schema": _ref("Error")}}}
        for code in sorted(codes)
    }
