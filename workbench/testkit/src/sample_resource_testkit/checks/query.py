"""``where``: operators, combinations, literals, variables, refusals and limits (profile ``query``)."""

import re
from datetime import UTC, datetime, timedelta

from sample_resource_testkit.checks.finding import (
    Pairs,
    expect_found,
    expect_ids,
    make,
    messages_of,
    refused,
    where,
    with_names,
)
from sample_resource_testkit.checks.names import FLOATS, INTEGERS, OBJECTS, SORTED, TEXTS
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import Made, World

NOTHING = 'id = "none"'

SEVERAL = {
    "two that hold": ([True, True], True),
    "the last does not hold": ([True, False], False),
    "the second of three does not hold": ([True, False, True], False),
}


@check("Q-1")
def where_finds_what_its_predicate_holds_for_and_nothing_else(world: World) -> None:
    first, second = world.make(), world.make()
    for one in (first, second):
        expect_ids(where(world, f'id = "{one.id}"').expect_status(200), [one], "where to find one resource")
    expect_ids(where(world, NOTHING).expect_status(200), [], "where to find nothing")


@check("Q-1", cases=SEVERAL)
def several_where_are_joined_by_and(world: World, several: tuple[list[bool], bool]) -> None:
    made = world.make()
    listed, holds = several
    answer = where(world, *(f'id = "{made.id}"' if each else NOTHING for each in listed)).expect_status(200)
    expect_ids(answer, [made] if holds else [], "what all predicates hold for")


TRUE, FALSE = "version = 1", "version = 2"
"""Conditions on a new resource: one that holds, and one that does not."""


GROUPS = {
    f"{TRUE} and {TRUE}": True,
    f"{TRUE} and {FALSE}": False,
    f"{FALSE} or {TRUE}": True,
    f"{FALSE} or {FALSE}": False,
    f"not({TRUE})": False,
    f"not({FALSE})": True,
    f"not({TRUE} and {FALSE})": True,
    f"not(not({TRUE}))": True,
    f"not({TRUE}) or {TRUE}": True,
    f"({TRUE} or {TRUE}) and {FALSE}": False,
    f"(({TRUE}) and (({FALSE}) or not({FALSE})))": True,
}


@check("Q-12", needs=["Q-1"], cases=with_names(GROUPS))
def conditions_are_combined(world: World, case: tuple[str, bool]) -> None:
    expect_found(world, case[0], world.make(), case[1])


CHAINS = {
    f"{TRUE} or {TRUE} and {FALSE}": True,
    f"{FALSE} and {TRUE} or {TRUE}": True,
    f"{FALSE} or {TRUE} and {TRUE} or {FALSE}": True,
    f"{TRUE} or not({TRUE}) and {FALSE}": True,
}


@check("Q-13", needs=["Q-12"], cases=with_names(CHAINS))
def and_binds_tighter_than_or(world: World, case: tuple[str, bool]) -> None:
    expect_found(world, case[0], world.make(), case[1])


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


@check("Q-31", cases=("a", "Z", "0", "name", "camelCase", "a1", "1a", "007", "in", "a" * 64))
def names_have_letters_and_digits(world: World, name: str) -> None:
    made = world.make()
    expect_found(world, f"key = :{name}", made, True, [(f"var.{name}", made.key)])


@check(
    "Q-37",
    needs=["Q-31"],
    cases={
        "after =": ("key = :name", "name", ()),
        "after in": ("key in :names", "names", ()),
        "in a list": ('key in ("a", :b)', "b", ()),
        "beside one that has a value": ("key = :a and id = :b", "b", (("var.a", "x"),)),
        "in another letter case": ("key = :Name", "Name", (("var.name", "x"),)),
    },
)
def a_variable_without_a_value_is_refused(world: World, predicate: str, name: str, values: Pairs) -> None:
    answer = where(world, predicate, parameters=values)
    refused(answer, begins=f"Malformed parameter: where: Missing parameter value for {name}")


