"""The schemas of the document of the sandbox: the bodies and answers of its routes."""

from collections.abc import Mapping
from typing import Any

from app.identity.token_profile import SCOPE_NAMES, TOKEN_LIFETIME_S
from app.sandbox.analysis.coverage import State
from app.sandbox.analysis.recovery import Outcome
from app.sandbox.api.explain import OPERATIONS
from app.sandbox.api.inputs import KEEPABLE, RESOURCES_AT_MOST, TTL_S
from app.sandbox.journal.entries import TROUBLES
from app.sandbox.rules.reading import LIMITED_REQUESTS_AT_MOST, NAMES_AT_MOST, RULES_AT_MOST
from app.sandbox.rules.rules import BODIES, CONNECTIONS, DELAY_MS_AT_MOST, METHODS, PHASES
from app.values.project_keys import PROJECT_KEY_PATTERN

Document = dict[str, Any]


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


def number(minimum: float, maximum: float, meaning: str = "", kind: str = "integer") -> Document:
    return {
        "type": kind,
        "minimum": minimum,
        "maximum": maximum,
        **({"description": meaning} if meaning else {}),
    }


def ref(name: str) -> Document:
    return {"$ref": f"#/components/schemas/{name}"}


KEY = {"type": "string", "pattern": f"^{PROJECT_KEY_PATTERN}$"}
_TIME = {"type": "string", "format": "date-time"}
_OPTIONAL_TEXT: Document = {"type": ["string", "null"]}
_COUNT: Document = {"type": "integer", "minimum": 0}
_NUMBERS: Document = {"type": "array", "items": {"type": "integer", "minimum": 1}}

_FINDING: Document = {
    "id": _text(),
    "title": _text("what it is"),
    "detail": _text("what exactly was found"),
    "instead": _text("what the client should do"),
    "clauses": {
        "type": "array",
        "items": {"type": "string"},
        "description": "numbers of the specification, whose clauses have anchors in /docs/specification",
    },
}

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


def _wanted(description: str) -> Document:
    """What a rule asks of parameters or headers."""
    texts = {"type": "array", "minItems": 1, "items": {"type": "string"}}
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": NAMES_AT_MOST,
        "additionalProperties": {"oneOf": [{"type": "string"}, texts, {"type": "boolean"}]},
        "description": f"{description}, each with a value or several that it has; true: it is there, false: it is not",
    }


