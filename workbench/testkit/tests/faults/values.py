"""Faults of values: of what is accepted, and of how it is kept and answered."""

import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from planted import Answer, Request, of_answers, of_requests

from faults.lists import arrays

INTEGERS = ("arrayOfIntExample", "arrayOfUniqueIntExample")

NUMBERS = (*INTEGERS, "arrayOfTwonumbersExample", "arrayOfFloatExample", "arrayOfNumberNoDefaultsExample")

OBJECTS = "arrayOfObjectType"

Change = Callable[[str, list[Any]], Any]


def resources(answer: Answer) -> Iterator[dict[str, Any]]:
    """The resources of an answer, which is one, or a page of them."""
    if isinstance(answer.body, dict) and answer.status < 300:
        for each in [answer.body, *answer.results]:
            if "version" in each and "id" in each and "createdAt" in each:
                yield each


def wholes(answer: Answer) -> Iterator[dict[str, Any]]:
    """Those of them that are not flat."""
    return (each for each in resources(answer) if "objectTypeProperty" in each)


def change_answers(answer: Answer, change: Change) -> None:
    """Change each array of an ObjectType; None leaves it out."""
    for each in resources(answer):
        fields = each.get("objectTypeProperty", each)
        for name, items in arrays(fields).items():
            fields[name] = change(name, items)
            if fields[name] is None:
                del fields[name]


def change_bodies(request: Request, change: Change) -> Request:
    """Change each array of an ObjectType that is sent."""
    body = request.json()
    fields = body.get("objectTypeProperty") if isinstance(body, dict) else None
    if not request.writes_a_body or not isinstance(fields, dict):
        return request
    changed = {name: change(name, items) if isinstance(items, list) else items for name, items in fields.items()}
    if repr(changed) == repr(fields):
        return request
    return request.with_json({**body, "objectTypeProperty": changed})


@of_answers("2.2-9")
def an_absent_property_is_null(request: Request, answer: Answer) -> None:
    for each in wholes(answer):
        each.setdefault("key", None)
        each.setdefault("someProperty", None)


@of_answers("2.3-3")
def arrays_come_sorted(request: Request, answer: Answer) -> None:
    change_answers(answer, lambda name, items: items if name == OBJECTS else sorted(items))


@of_answers("2.3-5")
def integers_are_kept_as_doubles(request: Request, answer: Answer) -> None:
    change_answers(answer, lambda name, items: [float(item) if isinstance(item, int) else item for item in items])


@of_requests("2.3-13")
def texts_are_converted_to_numbers(request: Request) -> Request:
    return change_bodies(
        request,
        lambda name, items: (
            [int(item) if isinstance(item, str) and item.isdecimal() else item for item in items]
            if name in NUMBERS
            else items
        ),
    )


def change_texts(answer: Answer, change: Callable[[str], str]) -> None:
    """Change the texts of answers."""
    change_answers(answer, lambda name, items: [change(item) for item in items] if "String" in name else items)


@of_answers("2.3-16")
def texts_are_normalised(request: Request, answer: Answer) -> None:
    change_texts(answer, lambda text: unicodedata.normalize("NFC", text))
