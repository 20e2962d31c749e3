"""The schemas of the bodies and queries of the sandbox's routes, except those of rules."""

from functools import partial
from typing import Any

from marshmallow import ValidationError

from app.identity.scopes import SCOPE_NAMES
from app.values import timestamps
from app.values.json_fields import (
    NestedObject,
    StrictField,
    StrictSchema,
    Text,
    check_int64,
    check_text,
    object_check,
    refuse_shape,
    refuse_value,
)
from app.values.parameters import Parameter, QuerySchema, read_integer, read_text
from app.values.patterns import PROJECT_KEY_PATTERN
from app.values.suggestions import did_you_mean
from sample_resource_sandbox.analysis.findings import BY_ID as FINDING_IDS
from sample_resource_sandbox.api.declaring import anything, between, boolean, items, number, one_of, text, whole
from sample_resource_sandbox.api.rules import MatchSchema
from sample_resource_sandbox.journal.journal import KEPT
from sample_resource_sandbox.projects.clock import ProjectClock
from sample_resource_sandbox.projects.orders import NewProject
from sample_resource_sandbox.rules.matching import Match
from sample_resource_sandbox.rules.rules import METHODS

TTL_S = (60, 604_800)
RESOURCES_AT_MOST = 10_000
LIMIT_AT_MOST = 500
WITHIN_MS_AT_MOST = 60_000
KEEPABLE = ("rules", "requests")

RUN_PATTERN = "[A-Za-z0-9_.-]{1,64}"

_KEY_REASON = "1 to 64 letters, digits, underscores and hyphens are expected."


def _key(meaning: str) -> Text:
    return Text(PROJECT_KEY_PATTERN, _KEY_REASON, metadata={"description": meaning})


def _check_time(value: Any) -> str:
    found = check_text(value)
    try:
        timestamps.parse(found)
    except ValueError:
        refuse_value(found, "A date-time is expected, as in 2030-01-01T00:00:00.000Z.")
    return found


class ClockOrderSchema(StrictSchema):
    """An order to a project's clock. An empty object sets it to real time."""

    now = text("the time that it shows now", check=_check_time, format="date-time")
    runs = boolean("false: it stands still; true if not given")
    offsetSeconds = number("how far it is ahead of real time, in place of now", -(2**53), 2**53)

    def make(self, data: dict[str, Any]) -> dict[str, Any]:
        """Refuse an order with two times, or with a time that no clock can show."""
        if "now" in data and "offsetSeconds" in data:
            raise ValidationError({"offsetSeconds": ["Either now or offsetSeconds is expected, not both."]})
        ProjectClock().changed(data)
        return data


class IdsOrderSchema(StrictSchema):
    """An order about the ids of new resources: a repeatable sequence with a seed, random ids with an empty object."""

    seed = StrictField(
        check_int64, "JSON Number without a fraction expected.", metadata={"type": "integer", "format": "int64"}
    )


def _check_scope(value: Any) -> list[tuple[str, str | None]]:
    """The check for scopes, separated by blanks. It returns the name and the project, or None, of each."""
    found: list[tuple[str, str | None]] = []
    for scope in check_text(value).split():
        name, colon, project_key = scope.partition(":")
        if name not in SCOPE_NAMES:
            refuse_value(scope, f"A scope is one of {', '.join(SCOPE_NAMES)}.{did_you_mean(name, SCOPE_NAMES)}")
        found.append((name, project_key if colon else None))
    return found or refuse_value("", "At least one scope is expected.")


class NewProjectSchema(StrictSchema):
    """A project to be made; every member is optional."""

    projectKey = _key("one that nothing has used; made if not given")
    scope = StrictField(
        _check_scope, "JSON String expected.",
        metadata={
            "type": "string",
            "description": f"names or scopes, separated by blanks; default: {' '.join(SCOPE_NAMES)}",
        },
    )  # fmt: skip
    ttlSeconds = whole("after these it is removed; default: 3600", *TTL_S)
    resources = whole("so many made-up ones, which it begins with", 0, RESOURCES_AT_MOST)
    copyOf = _key("a sandbox project whose resources it begins with")
    run = Text(
        RUN_PATTERN, "1 to 64 letters, digits, underscores, dots and hyphens are expected.",
        metadata={"description": "the run of tests with which its requests are counted"},
    )  # fmt: skip
    allow = items(
        one_of(*FINDING_IDS), "the ids of findings that are expected, and not made",
        items={"type": "string", "enum": list(FINDING_IDS)},
    )  # fmt: skip
    clock = NestedObject(ClockOrderSchema)
    ids = NestedObject(IdsOrderSchema)

    def make(self, data: dict[str, Any]) -> NewProject:
        """Make the order for a new project."""
        if "copyOf" in data and data.get("resources"):
            raise ValidationError({"resources": ["Either resources or copyOf is expected, not both."]})
        scopes: list[tuple[str, str | None]] = data.get("scope", [(name, None) for name in SCOPE_NAMES])
        for name, project_key in scopes:
            if project_key is not None and project_key != data.get("projectKey"):
                # A client for another project would reach what the sandbox has not made.
                raise ValidationError({"scope": [f"{name}:{project_key} is for another project than this one."]})
        return NewProject(
            project_key=data.get("projectKey"),
            scopes=tuple(dict.fromkeys(name for name, _ in scopes)),
            ttl_s=data.get("ttlSeconds", 3600),
            resources=data.get("resources", 0),
            copy_of=data.get("copyOf"),
            run=data.get("run"),
            allow=tuple(dict.fromkeys(data.get("allow", ()))),
            clock=data.get("clock", {}),
            ids=data.get("ids", {}),
        )


