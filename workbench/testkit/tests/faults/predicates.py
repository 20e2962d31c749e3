"""Faults of the query language: most make another predicate of the one that was sent."""

import json
import re
from typing import Any

from planted import Answer, Forward, Request, around, of_requests

from faults.lists import filtered, flat


def change_where(request: Request, pattern: str, replacement: Any) -> Request:
    """Replace a part of each predicate."""
    return request.changed(lambda text: re.sub(pattern, replacement, text, flags=re.IGNORECASE), "where")


@around("Q-16")
def only_the_first_element_is_compared(request: Request, forward: Forward) -> Answer:
    where = " ".join(request.values("where"))
    found = re.findall(r'\b(arrayOf\w+) (?:=|in) (\([^()]*\)|"[^"]*"|[-\d.]+)', where)
    if len(found) != 1 or request.method != "GET":
        return forward(request)
    name, text = found[0]
    values = [json.loads(each) for each in text.strip("()").split(",")]
    return filtered(request, forward, lambda result: flat(result).get(name, [None])[:1][0] in values)


@of_requests("Q-19")
def several_elements_fulfil_a_condition_together(request: Request) -> Request:
    one_element = r"arrayOfObjectType\s*\(([^()]+?)\s+and\s+([^()]+)\)"
    return change_where(request, one_element, r"(arrayOfObjectType(\1) and arrayOfObjectType(\2))")


@of_requests("Q-15")
def an_absent_field_has_no_truth(request: Request) -> Request:
    """``!=`` and ``not in`` are false of an absent field, as in SQL."""
    return change_where(
        request, r'\b([\w.]+)\s*((?:!=|<>)\s*(?:"[^"]*"|[-\w.:]+)|not\s+in\s*\([^()]*\))', r"(\1 is defined and \1 \2)"
    )


@of_requests("Q-24")
def numbers_are_compared_as_doubles(request: Request) -> Request:
    return change_where(request, r"\b\d{16,19}\b", lambda found: str(int(float(found[0]))))
