"""The schemas of the reports on projects and on runs."""

from collections.abc import Mapping

from app.sandbox.analysis.coverage import State
from app.sandbox.analysis.recovery import Outcome
from app.sandbox.api.inputs import RUN_PATTERN
from app.sandbox.api.schema_parts import COUNT, FINDING, KEY, TIME, Document, number, object_, ref, text_
from app.sandbox.journal.entries import TROUBLES

_NUMBERS: Document = {"type": "array", "items": {"type": "integer", "minimum": 1}}

RUN: Document = {"type": "string", "pattern": f"^{RUN_PATTERN}$"}

_SHARE: Document = {
    "exercised": COUNT,
    "observable": COUNT,
    "notObservable": COUNT,
    "percent": number(0, 100, "exercised clauses of those that are observable, cut"),
}

_EXAMPLES: Document = {
    "type": "array",
    "description": "the first requests that it was found in",
    "items": object_(
        {
            "projectKey": KEY,
            "request": {"type": "integer", "description": "its number in the journal of the project"},
            "method": text_(),
            "target": text_("its first 200 characters"),
            "detail": text_("what exactly was found"),
        },
        ("projectKey", "request", "method", "target", "detail"),
    ),
}

_PARTS: Document = {
    "requests": object_({"total": COUNT, "kept": COUNT, "underWay": COUNT}, ("total", "kept", "underWay")),
    "specification": object_(
        {
            **_SHARE,
            "profiles": {
                "type": "array",
                "description": "the same for each profile of the specification",
                "items": object_({"profile": text_(), **_SHARE}, ("profile", *_SHARE)),
            },
            "clauses": {
                "type": "array",
                "items": object_(
                    {
                        "number": text_("its anchor in /docs/specification"),
                        "level": text_(),
                        "profile": text_(),
                        "text": text_(),
                        "state": {"type": "string", "enum": [str(state) for state in State]},
                        "requests": _NUMBERS,
                    },
                    ("number", "level", "profile", "text", "state", "requests"),
                ),
            },
        },
        (*_SHARE, "profiles", "clauses"),
    ),
    "notations": {
        "type": "array",
        "items": object_(
            {"id": text_(), "title": text_(), "count": COUNT, "requests": _NUMBERS},
            ("id", "title", "count", "requests"),
        ),
    },
    "operations": {
        "type": "array",
        "items": object_(
            {"operationId": text_("none: an unknown URL or method"), "count": COUNT}, ("operationId", "count")
        ),
    },
    "statuses": {
        "type": "array",
        "items": object_({"status": text_("none: no answer"), "count": COUNT}, ("status", "count")),
    },
    "recovery": object_({trouble: ref("Recovery") for trouble in TROUBLES}, TROUBLES),
}


def _report(named: Document, finding: Document, description: str) -> Document:
    findings: Document = {"type": "array", "items": object_({**FINDING, **finding}, (*FINDING, *finding))}
    return object_({**named, **_PARTS, "findings": findings}, (*named, *_PARTS, "findings"), description=description)


REPORT_SCHEMAS: Mapping[str, Document] = {
    "Report": _report(
        {"projectKey": KEY},
        {"count": COUNT, "requests": _NUMBERS},
        "Numbers of requests are those of the journal, the first 20 of each kind.",
    ),
    "RunReport": _report(
        {"run": RUN, "projects": {**COUNT, "description": "that were made for it, also those that are gone"}},
        {
            "count": COUNT,
            "requests": {**_NUMBERS, "description": "empty: the examples name them"},
            "examples": _EXAMPLES,
        },
        "As the report on a project. Requests are named with their projects, and 20 of each kind at most.",
    ),
    "Recovery": object_(
        {
            **{str(outcome): COUNT for outcome in Outcome},
            "episodes": {
                "type": "array",
                "items": object_(
                    {
                        "projectKey": {**KEY, "description": "only in the report on a run"},
                        "requests": _NUMBERS,
                        "outcome": {"type": "string", "enum": [str(outcome) for outcome in Outcome]},
                        "reason": text_(),
                    },
                    ("requests", "outcome", "reason"),
                ),
            },
        },
        (*(str(outcome) for outcome in Outcome), "episodes"),
        description="How the client dealt with requests that failed in one way.",
    ),
    "RunList": object_(
        {
            "results": {
                "type": "array",
                "items": object_(
                    {
                        "run": RUN,
                        "createdAt": TIME,
                        "keptUntil": {**TIME, "description": "when it is removed, if none of its projects is left"},
                        "projects": {**COUNT, "description": "that were made for it"},
                        "requests": {**COUNT, "description": "that have ended"},
                    },
                    ("run", "createdAt", "keptUntil", "projects", "requests"),
                ),
            }
        },
        ("results",),
    ),
}
