"""Predicates that ``where`` refuses, and its limits: the profile ``query``."""

import re

from sample_resource_testkit.checks.finding import (
    messages_of,
    refused,
    where,
    with_names,
)
from sample_resource_testkit.checks.names import FLOATS, INTEGERS, OBJECTS, SORTED, TEXTS
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

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
