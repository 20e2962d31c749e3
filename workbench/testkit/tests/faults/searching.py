"""Faults of the searches."""

import re
from collections.abc import Iterator
from typing import Any

from planted import Answer, Forward, Request, around, of_requests

from faults.lists import Result, arrays


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


@around("S-25")
def filter_facets_narrows_its_own_facet(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if answer.status == 200 and request.values("filter.facets") and "facets" in answer.body:
        answer.body["facets"] = forward(request.renamed("filter.facets", "filter.query")).body["facets"]
    return answer


def move_bounds(request: Request, by: str, *names: str) -> Request:
    """Move the upper bounds of ranges of integers by a half."""

    def moved(found: re.Match[str]) -> str:
        return f"to {float(found[1]) + float(by)})"

    return request.changed(lambda text: re.sub(r"to\s+(-?\d+)\s*\)", moved, text, flags=re.IGNORECASE), *names)


@of_requests("S-37")
def the_upper_bound_belongs_to_the_range_of_a_facet(request: Request) -> Request:
    return move_bounds(request, "0.5", "facet")


def words(result: Result) -> list[str]:
    """The words of a result."""
    texts: list[str] = [*result.get("arrayOfStringExample", []), result.get("someProperty", "")]
    return " ".join(texts).lower().split()


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
