"""The schemas of the bodies and queries of the sandbox's routes, except those of rules."""

from functools import partial
from typing import Any

from marshmallow import ValidationError

from app.identity.scopes import SCOPE_NAMES
from app.values import timestamps
from app.values.json_fields import (
    INTEGER_EXPECTED,
    STRING_EXPECTED,
    NestedObject,
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
from sample_resource_sandbox.api.declaring import between, boolean, field, number, text, whole, words
from sample_resource_sandbox.api.rules import MatchSchema
from sample_resource_sandbox.journal.journal import KEPT
from sample_resource_sandbox.projects.clock import ProjectClock
from sample_resource_sandbox.projects.lifecycle import NewProject
from sample_resource_sandbox.rules.matching import Match
from sample_resource_sandbox.rules.rules import METHODS

TTL_S = (60, 604_800)
RESOURCES_AT_MOST = 10_000
LIMIT_AT_MOST = 500
WITHIN_MS_AT_MOST = 60_000

RUN_PATTERN = "[A-Za-z0-9_.-]{1,64}"


def _key(meaning: str, data_key: str) -> Text:
    reason = "1 to 64 letters, digits, underscores and hyphens are expected."
    return Text(PROJECT_KEY_PATTERN, reason, data_key=data_key, metadata={"description": meaning})


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

    seed = field(check_int64, INTEGER_EXPECTED, "of the sequence", type="integer", format="int64")


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

    project_key = _key("one that nothing has used; made if not given", "projectKey")
    scopes = field(
        _check_scope, STRING_EXPECTED, f"names or scopes, separated by blanks; default: {' '.join(SCOPE_NAMES)}",
        data_key="scope", type="string",
    )  # fmt: skip
    ttl_s = whole("after these it is removed; default: 3600", *TTL_S, data_key="ttlSeconds")
    resources = whole("so many made-up ones, which it begins with", 0, RESOURCES_AT_MOST)
    copy_of = _key("a sandbox project whose resources it begins with", "copyOf")
    run = Text(
        RUN_PATTERN, "1 to 64 letters, digits, underscores, dots and hyphens are expected.",
        metadata={"description": "the run of tests with which its requests are counted"},
    )  # fmt: skip
    allow = words("the ids of findings that are expected, and not made", *FINDING_IDS)
    clock = NestedObject(ClockOrderSchema)
    ids = NestedObject(IdsOrderSchema)

    def make(self, data: dict[str, Any]) -> NewProject:
        """Make the order for a new project."""
        if "copy_of" in data and data.get("resources"):
            raise ValidationError({"resources": ["Either resources or copyOf is expected, not both."]})
        scopes: list[tuple[str, str | None]] = data.pop("scopes", [(name, None) for name in SCOPE_NAMES])
        for name, project_key in scopes:
            if project_key not in (None, data.get("project_key")):
                # A client for another project would reach what the sandbox has not made.
                raise ValidationError({"scope": [f"{name}:{project_key} is for another project than this one."]})
        return NewProject(scopes=tuple(dict.fromkeys(name for name, _ in scopes)), **data)


class TokenOrderSchema(StrictSchema):
    """The body of an order for a token, which has no members. The token has all scopes of the project's client."""


class ResetOrderSchema(StrictSchema):
    """An order to reset a project, with what the reset keeps."""

    keep = words("what stays", "rules", "requests")


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
    times = field(
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


def _integer(minimum: int, maximum: int, meaning: str, example: int) -> Parameter:
    bounds = {"minimum": minimum, "maximum": maximum}
    return Parameter(partial(read_integer, **bounds), {"type": "integer", **bounds}, meaning=meaning, example=example)


class NarrowingSchema(QuerySchema):
    """Parameters that choose entries of a journal."""

    status = _integer(100, 599, "only with this status", 200)
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

    limit = _integer(0, LIMIT_AT_MOST, "entries; 20 if not given", 20)
    offset = _integer(0, KEPT, "entries to skip", 0)
    after = _integer(0, 2**53, "only entries with higher numbers, oldest first", 0)
