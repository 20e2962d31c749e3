"""Helpers for the checks of the query language and of searches: which resources a condition finds, and refusals.

A case queries resources that it has made. A second condition on their ids excludes all other resources of the project.
"""

import json as json_text
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.checks.names import FORM_SEARCH, SEARCH, SORTED
from sample_resource_testkit.checks.refusals import errors_of
from sample_resource_testkit.world import Made, World

T = TypeVar("T")

Pairs = Sequence[tuple[str, object]]

Fields = Mapping[str, Any]

Searched = tuple[tuple[str, object], ...]
"""Parameters of a search."""


class Row(NamedTuple):
    """A condition, a resource, and whether the condition holds for the resource.

    :param fields: the fields of the resource: those of ObjectType, and ``someProperty``.
    :param condition: the condition, which may have the placeholders of :func:`fill`.
    """

    fields: Fields
    condition: str
    holds: bool


def rows(fields: Fields, *, holds: Iterable[str] = (), fails: Iterable[str] = ()) -> dict[str, Row]:
    """Make cases with one resource, from conditions that find it and conditions that do not."""
    shown = f" of {_short(fields)}" if fields else ""
    return {
        **{f"{condition}{shown} holds": Row(fields, condition, True) for condition in holds},
        **{f"{condition}{shown} does not hold": Row(fields, condition, False) for condition in fails},
    }


def with_names(cases: Mapping[str, T]) -> dict[str, tuple[str, T]]:
    """Make cases from conditions and their expected results. The condition is both the name and a part of the value."""
    return {name: (name, value) for name, value in cases.items()}