class TokenOrderSchema(StrictSchema):
    """The body of an order for a token, which has no members. The token has all scopes of the project's client."""


class ResetOrderSchema(StrictSchema):
    """An order to reset a project, with what the reset keeps."""

    keep = items(one_of(*KEEPABLE), "what stays", items={"type": "string", "enum": list(KEEPABLE)})


# Expectations


class Expectation:
    """A request that a test expects, and how often.

    :param data: the checked body.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        times = data.get("times", {"atLeast": 1})
        self.at_least: int = times if isinstance(times, int) else times.get("atLeast", 0)
        self.at_most: int | None = times if isinstance(times, int) else times.get("atMost")
        self.within_ms: int = data.get("withinMs", 0)
        self.settle_ms: int = max(data.get("settleMs", 0), 0 if self.at_most else self.within_ms)
        """The time for which the expectation has to stay met, in case too many requests come. For requests that must
        not come, it is the whole time of waiting."""
        self.after: int = data.get("after", 0)
        self.status: int | None = data.get("status")
        self.match = Match(data)
        self.order = data
        """The checked body."""


_count = between(0, 1_000_000)
_range = object_check({"atLeast": _count, "atMost": _count})
_TIMES_EXPECTED = "A number, or {atLeast, atMost}, is expected."


def _check_expected_times(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return _count(value)
    times = _range(value) if isinstance(value, dict) else None
    if not times:
        refuse_shape(_TIMES_EXPECTED)
    if times.get("atLeast", 0) > times.get("atMost", times.get("atLeast", 0)):
        refuse_shape("atMost is less than atLeast.")
    return times


class ExpectationSchema(MatchSchema):
    """A request that a test expects to have been sent, and how often."""

    status = whole("of the answer", 100, 599)
    times = anything(
        _check_expected_times, _TIMES_EXPECTED, "how often; default: at least once",
        oneOf=[
            {"type": "integer", "minimum": 0},
            {"type": "object", "properties": {"atLeast": {"type": "integer"}, "atMost": {"type": "integer"}}},
        ],
    )  # fmt: skip
    after = whole("only requests with higher numbers", 0, 2**53)
    withinMs = whole("how long it may take until it is so", 0, WITHIN_MS_AT_MOST)
    settleMs = whole("how long it has to stay so, where there may be too many", 0, WITHIN_MS_AT_MOST)

    def make(self, data: dict[str, Any]) -> Expectation:
        """Make the expectation. Refuse two waits that are too long together."""
        if data.get("withinMs", 0) + data.get("settleMs", 0) > WITHIN_MS_AT_MOST:
            raise ValidationError({"settleMs": [f"With withinMs it is more than {WITHIN_MS_AT_MOST}."]})
        return Expectation(data)


# Queries


def _read_method(found: str) -> str:
    if found.upper() not in METHODS:
        raise ValidationError(f"One of {', '.join(METHODS)} is expected.")
    return found.upper()


class NarrowingSchema(QuerySchema):
    """Parameters that choose entries of a journal."""

    status = Parameter(
        partial(read_integer, minimum=100, maximum=599), {"type": "integer"}, meaning="only with this status",
        example=200,
    )  # fmt: skip
    operation = Parameter(
        read_text, {"type": "string"}, data_key="operationId", meaning="only of this operation",
        example="listResources",
    )  # fmt: skip
    method = Parameter(
        _read_method, {"type": "string", "enum": list(METHODS)}, meaning="only with this method", example="GET"
    )


def _read_finding(found: str) -> str:
    if found not in FINDING_IDS:
        raise ValidationError(f"There is no finding {found[:100]!r}.{did_you_mean(found, FINDING_IDS)}")
    return found


class AllowSchema(QuerySchema):
    """The parameter of a report and a verdict."""

    allow = Parameter(
        _read_finding, {"type": "string", "enum": list(FINDING_IDS)}, repeatable=True,
        meaning="findings that are expected", example=["connectionForEachRequest"],
    )  # fmt: skip


class PageSchema(NarrowingSchema):
    """Parameters that choose entries of a journal, and a page of them."""

    limit = Parameter(
        partial(read_integer, minimum=0, maximum=LIMIT_AT_MOST),
        {"type": "integer", "minimum": 0, "maximum": LIMIT_AT_MOST}, meaning="entries; 20 if not given", example=20,
    )  # fmt: skip
    offset = Parameter(
        partial(read_integer, minimum=0, maximum=KEPT), {"type": "integer", "minimum": 0, "maximum": KEPT},
        meaning="entries to skip", example=0,
    )  # fmt: skip
    after = Parameter(
        partial(read_integer, minimum=0, maximum=2**53), {"type": "integer", "minimum": 0},
        meaning="only entries with higher numbers, oldest first", example=0,
    )  # fmt: skip