@check(
    "Q-38",
    needs=["Q-33"],
    cases=(
        *("key = :v", "key != :v", "someProperty <> :v", "key < :v", "someProperty >= :v", f"{TEXTS} = :v"),
        *("someProperty matches ignore case :v", f"objectTypeProperty({TEXTS} = :v)"),
    ),
)
def several_values_where_one_is_needed_are_refused(world: World, predicate: str) -> None:
    where(world, predicate, parameters=[("var.v", "a")]).expect_status(200)
    refused(where(world, predicate, parameters=[("var.v", "a"), ("var.v", "b")]))


POSITIONS = {
    'key ilike "kennel"': (1, 6),
    "= 1": (1, 1),
    "key = 'a'": (1, 7),
    "(version = 1 and\n key 5)": (2, 6),
    'someProperty = "ä\U0001f600" ?': (1, 21),
    "version = ": (1, 11),
}


@check("Q-40", needs=["Q-39"], cases=with_names(POSITIONS))
def a_syntax_error_is_told_with_its_position(world: World, case: tuple[str, tuple[int, int]]) -> None:
    predicate, (line, column) = case
    refused(where(world, predicate), "InvalidInput", f"(line {line}, column {column})")


INSIDE = {
    "objectTypeProperty(foo = 1)": "foo",
    f"{OBJECTS}(foo = 1)": "foo",
    f"objectTypeProperty({OBJECTS}(foo = 1))": "foo",
    'objectTypeProperty(key = "a")': "key",
}


@check("Q-42", needs=["Q-1"], cases=with_names(INSIDE))
def an_unknown_member_is_named(world: World, predicate: str, name: str) -> None:
    """The clause leaves open whether ``<name>`` has the path before it."""
    answer = refused(where(world, predicate))
    pattern = re.compile(rf"The field '[^']*\b{name}' does not exist\.")
    answer.expect(any(map(pattern.search, messages_of(answer))), f"a message with {pattern.pattern}")


NUMBER, TEXT, TIME = ("number", "integer"), ("text", "string"), ("date", "time")

WRONG_TYPES = {
    'version = "2"': ("version", NUMBER),
    'version in (1, "2")': ("version", NUMBER),
    "key = 5": ("key", TEXT),
    "someProperty != false": ("someProperty", TEXT),
    'createdAt > "today"': ("createdAt", TIME),
    'createdAt = "2020-13-01"': ("createdAt", TIME),
    f'{INTEGERS} = "1"': (INTEGERS, NUMBER),
    f'{FLOATS} contains any (1, "2")': (FLOATS, NUMBER),
    f"{TEXTS} = 1": (TEXTS, TEXT),
    f"{TEXTS} contains all (true)": (TEXTS, TEXT),
    f'objectTypeProperty({INTEGERS} = "1")': (INTEGERS, NUMBER),
    f'{OBJECTS}(integerExample = "1")': ("integerExample", NUMBER),
}


@check("Q-43", needs=["Q-1"], cases=with_names(WRONG_TYPES))
def a_literal_of_another_type_is_refused(world: World, case: tuple[str, tuple[str, tuple[str, ...]]]) -> None:
    predicate, (name, takes) = case
    answer = refused(where(world, predicate))
    named = re.compile(rf"\b{name}\b.*\b\w*({'|'.join(takes)})", re.DOTALL)
    told = any(map(named.search, messages_of(answer)))
    answer.expect(told, f"a message that names {name} and says that it takes a {takes[0]}", messages_of(answer))


def listed(values: int) -> str:
    """A predicate with this number of values, percent-encoded where needed."""
    return f"where=version+in({','.join(['1'] * values)})"


def compared(times: int) -> str:
    """A predicate with this number of comparisons. It is percent-encoded only where needed, because otherwise the URL
    would be too long."""
    return f"where={'+or+'.join(['id=:a'] * times)}"


TOO_MANY_TERMS = {
    "a list of 501 values": listed(501),
    "501 comparisons": compared(501),
    "two where of 260 terms": f"{compared(260)}&{compared(260)}",
    "a list of 300 values and 300 comparisons": f"{listed(300)}&{compared(300)}",
}


@check("Q-45", needs=["Q-12", "Q-31"], cases=TOO_MANY_TERMS)
def more_terms_are_refused(world: World, query: str) -> None:
    refused(world.get(f"{SORTED}?limit=1&var.a=x&{query}"))
