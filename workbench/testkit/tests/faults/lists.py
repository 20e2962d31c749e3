"""Faults of lists: their conditions, their order, their pages."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from planted import Answer, Forward, Planted, Request, around, inside, of_answers, of_requests

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


def is_limit(text: str) -> bool:
    return text.isdecimal() and 1 <= int(text) <= 499


@of_requests("4.12-4")
def a_page_has_one_result_too_many(request: Request) -> Request:
    return request.changed(lambda text: str(int(text) + 1) if is_limit(text) else text, "limit")


@of_answers("4.12-9", status=200)
def the_total_is_that_of_the_page(request: Request, answer: Answer) -> None:
    if answer.results and "total" in answer.body:
        answer.body["total"] = answer.body["count"]


@of_answers("4.1-3")
def a_result_of_the_list_is_not_flat(request: Request, answer: Answer) -> None:
    if request.rest == "":
        for each in answer.results:
            each["objectTypeProperty"] = {name: each.pop(name) for name in arrays(each)}


def change_terms(planted: Planted, change: Callable[[Any], Any]) -> None:
    """Change the terms of the order of all lists; the last one is the id."""
    planted.wrap(listing, "terms_of", lambda method, sort, stage: change(method(sort, stage)))


@inside("4.12-17")
def equal_resources_are_always_ascending(planted: Planted) -> None:
    change_terms(planted, lambda terms: (*terms[:-1], replace(terms[-1], descending=False)))


@of_requests("4.12-11")
def desc_is_ignored(request: Request) -> Request:
    return request.changed(lambda text: text.split(" ")[0] if text.lower().endswith(" desc") else text, "sort")


@of_requests("4.12-12")
def the_last_sort_comes_first(request: Request) -> Request:
    sort = iter(request.values("sort")[::-1])
    return request.changed(lambda _: next(sort), "sort")


@of_answers("4.12-16", status=200)
def absent_values_come_last_with_desc(request: Request, answer: Answer) -> None:
    field, _, direction = (request.values("sort") or [""])[0].partition(" ")
    if direction.lower() == "desc":
        answer.results.sort(key=lambda each: field not in each)


@around("4.12-18")
def any_field_sorts(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    return forward(request.without("sort")) if answer.status == 400 and "parameter: sort" in answer.says else answer


@of_requests("4.12-20")
def an_impossible_path_is_refused(request: Request) -> Request:
    is_possible = {*request.values("expand")} <= {"createdBy", "lastModifiedBy"}
    return request if is_possible else request.added("undeclared", "x")


@of_answers("4.12-19")
def nothing_is_expanded(request: Request, answer: Answer) -> None:
    for each in answer.results:
        for name in ("createdBy", "lastModifiedBy"):
            each.get(name, {}).pop("obj", None)


@around("4.1-6")
def a_part_of_a_text_is_found(request: Request, forward: Forward) -> Answer:
    wanted = request.values("stringParameter")
    if request.rest or request.method != "GET" or not wanted:
        return forward(request)

    def has(result: Result) -> bool:
        return any(wanted[0] in text for text in result.get("arrayOfStringExample", []))

    return filtered(request.without("stringParameter"), forward, has)


@around("4.1-10", "4.1-11")
def all_texts_are_needed_where_one_is_enough(request: Request, forward: Forward) -> Answer:
    wanted = {*request.values("arrayOfString"), *request.values("arrayOfStringWithDescription")}
    if request.rest or request.method != "GET" or len(wanted) < 2:
        return forward(request)
    return filtered(request, forward, lambda result: wanted <= {*result.get("arrayOfStringExample", [])})


@around("4.1-12")
def objectparameter_has_to_be_equal(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if request.method != "GET" or answer.status != 200 or not request.values("objectParameter"):
        return answer
    wanted = json.loads(request.values("objectParameter")[0])
    wanted = wanted.get("objectTypeProperty", wanted)
    return filtered(request, forward, lambda result: arrays(result) == wanted)
