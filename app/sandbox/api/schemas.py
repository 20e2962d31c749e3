"""The schemas of the document of the sandbox: the bodies and answers of its routes."""

from collections.abc import Mapping

from app.identity.token_profile import SCOPE_NAMES, TOKEN_LIFETIME_S
from app.sandbox.api.explain import OPERATIONS
from app.sandbox.api.inputs import KEEPABLE, RESOURCES_AT_MOST, TTL_S
from app.sandbox.api.report_schema import REPORT_SCHEMAS, RUN
from app.sandbox.api.rule_schema import RULE
from app.sandbox.api.schema_parts import FINDING, KEY, OPTIONAL_TEXT, TIME, Document, number, object_, ref, text_
from app.sandbox.rules.reading import RULES_AT_MOST

_MESSAGE_BODY: Document = {
    "type": ["object", "null"],
    "required": ["size"],
    "properties": {
        "size": {"type": ["integer", "null"], "description": "bytes of the whole body; null if it was not read whole"},
        "text": text_("the first 64 KiB, without tokens and secrets"),
        "base64": text_("the same, if they are no text"),
        "truncated": {"type": "boolean", "const": True},
    },
}
_HEADERS: Document = {
    "type": "array",
    "description": "names and values in their order and spelling",
    "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "string"}},
}


