"""Faults of the endpoints that only show what has arrived."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from planted import Answer, Forward, Request, around, of_answers, of_requests, refusal

from app.resource.echo import UNTYPED

COMPLEX = "artificially-complex/"

LINKS = "description-with-urn-links"

KNOWN = (*UNTYPED, "createdAt", "lastModifiedAt", "createdBy", "lastModifiedBy")


def is_sample(request: Request) -> bool:
    return request.rest.startswith((COMPLEX, LINKS))


def change_record(request: Request, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Request:
    """Change the record that a sample gets."""
    record = request.json()
    return request.with_json(change(record)) if is_sample(request) and isinstance(record, dict) else request


def change_values(request: Request, change: Callable[[Any], Any]) -> Request:
    """Change the values of any type in the record."""
    return change_record(
        request,
        lambda record: {name: change(value) if name in UNTYPED else value for name, value in record.items()},
    )


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@of_answers("4.9-2")
def texts_of_the_record_come_sorted(request: Request, answer: Answer) -> None:
    if is_sample(request) and isinstance(answer.body, dict) and "arrayOfStringExample" in answer.body:
        texts = answer.body["arrayOfStringExample"]
        first = len(request.values("queryParameterTwo")) + (2 if request.rest != LINKS else 0)
        texts[first:] = sorted(texts[first:])


@of_requests("4.9-2")
def booleans_are_written_as_python_does(request: Request) -> Request:
    return change_values(request, lambda value: str(value) if isinstance(value, bool) else value)


@of_requests("4.9-3")
def numbers_of_the_record_are_lost(request: Request) -> Request:
    return change_record(
        request, lambda record: {name: value for name, value in record.items() if not is_number(value)}
    )


@of_requests("4.9-4")
def one_moment_is_enough(request: Request) -> Request:
    return change_record(request, lambda record: {"lastModifiedAt": "2020-01-01T00:00:00Z", **record})


@of_answers("4.9-5")
def arrays_without_a_value_are_empty(request: Request, answer: Answer) -> None:
    if is_sample(request) and isinstance(answer.body, dict) and answer.status < 300:
        answer.body.setdefault("arrayOfIntExample", [])


@around("4.9-6")
def a_sample_is_kept(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if request.rest.startswith(COMPLEX) and answer.status < 300:
        forward(request.to("", "POST", json={"objectTypeProperty": {}}))
    return answer


@of_requests("4.9-9")
def prefer_is_ignored(request: Request) -> Request:
    return request.header("prefer", None) if request.rest.startswith(COMPLEX) else request


@of_answers("4.9-9")
def any_preference_is_applied(request: Request, answer: Answer) -> None:
    code = re.fullmatch(r"code=([2-5]\d\d)", request.headers.get("prefer", ""))
    if code and request.rest.startswith(COMPLEX) and answer.status < 300:
        answer.status = int(code[1])
        answer.headers["Preference-Applied"] = code[0]


@of_requests("4.9-10")
def the_answer_is_never_a_form(request: Request) -> Request:
    return request.header("accept", None) if request.rest.startswith(COMPLEX) else request


@of_answers("4.13-3", status=202)
def a_202_does_not_say_so(request: Request, answer: Answer) -> None:
    answer.headers.pop("Preference-Applied", None)


@of_requests("2.5-2")
def the_time_of_creation_is_shown(request: Request) -> Request:
    return change_record(
        request,
        lambda record: {**record, "lastModifiedAt": record["createdAt"]} if "createdAt" in record else record,
    )


@of_answers("2.5-1", status=202)
def the_date_of_rfc_1123_has_no_weekday(request: Request, answer: Answer) -> None:
    answer.body["dateTimeExampleRfc"] = answer.body["dateTimeExampleRfc"].partition(", ")[2]


@of_requests("2.4-5")
def unknown_fields_of_the_record_are_dropped(request: Request) -> Request:
    return change_record(request, lambda record: {name: record[name] for name in record if name in KNOWN})


@around("2.4-3")
def the_record_takes_no_objects(request: Request, forward: Forward) -> Answer:
    if is_sample(request) and any(isinstance(request.members().get(name), dict) for name in UNTYPED):
        return refusal(400, "InvalidJsonInput", detailedErrorMessage="JSON String expected.")
    return forward(request)


@of_requests("4.9-2")
def objects_are_written_as_python_does(request: Request) -> Request:
    return change_values(request, lambda value: str(value) if isinstance(value, dict | list) else value)


@around("4.9-10", "H-23")
def a_page_is_not_acceptable(request: Request, forward: Forward) -> Answer:
    accept = request.headers.get("accept", "*/*")
    if request.rest.startswith(COMPLEX) and "application/" not in accept and "*/*" not in accept:
        return refusal(406, message="The answer is JSON or a form.")
    return forward(request)


@around("4.13-6", "A-11")
def a_sample_needs_a_scope_of_writing(request: Request, forward: Forward) -> Answer:
    if request.rest == LINKS and "authorization" in request.headers:
        refused = forward(replace(request.to("", "POST"), body=b"no JSON"))
        if refused.status == 403:
            return refused
    return forward(request)
