"""The checks of ``predicates.txt``: predicates that find a resource, that do not, or that are refused."""

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.checks.finding import (
    Pairs,
    Row,
    among,
    expect_found,
    expect_ids,
    expect_row,
    expect_search_row,
    fill,
    make,
    refused,
    rows,
    search,
    where,
)
from sample_resource_testkit.checks.lists import expect_finds_one
from sample_resource_testkit.checks.names import SEARCH, TEXTS
from sample_resource_testkit.checks.parameters import ENDPOINTS, asked
from sample_resource_testkit.checks.refusals import refused as refused_with
from sample_resource_testkit.checks.search_errors import FILTERS
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World


def _expect_texts(world: World, row: Row) -> None:
    made = world.make({TEXTS: [row.fields]})
    pairs = [(name, value) for name, _, value in (pair.partition("=") for pair in row.condition.split("&"))]
    answer = search(world, *pairs, among(made)).expect_status(200)
    expect_ids(answer, [made] if row.holds else [], "what has the words")


def _expect_bound(world: World, row: Row) -> None:
    made = make(world, row.fields)
    predicate, _, values = row.condition.partition(" ~ ")
    pairs: Pairs = [(f"var.{name}", fill(world, value, made)) for name, value in json.loads(values)]
    expect_found(world, predicate, made, row.holds, pairs)


UNKNOWN = "The field '{}' does not exist."


def _refused_by(answer: Answer, case: str, message: str) -> None:
    refused(answer, "InvalidInput", message.format(case.partition(" ~ ")[2]))


def _refused_where(world: World, case: str, message: str) -> None:
    _refused_by(where(world, case.partition(" ~ ")[0]), case, message)


WAYS: dict[str, Callable[[World, Any], object]] = {
    "where": expect_row,
    "filter": expect_search_row,
    "text": _expect_texts,
    "bound": _expect_bound,
    "refused where": lambda world, condition: refused(where(world, condition)),
    "refused filter": lambda world, condition: refused(search(world, ("filter", condition))),
    "refused GET": lambda world, path: refused_with(world.get(path), 400, "InvalidInput"),
    "unknown GET": lambda world, path: refused_with(world.get(path), 404, "ResourceNotFound"),
    "refused query": lambda world, case: refused_with(asked(world, ENDPOINTS[case[0]], case[1]), 400, "InvalidInput"),
    "refused objectParameter": lambda world, text: refused_with(
        world.get("", query={"objectParameter": text}), 400, "InvalidInput"
    ),
    "refused POST": lambda world, body: refused_with(world.post("", body), 400, "InvalidJsonInput"),
    "refused filters": lambda world, condition: [refused(search(world, (name, condition))) for name in FILTERS],
    "unknown path of filters": lambda world, case: [
        _refused_by(search(world, (name, case.partition(" ~ ")[0])), case, UNKNOWN) for name in FILTERS
    ],
    "syntax error where": lambda world, condition: refused(
        where(world, condition), begins="Malformed parameter: where: Syntax error while parsing 'where'."
    ),
    "unknown field where": lambda world, case: _refused_where(world, case, UNKNOWN),
    "unsupported where": lambda world, case: _refused_where(
        world, case, "The field '{}' does not support this expression."
    ),
    "resembling where": lambda world, case: _refused_where(world, case, "Did you mean '{}'?"),
    "accepted list": lambda world, query: world.get("", query=query).expect_status(200),
    "accepted search": lambda world, query: world.get(SEARCH, query=query).expect_status(200),
    "found by the list": lambda world, case: expect_finds_one(world, *case),
    "refused facet": lambda world, condition: refused(search(world, ("facet", condition))),
}
"""The function for each kind of case: for a :class:`Row`, and for a condition that is refused."""

MARKS = {"+": "holds", "-": "fails"}


def _register(head: str, lines: list[str]) -> None:
    clause, needs, way, name = (cell.strip() for cell in head.split(" | "))
    cases: dict[str, Any] = {}
    fields: Any = {}
    for line in lines:
        mark, _, text = line.partition(" ")
        if mark == "of":
            fields = json.loads(text)
            continue
        condition = json.loads(text) if mark.endswith("j") else text
        cases |= {text: condition} if mark[0] == "!" else rows(fields, **{MARKS[mark[0]]: [condition]})

    def hold(world: World, case: Any) -> None:
        WAYS[way](world, case)

    hold.__name__ = name
    check(clause, needs=needs.split(), cases=cases)(hold)


for block in (files(__package__ or "") / "predicates.txt").read_text(encoding="utf-8").split("\n\n"):
    listed = [line for line in block.splitlines() if not line.startswith("#")]
    if listed:
        _register(listed[0], listed[1:])