SCHEMAS: Mapping[str, Document] = {
    "ClockOrder": object_(
        {
            "now": {**TIME, "description": "the time that it shows now"},
            "runs": {"type": "boolean", "description": "false: it stands still; true if not given"},
            "offsetSeconds": {"type": "number", "description": "how far it is ahead of real time, in place of now"},
        },
        description="An empty object is real time.",
    ),
    "IdsOrder": object_(
        {"seed": {"type": "integer", "format": "int64"}},
        description="With a seed, ids are a reproducible sequence; an empty object is chance.",
    ),
    "NewProject": object_(
        {
            "projectKey": {**KEY, "description": "one that nothing has used; made if not given"},
            "scope": text_(f"names or scopes, separated by blanks; default: {' '.join(SCOPE_NAMES)}"),
            "ttlSeconds": number(*TTL_S, "after these it is removed; default: 3600"),
            "resources": {
                "oneOf": [
                    number(0, RESOURCES_AT_MOST),
                    {
                        "type": "array",
                        "maxItems": RESOURCES_AT_MOST,
                        "items": object_(
                            {"key": text_(), "objectTypeProperty": {"type": "object"}}, ("objectTypeProperty",)
                        ),
                    },
                ],
                "description": "what it begins with: so many made-up resources, or these, as POST takes them",
            },
            "tokenTtlSeconds": number(1, TOKEN_LIFETIME_S, "how long its tokens are good; default: 172800"),
            "copyOf": {**KEY, "description": "a sandbox project whose resources it begins with"},
            "run": {**RUN, "description": "the run of tests with which its requests are counted"},
            "clock": ref("ClockOrder"),
            "ids": ref("IdsOrder"),
        }
    ),
    "MadeProject": object_(
        {
            "projectKey": KEY,
            "clientId": text_(),
            "clientSecret": text_("shown this once"),
            "scope": text_(),
            "accessToken": text_(),
            "tokenUrl": text_(format="uri"),
            "expiresAt": TIME,
        },
        ("projectKey", "clientId", "clientSecret", "scope", "accessToken", "tokenUrl", "expiresAt"),
    ),
    "Project": object_(
        {
            "projectKey": KEY,
            "createdAt": TIME,
            "expiresAt": TIME,
            "run": {"type": ["string", "null"], "description": "the run of tests that it belongs to"},
            "resources": {"type": "integer", "minimum": 0},
            "requests": {"type": "integer", "minimum": 0, "description": "all of them, also those no longer kept"},
            "tokenTtlSeconds": {"type": "integer"},
            "clock": object_(
                {"now": TIME, "runs": {"type": "boolean"}, "offsetSeconds": {"type": "number"}}, ("now", "runs")
            ),
            "ids": ref("IdsOrder"),
            "snapshots": {
                "type": "array",
                "items": object_({"name": text_(), "createdAt": TIME}, ("name", "createdAt")),
            },
        },
        (
            "projectKey",
            "createdAt",
            "expiresAt",
            "run",
            "resources",
            "requests",
            "tokenTtlSeconds",
            "clock",
            "ids",
            "snapshots",
        ),
    ),
    "ProjectList": object_({"results": {"type": "array", "items": ref("Project")}}, ("results",)),
    "ResetOrder": object_({"keep": {"type": "array", "items": {"type": "string", "enum": list(KEEPABLE)}}}),
    "Rule": RULE,
    "RuleList": object_(
        {"rules": {"type": "array", "maxItems": RULES_AT_MOST, "items": ref("Rule")}},
        ("rules",),
    ),
    "Entry": object_(
        {
            "number": {"type": "integer", "minimum": 1},
            "startedAt": {**TIME, "description": "when it arrived; entries are numbered by it"},
            "endedAt": {
                "type": ["string", "null"],
                "format": "date-time",
                "description": "when its answer had been sent, or its connection had ended",
            },
            "answeredMs": {"type": ["number", "null"], "description": "until its answer began to be sent"},
            "durationMs": {"type": ["number", "null"], "description": "until it ended"},
            "underWay": {"type": "boolean", "description": "it has not ended; what follows may still change"},
            "clientId": OPTIONAL_TEXT,
            "operationId": OPTIONAL_TEXT,
            "request": object_(
                {
                    "method": text_(),
                    "target": text_("as it was sent"),
                    "httpVersion": text_(),
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
                    "sub": text_(),
                    "scopes": {"type": "array", "items": {"type": "string"}},
                    "id": OPTIONAL_TEXT,
                    "expiresAt": TIME,
                },
            },
            "rule": {
                "type": ["object", "null"],
                "description": "what was done on order",
                "properties": {
                    "name": OPTIONAL_TEXT,
                    "number": {"type": ["integer", "null"], "description": "of the last rule that acted"},
                    "all": {
                        "type": "array",
                        "description": "the rules that acted, in their order",
                        "items": object_({"name": OPTIONAL_TEXT, "number": {"type": "integer"}}, ("name", "number")),
                    },
                    "prefer": OPTIONAL_TEXT,
                    "does": {"type": "array", "items": {"type": "string"}},
                    "phase": OPTIONAL_TEXT,
                    "carriedOut": {"type": "boolean"},
                    "replacedStatus": {"type": ["integer", "null"]},
                    "waitedMs": {"type": "integer"},
                },
            },
            "sql": object_(
                {"statements": {"type": "integer"}, "milliseconds": {"type": "number"}},
                ("statements", "milliseconds"),
            ),
            "correlationId": text_(),
            "connection": {
                "type": ["object", "null"],
                "properties": {
                    "number": {"type": "integer"},
                    "request": {"type": "integer", "description": "which request on this connection it was"},
                    "ageMs": {
                        "type": ["number", "null"],
                        "description": "how long the connection had been there when the request arrived",
                    },
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
    "Finding": object_(FINDING, tuple(FINDING)),
    **REPORT_SCHEMAS,
    "IssuedToken": object_(
        {
            "clientId": text_(),
            "scope": text_(),
            "accessToken": text_(),
            "tokenUrl": text_(format="uri"),
            "expiresIn": {"type": "integer", "description": "seconds, by the project's clock"},
        },
        ("clientId", "scope", "accessToken", "tokenUrl", "expiresIn"),
    ),
    "EntryPage": object_(
        {
            "limit": {"type": "integer"},
            "offset": {"type": "integer"},
            "count": {"type": "integer"},
            "total": {"type": "integer"},
            "results": {"type": "array", "items": ref("Entry")},
        },
        ("limit", "offset", "count", "total", "results"),
    ),
    "Archive": object_({"log": {"type": "object"}}, ("log",), description="An HTTP archive, version 1.2."),
    "Question": object_(
        {
            "operationId": {"type": "string", "enum": list(OPERATIONS)},
            "query": text_("the query string, percent-encoded"),
            "execute": {"type": "boolean", "description": "whether the answer is wanted too"},
        },
        ("operationId",),
    ),
    "Explanation": object_(
        {
            "operationId": text_(),
            "tree": {"type": ["object", "null"], "description": "what the query was parsed to"},
            "statements": {
                "type": "array",
                "items": object_(
                    {"sql": text_(), "parameters": {"type": "object"}, "plan": {"type": ["object", "null"]}},
                    ("sql", "parameters", "plan"),
                ),
            },
            "conditions": {
                "type": "array",
                "items": object_({"condition": {"type": "object"}, "index": OPTIONAL_TEXT}, ("condition", "index")),
            },
            "answer": {
                "type": ["object", "boolean"],
                "description": "only with execute: the page, or whether something exists",
            },
        },
        ("operationId", "tree", "statements", "conditions"),
    ),
    "Error": object_(
        {
            "statusCode": {"type": "integer"},
            "message": text_(),
            "errors": {
                "type": "array",
                "description": "a fault in an expression has its parameter, line and column",
                "items": {"type": "object"},
            },
            "error": text_(),
            "error_description": text_(),
        },
        ("statusCode", "message", "errors"),
    ),
}
