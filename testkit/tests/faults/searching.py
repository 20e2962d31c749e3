"""Faults of the searches."""

import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator
from typing import Any

from planted import Answer, Forward, Request, around, of_answers, of_requests, refusal

from faults.lists import Result, arrays, filtered


def facets(answer: Answer, of_type: str) -> list[Any]:
    """The facets of an answer that have a type."""
    found = answer.body.get("facets", {}) if isinstance(answer.body, dict) and answer.status < 300 else {}
    return [each for each in found.values() if each["type"] == of_type]


def terms(answer: Answer) -> Iterator[Any]:
    """The terms of all facets."""
    for facet in facets(answer, "terms"):
        yield from facet["terms"]


def texts(request: Request) -> list[tuple[str, str]]:
    """The words of the texts that are searched for, with the name of their parameter."""
    return [(name, word) for name, text in request.parameters if name.startswith("text.") for word in text.split()]


def change_texts(request: Request, change: Callable[[str], str]) -> Request:
    """Change the texts that are searched for."""
    return request.changed(change, *(name for name, _ in texts(request))) if request.is_search else request


@around("S-34")
def a_facet_counts_a_value_twice(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if facets(answer, "terms"):
        results = forward(request.without("limit", "offset", "filter").added("limit", "500")).results
        for name, facet in answer.body["facets"].items():
            for term in facet.get("terms", []):
                given = [result.get(name) for result in results]
                term["count"] += sum(len(one) - len(set(one)) for one in given if isinstance(one, list))
    return answer


@of_requests("S-24")
def filter_narrows_facets(request: Request) -> Request:
    return request.renamed("filter", "filter.query")


@of_requests("S-23")
def filter_query_narrows_nothing_that_facets_count(request: Request) -> Request:
    return request.renamed("filter.query", "filter")


@around("S-25")
def filter_facets_narrows_its_own_facet(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if answer.status == 200 and request.values("filter.facets") and "facets" in answer.body:
        answer.body["facets"] = forward(request.renamed("filter.facets", "filter.query")).body["facets"]
    return answer


@of_requests("S-25")
def filter_facets_narrows_nothing(request: Request) -> Request:
    return request.without("filter.facets")


def move_bounds(request: Request, by: str, *names: str) -> Request:
    """Move the upper bounds of ranges of integers by a half."""

    def moved(found: re.Match[str]) -> str:
        return f"to {float(found[1]) + float(by)})"

    return request.changed(lambda text: re.sub(r"to\s+(-?\d+)\s*\)", moved, text, flags=re.IGNORECASE), *names)


@of_requests("S-37")
def the_upper_bound_belongs_to_the_range_of_a_facet(request: Request) -> Request:
    return move_bounds(request, "0.5", "facet")


@of_requests("S-15")
def the_upper_bound_is_outside_of_the_range_of_a_filter(request: Request) -> Request:
    return move_bounds(request, "-0.5", "filter", "filter.query", "filter.facets")


@of_requests("S-17")
def the_bounds_of_a_range_may_be_met_by_two_elements(request: Request) -> Request:
    parameters: list[tuple[str, str]] = []
    for name, value in request.parameters:
        found = re.fullmatch(r"\s*(arrayOf\w+)\s*:\s*range\s*\(\s*(\S+)\s+to\s+(\S+)\s*\)\s*", value)
        if found and name.startswith("filter"):
            parameters += [(name, f"{found[1]}:range({found[2]} to *)"), (name, f"{found[1]}:range(* to {found[3]})")]
        else:
            parameters.append((name, value))
    return request.with_parameters(parameters)


@of_answers("S-31")
def terms_are_in_the_order_of_their_values(request: Request, answer: Answer) -> None:
    for facet in facets(answer, "terms"):
        facet["terms"].sort(key=lambda term: term["term"])


@of_answers("S-31")
def the_total_of_terms_counts_resources(request: Request, answer: Answer) -> None:
    for facet in facets(answer, "terms"):
        facet["total"] = answer.body.get("total", 0) - facet["missing"]


@of_answers("S-31")
def what_is_missing_is_not_counted(request: Request, answer: Answer) -> None:
    for facet in facets(answer, "terms"):
        facet["missing"] = 0


@of_answers("S-55")
def terms_of_numbers_have_no_fraction(request: Request, answer: Answer) -> None:
    for term in terms(answer):
        if isinstance(term["term"], float) and term["term"] == int(term["term"]):
            term["term"] = int(term["term"])


@of_answers("S-33")
def all_terms_are_texts(request: Request, answer: Answer) -> None:
    for facet in facets(answer, "terms"):
        facet["dataType"] = "text"


@of_answers("S-28", status=200)
def facets_are_always_there(request: Request, answer: Answer) -> None:
    if request.is_search:
        answer.body.setdefault("facets", {})


@of_answers("S-40", status=200)
def products_are_not_counted(request: Request, answer: Answer) -> None:
    for counted in [*terms(answer), *facets(answer, "filter"), *ranges(answer)]:
        counted.pop("productCount", None)


def ranges(answer: Answer) -> Iterator[Any]:
    """The ranges of all facets."""
    for facet in facets(answer, "range"):
        yield from facet["ranges"]


@of_answers("S-38")
def the_mean_is_that_of_the_bounds(request: Request, answer: Answer) -> None:
    for each in ranges(answer):
        each["mean"] = (each["min"] + each["max"]) / 2


@of_requests("S-9")
def search_is_always_fuzzy(request: Request) -> Request:
    return request.without("fuzzy").added("fuzzy", "true") if request.is_search and texts(request) else request


def words(result: Result) -> list[str]:
    """The words of a result."""
    return " ".join([*result.get("arrayOfStringExample", []), result.get("someProperty", "")]).lower().split()


def distance(one: str, other: str) -> int:
    """The Levenshtein distance, which knows no swaps."""
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        before, row = row, [number]
        for place, against in enumerate(other):
            row.append(min(before[place] + (letter != against), before[place + 1] + 1, row[place] + 1))
    return row[-1]


def within(result: Result, word: str, edits: int) -> bool:
    return any(distance(word, each) <= edits for each in words(result))


@around("S-10")
def short_words_allow_two_edits(request: Request, forward: Forward) -> Answer:
    asked = texts(request)
    answer = forward(request)
    if answer.status != 200 or "true" not in request.values("fuzzy") or len(asked) != 1:
        return answer
    newest = forward(request.to("", query="limit=500&sort=id%20desc")).results
    known = {each["id"] for each in answer.results}
    found = [each for each in newest if within(each, asked[0][1], 2) and each["id"] not in known]
    answer.body["results"] += found
    answer.body["total"] = answer.body["count"] = len(answer.results)
    return answer


@around("S-2")
def one_word_of_a_text_is_enough(request: Request, forward: Forward) -> Answer:
    asked = texts(request)
    answer = forward(request)
    if answer.status != 200 or len(asked) < 2:
        return answer
    others = request.without(*(name for name, _ in asked))
    found = {each["id"]: each for name, word in asked for each in forward(others.added(name, word)).results}
    answer.body |= {"results": list(found.values()), "count": len(found), "total": len(found)}
    return answer


@of_requests("S-4")
def texts_look_at_letter_case(request: Request) -> Request:
    return change_texts(request, lambda text: text if text == text.lower() else f"{text} qqzzqq")


@of_requests("S-5")
def words_have_no_other_forms(request: Request) -> Request:
    if not request.is_search:
        return request
    return request.with_parameters(
        [("text.xx" if name.startswith("text.") else name, value) for name, value in request.parameters]
    )


@around("S-1")
def texts_look_in_the_array_only(request: Request, forward: Forward) -> Answer:
    if not request.is_search or not texts(request):
        return forward(request)
    return filtered(request, forward, lambda result: "someProperty" not in result)


@of_answers("S-44")
def the_most_relevant_come_last(request: Request, answer: Answer) -> None:
    if texts(request) and not request.values("sort"):
        answer.results.reverse()


@of_answers("3-5")
def nothing_has_staged_changes(request: Request, answer: Answer) -> None:
    if request.is_search:
        for each in answer.results:
            each["hasStagedChanges"] = False


@around("3-4")
def a_staged_search_shows_the_current_projection(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if "true" in request.values("staged"):
        for each in answer.results:
            current = forward(request.to(each["id"])).body
            for name in arrays(each):
                del each[name]
            each |= current["objectTypeProperty"]
    return answer


@of_answers("4.4-5")
def a_result_of_a_search_is_not_flat(request: Request, answer: Answer) -> None:
    if request.is_search:
        for each in answer.results:
            each["objectTypeProperty"] = {name: each.pop(name) for name in arrays(each)}


@around("4.14-7")
def a_staged_search_needs_view_products(request: Request, forward: Forward) -> Answer:
    if request.rest == "product-projection-search" and "true" in request.values("staged"):
        payload = request.headers.get("authorization", "").split(".")[1:2]
        scopes = urlsafe_b64decode(payload[0] + "===") if payload else b""
        if b"view_published_products:" in scopes and b"view_products:" not in scopes:
            return refusal(403, message="view_products is missing.")
    return forward(request)


@of_answers("4.14-2", status=200)
def a_search_is_answered_with_201(request: Request, answer: Answer) -> None:
    if request.rest == "product-projection-search":
        answer.status = 201


@of_answers("S-56")
def equal_terms_come_in_falling_order(request: Request, answer: Answer) -> None:
    for facet in facets(answer, "terms"):
        facet["terms"].sort(key=lambda term: term["term"], reverse=True)
        facet["terms"].sort(key=lambda term: -term["count"])


@around("S-10", others=4)
def a_swap_is_two_edits(request: Request, forward: Forward) -> Answer:
    asked = texts(request)
    if not request.is_search or "true" not in request.values("fuzzy") or len(asked) != 1:
        return forward(request)
    word = asked[0][1]
    level = 0 if len(word) <= 2 else 1 if len(word) <= 5 else 2
    return filtered(request, forward, lambda result: within(result, word, level))


@around("S-12")
def a_level_counts_without_fuzzy(request: Request, forward: Forward) -> Answer:
    if request.values("fuzzyLevel") and not request.values("fuzzy"):
        refused = forward(request.added("fuzzy", "true"))
        if refused.status == 400:
            return refused
    return forward(request)
