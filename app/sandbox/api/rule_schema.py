"""The schema of a rule of the sandbox."""

from app.sandbox.api.schema_parts import Document, number, object_, text_
from app.sandbox.rules.reading import LIMITED_REQUESTS_AT_MOST, NAMES_AT_MOST
from app.sandbox.rules.rules import BODIES, CONNECTIONS, DELAY_MS_AT_MOST, METHODS, PHASES


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


EXAMPLES: Document = {
    "name": "busy twice",
    "match": {"method": "POST", "path": "/resource"},
    "times": {"first": 2},
    "phase": "after",
    "status": 503,
    "code": "ServiceUnavailable",
    "message": "Try again later.",
    "retryAfter": 1,
    "delayMs": 1500,
    "jitterMs": 200,
    "connection": "close",
    "headers": {"Warning": '199 - "ordered"'},
    "body": "unknownFields",
    "limit": {"requests": 10, "perSeconds": 1},
    "expireTokens": True,
    "conflict": True,
}
"""What each member may be; the page puts it into a rule."""

_MEMBERS: Document = {
    "name": text_("what answers and logs call it", minLength=1, maxLength=200),
    "match": object_(
        {
            "operationId": {"type": ["string", "array"], "items": {"type": "string"}},
            "method": {"type": "string", "enum": list(METHODS)},
            "path": text_("a regular expression of RE2 for the whole raw path below the project"),
            "client": text_("the id of a client"),
            "query": _wanted("parameters of the query string, decoded"),
            "header": _wanted("headers of the request"),
            "body": {
                "description": "a text: a regular expression of RE2 that is found in it; any other value: JSON"
                " that it contains, each member of an object and each item of an array somewhere",
            },
        },
        description="All of its members have to hold. Requests for tokens have to be named: getToken.",
    ),
    "times": object_(
        {
            "first": number(1, 2**53),
            "after": number(0, 2**53),
            "every": number(1, 2**53),
            "probability": number(0, 1, kind="number"),
            "seed": {"type": "integer", "format": "int64"},
        },
        description="Which of the requests that match are due: of those behind `after`, each that `every`"
        " names, the `first` of these, and these by chance.",
    ),
    "phase": {
        "type": "string",
        "enum": list(PHASES),
        "description": "after: the request is carried out, and then its answer is replaced or lost",
    },
    "status": number(200, 599, "of the answer, in the platform's envelope unless `body` says otherwise"),
    "code": text_("of the error, in place of the usual one of its status"),
    "message": text_("of the error"),
    "retryAfter": number(0, 86_400, "seconds: the header Retry-After"),
    "delayMs": number(0, DELAY_MS_AT_MOST, "the wait before the answer; for stall and drip, how long they are silent"),
    "jitterMs": number(0, DELAY_MS_AT_MOST, "up to so much is added to the delay, by chance"),
    "connection": {
        "type": "string",
        "enum": list(CONNECTIONS),
        "description": "what happens in place of the whole answer: nothing is said, the connection is reset, half of"
        " the body, silence after the head, byte by byte, or no HTTP",
    },
    "headers": {
        "type": "object",
        "maxProperties": NAMES_AT_MOST,
        "additionalProperties": {"type": "string"},
        "description": "headers of the answer, in place of those with these names",
    },
    "body": {
        "oneOf": [
            {"type": "string", "enum": list(BODIES)},
            object_({"json": {}, "contentType": text_()}, ("json",)),
            object_({"text": text_(), "contentType": text_()}, ("text",)),
        ],
        "description": "how the body is altered, or a body of one's own",
    },
    "limit": object_(
        {
            "requests": number(1, LIMITED_REQUESTS_AT_MOST),
            "perSeconds": number(0.001, 3600, kind="number"),
        },
        ("requests", "perSeconds"),
        description="more requests in this time are 429",
    ),
    "expireTokens": {
        "type": "boolean",
        "description": "the token of the request, and all that were issued before, are invalid from now on",
    },
    "conflict": {
        "type": "boolean",
        "description": "another writer changes the resource just before a write that expects a version",
    },
    "matched": {"type": "integer", "minimum": 0, "readOnly": True},
    "acted": {"type": "integer", "minimum": 0, "readOnly": True},
    "neverActs": {"type": "string", "readOnly": True, "description": "why it cannot act, or not any more"},
}

RULE = object_(
    {
        name: {**schema, "examples": [EXAMPLES[name]]} if name in EXAMPLES else schema
        for name, schema in _MEMBERS.items()
    }
)