SCHEMAS: Mapping[str, Document] = {
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
            "projectKey": {**KEY, "description": "one that nothing has used; made if not given"},
            "scope": _text(f"names or scopes, separated by blanks; default: {' '.join(SCOPE_NAMES)}"),
            "ttlSeconds": number(*TTL_S, "after these it is removed; default: 3600"),
            "resources": {
                "oneOf": [
                    number(0, RESOURCES_AT_MOST),
                    {
                        "type": "array",
                        "maxItems": RESOURCES_AT_MOST,
                        "items": _object(
                            {"key": _text(), "objectTypeProperty": {"type": "object"}}, ("objectTypeProperty",)
                        ),
                    },
                ],
                "description": "what it begins with: so many made-up resources, or these, as POST takes them",
            },
            "tokenTtlSeconds": number(1, TOKEN_LIFETIME_S, "how long its tokens are good; default: 172800"),
            "copyOf": {**KEY, "description": "a sandbox project whose resources it begins with"},
            "clock": ref("ClockOrder"),
            "ids": ref("IdsOrder"),
        }
    ),
    "MadeProject": _object(
        {
            "projectKey": KEY,
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
            "projectKey": KEY,
            "createdAt": _TIME,
            "expiresAt": _TIME,
            "resources": {"type": "integer", "minimum": 0},
            "requests": {"type": "integer", "minimum": 0, "description": "all of them, also those no longer kept"},
            "tokenTtlSeconds": {"type": "integer"},
            "clock": _object(
                {"now": _TIME, "runs": {"type": "boolean"}, "offsetSeconds": {"type": "number"}}, ("now", "runs")
            ),
            "ids": ref("IdsOrder"),
            "snapshots": {
                "type": "array",
                "items": _object({"name": _text(), "createdAt": _TIME}, ("name", "createdAt")),
            },
        },
        (
            "projectKey",
            "createdAt",
            "expiresAt",
            "resources",
            "requests",
            "tokenTtlSeconds",
            "clock",
            "ids",
            "snapshots",
        ),
    ),
    "ProjectList": _object({"results": {"type": "array", "items": ref("Project")}}, ("results",)),
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
                    "query": _wanted("parameters of the query string, decoded"),
                    "header": _wanted("headers of the request"),
                    "body": {
                        "description": "a text: a regular expression of RE2 that is found in it; any other value: JSON"
                        " that it contains, each member of an object and each item of an array somewhere",
                    },
                },
                description="All of its members have to hold. Requests for tokens have to be named: getToken.",
            ),
            "times": _object(
                {
                    "first": number(1, 2**53),
                    "after": number(0, 2**53),
                    "every": number(1, 2**53),
                    "probability": number(0, 1, kind="number"),
                    "seed": {"type": "integer", "format": "int64"},
                },
                description="Which of the requests that match are due: of those behind `after`, each that `every` names,"
                " the `first` of these, and these by chance.",
            ),
            "phase": {
                "type": "string",
                "enum": list(PHASES),
                "description": "after: the request is carried out, and then its answer is replaced or lost",
            },
            "status": number(200, 599),
            "code": _text(),
            "message": _text(),
            "retryAfter": number(0, 86_400, "seconds"),
            "delayMs": number(0, DELAY_MS_AT_MOST),
            "jitterMs": number(0, DELAY_MS_AT_MOST, "up to so much is added to the delay, by chance"),
            "connection": {"type": "string", "enum": list(CONNECTIONS)},
            "headers": {
                "type": "object",
                "maxProperties": NAMES_AT_MOST,
                "additionalProperties": {"type": "string"},
                "description": "headers of the answer, in place of those with these names",
            },
            "body": {
                "oneOf": [
                    {"type": "string", "enum": list(BODIES)},
                    _object({"json": {}, "contentType": _text()}, ("json",)),
                    _object({"text": _text(), "contentType": _text()}, ("text",)),
                ],
                "description": "how the body is altered, or a body of one's own",
            },
            "limit": _object(
                {
                    "requests": number(1, LIMITED_REQUESTS_AT_MOST),
                    "perSeconds": number(0.001, 3600, kind="number"),
                },
                ("requests", "perSeconds"),
            ),
            "expireTokens": {"type": "boolean"},
            "conflict": {
                "type": "boolean",
                "description": "another writer changes the resource just before a write that expects a version",
            },
            "matched": {"type": "integer", "minimum": 0, "readOnly": True},
            "acted": {"type": "integer", "minimum": 0, "readOnly": True},
            "neverActs": {"type": "string", "readOnly": True, "description": "why it cannot act, or not any more"},
        }
    ),
    "RuleList": _object(
        {"rules": {"type": "array", "maxItems": RULES_AT_MOST, "items": ref("Rule")}},
        ("rules",),
    ),
    "Entry": _object(
        {
            "number": {"type": "integer", "minimum": 1},
            "startedAt": {**_TIME, "description": "when it arrived; entries are numbered by it"},
            "endedAt": {
                "type": ["string", "null"],
                "format": "date-time",
                "description": "when its answer had been sent, or its connection had ended",
            },
            "answeredMs": {"type": ["number", "null"], "description": "until its answer began to be sent"},
            "durationMs": {"type": ["number", "null"], "description": "until it ended"},
            "underWay": {"type": "boolean", "description": "it has not ended; what follows may still change"},
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
                    "number": {"type": ["integer", "null"], "description": "of the last rule that acted"},
                    "all": {
                        "type": "array",
                        "description": "the rules that acted, in their order",
                        "items": _object({"name": _OPTIONAL_TEXT, "number": {"type": "integer"}}, ("name", "number")),
                    },
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
                "description": "the client had closed the connection before its answer, or while that waited",
            },
            "projectTime": {"type": ["string", "null"], "description": "the project's time, if it is not the real one"},
            "repeats": {
                "type": ["integer", "null"],
                "description": "the number of the request that had failed and that this one repeats",
            },
            "findings": {"type": "array", "items": ref("Finding"), "description": "what should not be so"},
        },
        ("number", "startedAt", "endedAt", "durationMs", "underWay", "request", "response", "findings"),
    ),
    "Finding": _object(_FINDING, tuple(_FINDING)),
    "Report": _object(
        {
            "projectKey": KEY,
            "requests": _object({"total": _COUNT, "kept": _COUNT, "underWay": _COUNT}, ("total", "kept", "underWay")),
            "specification": _object(
                {
                    "exercised": _COUNT,
                    "observable": _COUNT,
                    "notObservable": _COUNT,
                    "percent": number(0, 100, "exercised clauses of those that are observable, cut"),
                    "clauses": {
                        "type": "array",
                        "items": _object(
                            {
                                "number": _text("its anchor in /docs/specification"),
                                "level": _text(),
                                "profile": _text(),
                                "text": _text(),
                                "state": {"type": "string", "enum": [str(state) for state in State]},
                                "requests": _NUMBERS,
                            },
                            ("number", "level", "profile", "text", "state", "requests"),
                        ),
                    },
                },
                ("exercised", "observable", "notObservable", "percent", "clauses"),
            ),
            "notations": {
                "type": "array",
                "items": _object(
                    {"id": _text(), "title": _text(), "count": _COUNT, "requests": _NUMBERS},
                    ("id", "title", "count", "requests"),
                ),
            },
            "operations": {
                "type": "array",
                "items": _object(
                    {"operationId": _text("none: an unknown URL or method"), "count": _COUNT},
                    ("operationId", "count"),
                ),
            },
            "statuses": {
                "type": "array",
                "items": _object({"status": _text("none: no answer"), "count": _COUNT}, ("status", "count")),
            },
            "recovery": _object({trouble: ref("Recovery") for trouble in TROUBLES}, TROUBLES),
            "findings": {
                "type": "array",
                "items": _object({**_FINDING, "count": _COUNT, "requests": _NUMBERS}, (*_FINDING, "count", "requests")),
            },
        },
        ("projectKey", "requests", "specification", "notations", "operations", "statuses", "recovery", "findings"),
        description="Numbers of requests are those of the journal, the first 20 of each kind.",
    ),
    "Recovery": _object(
        {
            **{str(outcome): _COUNT for outcome in Outcome},
            "episodes": {
                "type": "array",
                "items": _object(
                    {
                        "requests": _NUMBERS,
                        "outcome": {"type": "string", "enum": [str(outcome) for outcome in Outcome]},
                        "reason": _text(),
                    },
                    ("requests", "outcome", "reason"),
                ),
            },
        },
        (*(str(outcome) for outcome in Outcome), "episodes"),
        description="How the client dealt with requests that failed in one way.",
    ),
    "IssuedToken": _object(
        {
            "clientId": _text(),
            "scope": _text(),
            "accessToken": _text(),
            "tokenUrl": _text(format="uri"),
            "expiresIn": {"type": "integer", "description": "seconds, by the project's clock"},
        },
        ("clientId", "scope", "accessToken", "tokenUrl", "expiresIn"),
    ),
    "EntryPage": _object(
        {
            "limit": {"type": "integer"},
            "offset": {"type": "integer"},
            "count": {"type": "integer"},
            "total": {"type": "integer"},
            "results": {"type": "array", "items": ref("Entry")},
        },
        ("limit", "offset", "count", "total", "results"),
    ),
    "Archive": _object({"log": {"type": "object"}}, ("log",), description="An HTTP archive, version 1.2."),
    "Question": _object(
        {
            "operationId": {"type": "string", "enum": list(OPERATIONS)},
            "query": _text("the query string, percent-encoded"),
            "execute": {"type": "boolean", "description": "whether the answer is wanted too"},
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
            "answer": {
                "type": ["object", "boolean"],
                "description": "only with execute: the page, or whether something exists",
            },
        },
        ("operationId", "tree", "statements", "conditions"),
    ),
    "Error": _object(
        {
            "statusCode": {"type": "integer"},
            "message": _text(),
            "errors": {
                "type": "array",
                "description": "a fault in an expression has its parameter, line and column",
                "items": {"type": "object"},
            },
            "error": _text(),
            "error_description": _text(),
        },
        ("statusCode", "message", "errors"),
    ),
}
