"""The body record of 4.9 and 4.13 (2.4), and the date/time record (2.5)."""

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.checks.names import LINKS, complex_path
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

SCALARS = (
    "id",
    "version",
    "key",
    "custom",
    "eigthProperty",
    "ninthProperty",
    "tenthProperty",
    "eleventhPropery",
    "twelthProperty",
    "thirteenthProperty",
    "fourteenthProperty",
    "fifteenthProperty",
)
"""The twelve scalar fields, in the order of the interface."""

PLACES = {"4.9": complex_path(), "4.13": LINKS}

SAMPLE = "2016-02-28T16:41:41.090Z"

PERSON = {"firstName": "Ada", "lastName": "Lovelace"}


def whole_record() -> dict[str, Any]:
    """A record with all fields."""
    scalars = {name: f"text of {name}" for name in SCALARS}
    times = {"createdAt": SAMPLE, "lastModifiedAt": "2016-02-28T16:41:42.091Z"}
    return {**scalars, **times, "createdBy": PERSON, "lastModifiedBy": {"firstName": "Grace", "lastName": "Hopper"}}


def both(values: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """Cases for each named value with both endpoints."""
    return {f"{name} at {place}": (path, value) for place, path in PLACES.items() for name, value in values.items()}


@check("2.4-1", cases=both({name: name for name in SCALARS}))
def a_scalar_field_is_taken(world: World, path: str, name: Any) -> None:
    """The interface does not show the types of these fields, so a server may accept only numbers or only texts."""
    answers = [world.post(path, {name: value}) for value in ("a text", 1, True)]
    taken = [answer for answer in answers if answer.status < 300]
    (taken or answers)[0].expect_success()


TIMES_AND_PERSONS: dict[str, Any] = {
    "lastModifiedAt": {"lastModifiedAt": SAMPLE},
    "both times": {"createdAt": SAMPLE, "lastModifiedAt": "1999-12-31T23:59:59.999Z"},
    "both persons": {"createdBy": PERSON, "lastModifiedBy": {"firstName": "Ünïcödé 😀", "lastName": ""}},
    "everything": whole_record(),
}


@check("2.4-1", cases=both(TIMES_AND_PERSONS))
def times_and_persons_are_taken(world: World, path: str, record: Any) -> None:
    world.post(path, record).expect_success()


KINDS: dict[str, Any] = {
    "a text": "a",
    "an integer": -7,
    "a fraction": 0.5,
    "false": False,
    "an object": {"a": {"b": [1, "c"]}},
    "an array": ["a", 1, None, {"b": True}],
    "null": None,
}


@check("2.4-3", cases=both(KINDS))
def a_scalar_may_have_any_type(world: World, path: str, value: Any) -> None:
    world.post(path, dict.fromkeys(SCALARS, value)).expect_success()


SPARSE: dict[str, Any] = {
    "nothing": {},
    "an empty createdBy": {"createdBy": {}},
    "a first name alone": {"createdBy": {"firstName": "Ada"}},
}


@check("2.4-3", cases=both(SPARSE))
def all_fields_are_optional(world: World, path: str, record: Any) -> None:
    world.post(path, record).expect_success()


ACCEPTED_TIMES = [
    "2016-02-28T16:41:41Z",
    "2016-02-28T16:41:41.090Z",
    "2016-02-28T16:41:41.123456789Z",
    "2016-02-28T16:41:41.090-23:59",
    "2016-02-28T16:41:41-00:00",
    "1969-12-31T23:59:59.999+14:00",
]


@check("2.4-6", needs=["2.4-1"], cases=ACCEPTED_TIMES)
def any_time_of_rfc_3339_is_taken(world: World, text: str) -> None:
    for path in PLACES.values():
        world.post(path, {"createdAt": text, "lastModifiedAt": text}).expect_success()


def date_time_record(world: World, record: dict[str, Any]) -> Answer:
    """Request the date/time record from 4.13."""
    answer = world.post(LINKS, record, headers={"Prefer": "code=202"})
    if answer.status != 202:
        world.not_reachable(f"4.13 has not answered the date/time record but {answer.status}")
    return answer


FORMATS = {
    "dateOnlyExample": r"\d{4}-\d\d-\d\d",
    "timeOnlyExample": r"\d\d:\d\d:\d\d",
    "dateTimeOnlyExample": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
    "dateTimeExample": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",
    "dateTimeExampleDefaultFormat": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",
    "dateTimeExampleRfc": r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) "
    r"\d{4} \d\d:\d\d:\d\d GMT",
}

MOMENTS = ["2016-02-28T16:41:41.090Z", "2016-12-01T00:00:00.000Z", "1999-01-09T03:04:05.006Z"]


@check("2.5-1", cases=list(FORMATS))
def a_field_of_the_record_has_its_format(world: World, field: str) -> None:
    for moment in MOMENTS:
        answer = date_time_record(world, {"lastModifiedAt": moment})
        value = answer.at(field)
        holds = isinstance(value, str) and re.fullmatch(FORMATS[field], value, re.ASCII) is not None
        answer.expect(holds, f"{field} in the format {FORMATS[field]}", value)


@check("2.5-1")
def the_record_has_no_other_fields(world: World) -> None:
    answer = date_time_record(world, {"lastModifiedAt": SAMPLE})
    answer.expect(set(answer.members) == set(FORMATS), f"the fields {sorted(FORMATS)}", sorted(answer.members))


def said(moment: datetime) -> dict[str, str]:
    """The date/time record of a time."""
    moment = moment.astimezone(UTC)
    precise = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        "dateOnlyExample": precise[:10],
        "timeOnlyExample": precise[11:19],
        "dateTimeOnlyExample": precise[:19],
        "dateTimeExample": precise,
        "dateTimeExampleDefaultFormat": precise,
        "dateTimeExampleRfc": format_datetime(moment, usegmt=True),
    }


def zone(hours: float) -> timezone:
    """An offset from UTC."""
    return timezone(timedelta(hours=hours))


SAME_MOMENTS: dict[str, datetime] = {
    "the day before in UTC": datetime(2016, 3, 1, 0, 30, 0, 1_000, zone(1)),
    "the day after in UTC": datetime(2015, 12, 31, 23, 59, 59, 999_000, zone(-5)),
    "before 1970": datetime(1969, 7, 20, 20, 17, 40, 123_000, UTC),
}


@check("2.5-2", needs=["2.5-1"], cases=list(SAME_MOMENTS))
def all_fields_say_the_moment_of_lastmodifiedat(world: World, name: str) -> None:
    moment = SAME_MOMENTS[name]
    text = moment.isoformat(timespec="milliseconds")
    date_time_record(world, {"lastModifiedAt": text}).expect_subset(said(moment))
