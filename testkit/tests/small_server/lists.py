"""The conditions, the order and the pages of lists."""

import json
from collections.abc import Iterable
from typing import Any

from .fields import SORTABLE, document
from .predicates import Condition, Predicates
from .refusals import Entry, Refused, bad_parameter
from .resources import Resource
from .values import INT64, BodyRules, Parameters, suggestion

VARIABLE = r"var[.][a-zA-Z0-9]+"

PAGE = {"limit": "whole", "offset": "whole", "withTotal": "boolean", "sort": "text"}

WHERE = {"where": "text", **PAGE}

CONDITIONS = {
    "stringParameter": "text",
    "floatParameter": "number",
    "integerParameter": "whole",
    "withMarkdownDescription": "number",
    "objectParameter": "text",
    "arrayOfString": "text",
    "arrayOfStringWithDescription": "text",
}

ARRAYS = {
    "stringParameter": ("arrayOfStringExample",),
    "floatParameter": ("arrayOfFloatExample",),
    "integerParameter": ("arrayOfIntExample", "arrayOfUniqueIntExample"),
    "withMarkdownDescription": ("arrayOfNumberNoDefaultsExample",),
    "arrayOfString": ("arrayOfStringExample",),
}
"""Conditions that hold if arrays have all of the given values."""

LONGEST, FURTHEST, MOST_COUNTED = 500, 10_000, 10_000


class Lists:
    """What lists find, and in which order."""

    def __init__(self, predicates: Predicates, bodies: BodyRules) -> None:
        self.predicates = predicates
        self.bodies = bodies

    def page_faults(self, given: Parameters) -> list[Entry]:
        """What is wrong with ``limit``, ``offset`` and ``sort``."""
        faults: list[Entry] = []
        for name, most in (("limit", LONGEST), ("offset", FURTHEST)):
            if not 0 <= given.one(name, 0) <= most:
                faults.append(bad_parameter(name, f"It has to be between 0 and {most}."))
        for text in given.all("sort"):
            field, *direction = text.split() or [""]
            if field not in SORTABLE:
                listed = ", ".join(f"`{name}`" for name in SORTABLE)
                reason = f"Invalid query field '{field}' in sort path. Sortable fields are: {listed}."
                faults.append(bad_parameter("sort", reason))
            elif len(direction) > 1 or (direction and direction[0].lower() not in ("asc", "desc")):
                faults.append(bad_parameter("sort", "'asc' or 'desc' is expected after the field."))
        return faults

    def where(self, given: Parameters) -> Condition:
        """What ``where`` says.

        :raises Refused: if a predicate is wrong.
        """
        variables = {name[len("var.") :]: values for name, values in given.matching(VARIABLE).items()}
        return self.predicates.compile(given.all("where"), variables)

    def conditions(self, given: Parameters) -> Condition:
        """What the parameters of the list say.

        :raises Refused: if one is wrong.
        """
        number = given.one("integerParameter")
        if number is not None and not INT64[0] <= number <= INT64[1]:
            raise Refused(400, bad_parameter("integerParameter", "It has to be within 64 bits."))
        part = self.object_parameter(given.one("objectParameter"))
        asked = [(given.all(name), fields) for name, fields in ARRAYS.items() if given.all(name)]
        any_of = given.all("arrayOfStringWithDescription")

        def hold(found: dict[str, Any]) -> bool:
            return (
                all(self.has(found, wanted, *fields) for wanted, fields in asked)
                and (not any_of or self.has_any(found, any_of))
                and (part is None or self.within(part, found["objectTypeProperty"]))
            )

        return hold

    def has(self, found: dict[str, Any], wanted: Iterable[Any], *fields: str) -> bool:
        """Whether arrays have all of some values."""
        items = [item for field in fields for item in found.get(field, [])]
        return all(value in items for value in wanted)

    def has_any(self, found: dict[str, Any], wanted: list[str]) -> bool:
        """``arrayOfStringWithDescription``."""
        return any(text in found.get("arrayOfStringExample", []) for text in wanted)

    def object_parameter(self, text: str | None) -> Any:
        """The object that ``objectParameter`` has."""
        if text is None:
            return None
        try:
            return self.unwrapped(text)
        except Refused as refused:
            faults = [found.get("detailedErrorMessage", found["message"]) for found in refused.entries]
            raise Refused(400, *(bad_parameter("objectParameter", fault) for fault in faults)) from None

    def unwrapped(self, text: str) -> Any:
        """The object, without the wrapper that it may stand in."""
        rule = self.bodies.object_type(contained=True)
        if "objectTypeProperty" in self.bodies.parse(text.encode()):
            rule = self.bodies.record({"objectTypeProperty": rule})
        found = self.bodies.checked(rule, text.encode())
        return found.get("objectTypeProperty", found)

    def within(self, part: Any, whole: Any) -> bool:
        """JSON containment, as PostgreSQL's ``@>`` has it."""
        if isinstance(part, dict):
            return isinstance(whole, dict) and all(
                name in whole and self.within(value, whole[name]) for name, value in part.items()
            )
        if isinstance(part, list):
            return isinstance(whole, list) and all(any(self.within(item, each) for each in whole) for item in part)
        return part == whole

    def ordered(self, found: list[tuple[Resource, dict[str, Any]]], sort: list[str]) -> list[Resource]:
        """Resources with their documents, in the order that ``sort`` says."""
        found = sorted(found, key=lambda each: each[0].id)
        for text in reversed(sort):
            field, *direction = text.split()
            present = [each for each in found if field in each[1]]
            absent = [each for each in found if field not in each[1]]
            falling = direction != [] and direction[0].lower() == "desc"
            found = self.sorted(present, field, falling) + absent
        return [resource for resource, _ in found]

    def sorted(self, found: list[Any], field: str, falling: bool) -> list[Any]:
        """Order by one field; equal ones stay as they are."""
        return sorted(found, key=lambda each: each[1][field], reverse=falling)

    def page(self, matches: list[Any], given: Parameters) -> tuple[dict[str, Any], list[Any]]:
        """A page without its results, and the matches that belong to it."""
        limit, offset = self.limit(given), given.one("offset", 0)
        part = matches[offset : offset + limit]
        page = {"limit": limit, "offset": offset, "count": len(part)}
        if given.one("withTotal", True):
            page["total"] = min(len(matches), MOST_COUNTED)
            if len(matches) > MOST_COUNTED:
                page["totalCapped"] = True
        return page, part

    def limit(self, given: Parameters) -> int:
        """How many results a page has at most."""
        return given.one("limit", 20)

    def matches(self, resources: list[Resource], *conditions: Condition, sort: list[str]) -> list[Resource]:
        """The resources that conditions hold for, in their order."""
        documents = [(resource, document(resource)) for resource in resources]
        return self.ordered([each for each in documents if all(hold(each[1]) for hold in conditions)], sort)


def expand_faults(paths: list[str]) -> list[Entry]:
    """What is wrong with ``expand``."""
    known = ("createdBy", "lastModifiedBy")
    return [
        bad_parameter("expand", f"'{path}' cannot be expanded.{suggestion(path, known)}")
        for path in paths
        if path not in known
    ]


def compact(value: Any) -> str:
    """A value as JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False)