def _short(fields: Fields) -> str:
    text = json_text.dumps(fields, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."


def make(world: World, fields: Fields) -> Made:
    """Make a resource, and set ``someProperty`` by an update if it is among the fields.

    :raises NotReachable: if the server cannot make the resource or set the field in any way.
    """
    properties = dict(fields)
    text = properties.pop("someProperty", None)
    made = world.make(properties)
    if text is None:
        return made
    return world.update(made, {"action": "changeSomeProperty", "someProperty": text})


_PLACEHOLDERS = {"{id}": ["id"], "{key}": [], "{createdAt}": ["createdAt"], "{creator}": ["createdBy", "id"]}


def fill(world: World, condition: str, made: Made) -> str:
    """Replace ``{id}``, ``{key}``, ``{createdAt}`` and ``{creator}`` in a condition by the values of a resource.

    :raises NotReachable: if the resource has no such value.
    """
    for placeholder, path in _PLACEHOLDERS.items():
        if placeholder in condition:
            found: Any = made.key if placeholder == "{key}" else made.body
            for step in path:
                found = found.get(step) if isinstance(found, dict) else None
            if not isinstance(found, str) or not found:
                world.not_reachable(f"the resource that was made has no {'.'.join(path) or 'key'}")
            condition = condition.replace(placeholder, found)
    return condition


# The query language


def expect_row(world: World, row: Row) -> None:
    """Make the resource of a case, and expect that ``where`` finds it, or does not."""
    made = make(world, row.fields)
    expect_found(world, fill(world, row.condition, made), made, row.holds)


def expect_found(world: World, predicate: str, made: Made, holds: bool, parameters: Pairs = ()) -> None:
    """Expect that ``where`` finds a resource, or does not. A second ``where`` excludes all other resources."""
    query = [("where", predicate), ("where", f'id = "{made.id}"'), *parameters]
    answer = world.get(SORTED, query=query).expect_status(200)
    expect_ids(answer, [made] if holds else [], f"{predicate} {'' if holds else 'not '}to find the resource")


def where(world: World, *predicates: str, parameters: Pairs = ()) -> Answer:
    """Request the sorted list with predicates, which may find any resource of the project."""
    return world.get(SORTED, query=[*(("where", predicate) for predicate in predicates), *parameters])


def ids_of(answer: Answer) -> list[str]:
    """The ids of the results of a page."""
    results = answer.at("results")
    answer.expect(isinstance(results, list), "results that are an array", results)
    return [str(item.get("id")) if isinstance(item, dict) else str(item) for item in results]


def expect_ids(answer: Answer, wanted: Iterable[Made], expected: str, *, ordered: bool = False) -> Answer:
    """Expect exactly the given resources as results, in their order if ``ordered``."""
    found, ids = ids_of(answer), [made.id for made in wanted]
    same = found == ids if ordered else sorted(found) == sorted(ids)
    return answer.expect(same, f"{expected}: results with the ids {', '.join(ids) or '(none)'}", found)


def expect_page(answer: Answer) -> Answer:
    """Expect 200 and the members of a page, with their types."""
    answer.expect_status(200)
    for name in ("limit", "offset", "count", "total"):
        value = answer.at(name)
        answer.expect(isinstance(value, int) and not isinstance(value, bool), f"{name} to be an integer", value)
    results = answer.at("results")
    answer.expect(isinstance(results, list), "results that are an array", results)
    return answer.expect_json("count", len(results))


# Refusals


def refused(answer: Answer, code: str = "InvalidInput", *contained: str, begins: str = "") -> Answer:
    """Expect 400 and an entry of ``errors`` with the given code, and with the given texts in its message.

    The rest of the error body is not checked here, so that a fault in it fails only the clauses on errors.
    """
    answer.expect_status(400)
    messages = messages_of(answer, code)
    answer.expect(bool(messages), f"an entry of errors with the code {code}")
    if contained or begins:
        wanted = " and ".join(
            [*([f"begins {json_text.dumps(begins)}"] if begins else []), *(f"has {text}" for text in contained)]
        )
        holds = any(message.startswith(begins) and all(text in message for text in contained) for message in messages)
        answer.expect(holds, f"a message that {wanted}", messages)
    return answer


def messages_of(answer: Answer, code: str = "InvalidInput") -> list[str]:
    """The messages of the entries of ``errors`` that have a code; none if the body is no error body."""
    return [
        entry["message"]
        for entry in errors_of(answer)
        if entry.get("code") == code and isinstance(entry.get("message"), str)
    ]


# Searches


def search(world: World, *parameters: tuple[str, object]) -> Answer:
    """Send a search by 4.4, or by 4.14 if the server has only that.

    :raises NotReachable: if the server has neither.
    """
    answer = world.get(SEARCH, query=parameters)
    if answer.status not in (404, 405, 501) or 200 <= world.get(SEARCH).status < 300:
        return answer
    by_form = world.post(FORM_SEARCH, form=parameters)
    if by_form.status in (404, 405, 501):
        world.not_reachable(f"the server has no search: 4.4 is {answer.status} and 4.14 {by_form.status}")
    return by_form


def among(*made: Made) -> tuple[str, str]:
    """The parameter of a search that excludes all other resources from results and facets."""
    return ("filter.query", "id:" + ",".join(f'"{one.id}"' for one in made))


def expect_search_row(world: World, row: Row) -> None:
    """Make the resource of a case, and expect that a search with the condition as ``filter`` finds it, or does not."""
    made = make(world, row.fields)
    condition = fill(world, row.condition, made)
    answer = search(world, ("filter", condition), among(made)).expect_status(200)
    expect_ids(answer, [made] if row.holds else [], f"{condition} {'' if row.holds else 'not '}to find the resource")


def facet(world: World, expression: str, *parameters: tuple[str, object]) -> Answer:
    """Send a search with a facet without a name. Its result is the member of ``facets`` with its path as the name.

    :return: the answer, which has been checked to have the facet.
    """
    answer = search(world, ("facet", expression), *parameters).expect_status(200)
    answer.at("facets", expression.partition(":")[0].strip())
    return answer


def counted(answer: Answer, name: str) -> dict[object, int]:
    """The terms of a facet and their counts."""
    return {term["term"]: term["count"] for term in answer.at("facets", name, "terms")}


def expect_counts(answer: Answer, name: str, wanted: dict[Any, int], why: str) -> None:
    """Expect exactly the given terms and counts of a facet, in any order."""
    got = counted(answer, name)
    answer.expect(got == wanted, f"{why}: {wanted}", [[term, count] for term, count in got.items()])
