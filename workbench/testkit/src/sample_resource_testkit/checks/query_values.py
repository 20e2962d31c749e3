"""Fields, literals and notation of ``where``: the profile ``query``."""

from datetime import UTC, datetime, timedelta

from sample_resource_testkit.checks.finding import expect_found, make
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import Made, World

QUOTED = {
    "a quote": 'Birds "only"',
    "a backslash": "C:\\temp",
    "a backslash at the end": "end\\",
    "the characters of an operator": '= (:name) and not("x", *)',
    "a comment of SQL": "x'; -- /* $1 %s */",
    "blanks": "  a  b  ",
}


def quoted(text: str) -> str:
    """A text as a string of the language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@check("Q-21", needs=["Q-2"], cases=QUOTED)
def strings_may_have_any_characters(world: World, text: str) -> None:
    made = make(world, {"someProperty": text})
    expect_found(world, f"someProperty = {quoted(text)}", made, True)
    expect_found(world, f"someProperty = {quoted(text + 'x')}", made, False)


OFFSETS = ("+00:00", "-00:00", "+01:00", "-08:00", "+05:30", "-03:30", "+14:00")


def created(world: World, made: Made) -> datetime:
    """The time when a resource was created.

    :raises NotReachable: if the resource has no ``createdAt``.
    """
    text = made.body.get("createdAt")
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        world.not_reachable(f"the createdAt of a resource is no time: {text}")
    return moment if moment.tzinfo else world.not_reachable(f"the createdAt of a resource has no offset: {text}")


def in_utc(moment: datetime) -> str:
    """A time in the form of RFC 3339, in UTC and with milliseconds, but without an offset."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")


AROUND = ((0, "=", True), (0, "<=", True), (1, "=", False), (1, "<", True), (-1, "<", False))
"""Milliseconds to add to a time, an operator, and whether the comparison of the time with the sum holds."""


@check("Q-25", needs=["Q-2", "Q-3"], cases=OFFSETS)
def times_with_an_offset_are_compared_by_their_moment(world: World, offset: str) -> None:
    made = world.make()
    moment = created(world, made)
    zone = datetime.fromisoformat(f"2020-01-01T00:00:00{offset}").tzinfo
    for shift, operator, holds in AROUND:
        local = (moment + timedelta(milliseconds=shift)).astimezone(zone).replace(tzinfo=None)
        text = local.isoformat(timespec="milliseconds") + offset
        expect_found(world, f'createdAt {operator} "{text}"', made, holds)


NOTATIONS = {"small letters": ("t", "z"), "six digits": ("T", "000Z"), "nine digits": ("T", "000000Z")}


@check("Q-25", needs=["Q-2", "Q-3"], cases=NOTATIONS)
def times_may_have_any_notation_of_rfc_3339(world: World, notation: tuple[str, str]) -> None:
    made = world.make()
    letter, end = notation
    text = in_utc(created(world, made)).replace("T", letter) + end
    expect_found(world, f'createdAt = "{text}"', made, True)
    expect_found(world, f'createdAt > "{text}"', made, False)


@check("Q-26", needs=["Q-2", "Q-3"], cases={"its day": (0, False, True), "the next day": (1, True, False)})
def a_date_means_its_midnight(world: World, case: tuple[int, bool, bool]) -> None:
    made = world.make()
    days, before, after = case
    date = (created(world, made).astimezone(UTC) + timedelta(days=days)).date().isoformat()
    expect_found(world, f'createdAt < "{date}"', made, before)
    expect_found(world, f'createdAt >= "{date}"', made, after)
