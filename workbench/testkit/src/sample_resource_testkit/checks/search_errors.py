"""Expressions that searches refuse, and their limits: the profile ``search``."""

import re

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.checks.finding import (
    refused,
    search,
    with_names,
)
from sample_resource_testkit.checks.names import FORM_SEARCH, OBJECTS
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

FILTERS = ("filter", "filter.query")
"""The filters of these checks. ``filter.facets`` has separate checks, so that a server that ignores it fails only
those."""

BROKEN = {
    "no colon": "key",
    "an open string": 'key:"a',
    "an open range": "version:range(1 to 2",
    "a range without to": "version:range(1 2)",
    "a word as a value": "key:abc",
    "more after the end": 'key:"a" "b"',
    "single quotes": "key:'a'",
    "exists with more": "key:exists,missing",
    "an unknown escape": 'key:"a\\n"',
}


def expect_syntax_error(answer: Answer, name: str, expression: str) -> None:
    refused(answer, begins=f"Malformed parameter: {name}: Syntax error while parsing '{expression}'.")


@check("S-47", needs=["S-14"], cases=with_names(BROKEN))
def what_is_no_filter_is_a_syntax_error(world: World, case: tuple[str, str]) -> None:
    name = FILTERS[len(case[0]) % 2]
    expect_syntax_error(search(world, (name, case[1])), name, case[1])


@check(
    "S-47",
    needs=["S-28"],
    cases=(
        *("version:", "version as", "version as a b", "version counting", "version:range(1 to", "version:1,", ":1"),
        *("version counting products as a", "version:1 and key", "version as a counting", "version:range(1 to 2) key"),
    ),
)
def what_is_no_facet_is_a_syntax_error(world: World, expression: str) -> None:
    expect_syntax_error(search(world, ("facet", expression)), "facet", expression)


POSITIONS = {
    "key: rangge (1 to 2)": (1, 10),
    "version:range(1 2)": (1, 17),
    'key:\n"a",\n?': (3, 1),
    'key:"ä\U0001f600" ?': (1, 10),
}


@check("Q-40", needs=["S-47"], cases=with_names(POSITIONS))
def a_syntax_error_of_a_filter_is_told_with_its_position(world: World, case: tuple[str, tuple[int, int]]) -> None:
    expression, (line, column) = case
    refused(search(world, ("filter.query", expression)), "InvalidInput", f"(line {line}, column {column})")


@check(
    "S-50",
    needs=["S-28"],
    cases=("colour:1", f"{OBJECTS}.foo", "objectTypeProperty.key", "variants.sku as a"),
)
def an_unknown_path_of_a_facet_is_not_found(world: World, expression: str) -> None:
    path = re.split(r"[: ]", expression)[0]
    refused(
        search(world, ("facet", expression)),
        "SearchFacetPathNotFound",
        begins=f"Malformed parameter: facet: Facet path {path} not found.",
    )


# Limits. Some of these requests are too long for a URL, so they are sent as a form.

Form = list[tuple[str, object]]


def by_form(world: World, form: Form) -> Answer:
    """Send a search by form (4.14).

    :raises NotReachable: if the server does not have this search.
    """
    answer = world.post(FORM_SEARCH, form=[*form, ("limit", 1)])
    if answer.status in (404, 405, 501):
        world.not_reachable(f"needs 4.14, which was answered with {answer.status}")
    return answer


def values(count: int) -> str:
    """A list with ``count`` values."""
    return ",".join(["1"] * count)


LIMIT = len("1")
"""The characters of the ``limit`` in each search by form."""


def key_of(characters: int) -> str:
    """A filter or facet with this number of characters."""
    return f'key:"{"a" * (characters - 6)}"'


def narrowed(facets: int, filters: int) -> Form:
    """A form with this number of facets, each of which is narrowed by this number of filters."""
    names = [("filter.query", "key:exists"), ("filter.facets", "version:1")] * (filters // 2)
    return [*names, *(("facet", f"version as v{number}") for number in range(facets))]


LIMITS: dict[str, Form] = {
    "50 facets": [("facet", f"version as v{number}") for number in range(50)],
    "500 values in a filter": [("filter", f"version:{values(500)}")],
    "500 values in all filters": [
        *[(name, f"version:{values(249)}") for name in FILTERS],
        ("filter.facets", f"version:{values(2)}"),
    ],
    "1000 as 50 facets times 20 filters": narrowed(50, 20),
    "500 values in a facet": [("facet", f"version:{values(500)}")],
    "100 ranges in a facet": [("facet", f"version:range{','.join(['(1 to 2)'] * 100)}")],
    "16384 characters with a filter and a facet": [("filter", key_of(8_192)), ("facet", key_of(8_192 - LIMIT))],
    "64 words": [("text.en", "dog " * 64)],
    "2000 characters": [("text.en", f"{'a' * 999} {'b' * 1_000}")],
}


@check("S-54", needs=["4.14-1", "S-14", "S-28"], cases=LIMITS)
def a_search_may_have_so_many(world: World, form: Form) -> None:
    by_form(world, form).expect_status(200)


@check("S-58", needs=["S-15"], cases=("filter", "filter.query", "filter.facets", "facet"))
def a_bound_that_no_double_holds_is_refused(world: World, name: str) -> None:
    for bounds in ("(* to 1e500)", "(-1e400 to 5)"):
        refused(search(world, (name, f"version:range{bounds}")))
