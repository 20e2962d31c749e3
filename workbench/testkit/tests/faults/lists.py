"""Faults of lists: their conditions, their order, their pages."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from planted import Answer, Forward, Planted, Request, around, inside, of_answers

from app.resource.reading import listing

Result = dict[str, Any]


def flat(result: Result) -> Result:
    """A resource as the list shows it."""
    return {**result, **result.get("objectTypeProperty", {})}


def arrays(result: Result) -> Result:
    """The fields of ObjectType in a flat result."""
    return {name: value for name, value in result.items() if name.startswith("arrayOf")}


def filtered(request: Request, forward: Forward, wanted: Callable[[Result], bool]) -> Answer:
    """The page of a request, of all results that are wanted."""
    answer = forward(request.without("limit").added("limit", "500"))
    if answer.results:
        kept = [each for each in answer.results if wanted(each)]
        answer.body |= {"results": kept, "count": len(kept), "total": len(kept)}
    return answer


def with_offset(request: Request, forward: Forward, change: Callable[[int], int]) -> Answer:
    """The page of another offset, as if it were that which was asked for."""
    asked = request.values("offset")
    if not asked or not asked[0].isdecimal() or not 0 < int(asked[0]) <= 5_000:
        return forward(request)
    answer = forward(request.changed(lambda text: str(change(int(text))), "offset"))
    if answer.status == 200 and answer.body:
        answer.body["offset"] = int(asked[0])
    return answer


@around("4.12-5")
def the_offset_is_one_too_far(request: Request, forward: Forward) -> Answer:
    return with_offset(request, forward, lambda offset: offset + 1)


@of_answers("4.12-8", status=200)
def the_total_is_that_of_the_page(request: Request, answer: Answer) -> None:
    if answer.results and "total" in answer.body:
        answer.body["total"] = answer.body["count"]


def change_terms(planted: Planted, change: Callable[[Any], Any]) -> None:
    """Change the terms of the order of all lists; the last one is the id."""
    planted.wrap(listing, "terms_of", lambda method, sort, stage: change(method(sort, stage)))


@inside("4.12-17")
def equal_resources_are_always_ascending(planted: Planted) -> None:
    change_terms(planted, lambda terms: (*terms[:-1], replace(terms[-1], descending=False)))
