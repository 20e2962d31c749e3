"""Faults of the endpoints that only show what has arrived."""

from collections.abc import Callable
from typing import Any

from planted import Answer, Forward, Request, around, of_answers, of_requests

from app.echo.record import UNTYPED

COMPLEX = "artificially-complex/"

LINKS = "description-with-urn-links"

KNOWN = (*UNTYPED, "createdAt", "lastModifiedAt", "createdBy", "lastModifiedBy")


def is_sample(request: Request) -> bool:
    return request.rest.startswith((COMPLEX, LINKS))


def change_record(request: Request, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Request:
    """Change the record that a sample gets."""
    record = request.json()
    return request.with_json(change(record)) if is_sample(request) and isinstance(record, dict) else request


@of_answers("4.9-2")
def texts_of_the_record_come_sorted(request: Request, answer: Answer) -> None:
    if is_sample(request) and isinstance(answer.body, dict) and "arrayOfStringExample" in answer.body:
        texts = answer.body["arrayOfStringExample"]
        first = len(request.values("queryParameterTwo")) + (2 if request.rest != LINKS else 0)
        texts[first:] = sorted(texts[first:])


@of_requests("4.9-4")
def one_moment_is_enough(request: Request) -> Request:
    return change_record(request, lambda record: {"lastModifiedAt": "2020-01-01T00:00:00Z", **record})


@around("4.9-6")
def a_sample_is_kept(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if request.rest.startswith(COMPLEX) and answer.status < 300:
        forward(request.to("", "POST", json={"objectTypeProperty": {}}))
    return answer


@of_requests("4.9-9")
def prefer_is_ignored(request: Request) -> Request:
    return request.header("prefer", None) if request.rest.startswith(COMPLEX) else request


@of_requests("4.9-10")
def the_answer_is_never_a_form(request: Request) -> Request:
    return request.header("accept", None) if request.rest.startswith(COMPLEX) else request


@of_answers("4.13-3", status=202)
def a_202_does_not_say_so(request: Request, answer: Answer) -> None:
    answer.headers.pop("Preference-Applied", None)


@of_answers("2.5-1", status=202)
def the_date_of_rfc_1123_has_no_weekday(request: Request, answer: Answer) -> None:
    answer.body["dateTimeExampleRfc"] = answer.body["dateTimeExampleRfc"].partition(", ")[2]


@of_requests("2.4-5")
def unknown_fields_of_the_record_are_dropped(request: Request) -> Request:
    return change_record(request, lambda record: {name: record[name] for name in record if name in KNOWN})
