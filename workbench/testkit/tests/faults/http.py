"""Faults of conditional requests, methods and encodings."""

from dataclasses import replace
from typing import Any

from gunicorn.http.wsgi import Response
from planted import JSON, Answer, Forward, Planted, Request, around, inside, of_answers, of_requests

from app.resource.model import Preconditions
from app.resource.writing import rules


@of_answers("H-1")
def the_etag_never_changes(request: Request, answer: Answer) -> None:
    if "ETag" in answer.headers:
        answer.headers["ETag"] = '"1"'


@of_answers("H-24")
def pages_of_other_origins_cannot_read_errors(request: Request, answer: Answer) -> None:
    if answer.status >= 400:
        answer.headers.pop("Access-Control-Allow-Origin", None)


@of_requests("H-26")
def a_content_encoding_is_ignored(request: Request) -> Request:
    return request.header("content-encoding", None)


@of_requests("H-5")
def if_match_is_ignored(request: Request) -> Request:
    return request.header("if-match", "*") if '"' in request.headers.get("if-match", "") else request


@of_requests("H-2")
def if_none_match_is_ignored(request: Request) -> Request:
    return request.header("if-none-match", None)


def change_tags(request: Request, change: Any) -> Request:
    """Change If-Match and If-None-Match."""
    for name in ("if-match", "if-none-match"):
        if name in request.headers:
            request = request.header(name, change(request.headers[name]))
    return request


@of_requests("H-12")
def only_the_first_tag_counts(request: Request) -> Request:
    return change_tags(request, lambda text: text.strip(" ,").partition(",")[0])


@inside("H-7")
def the_version_comes_before_if_match(planted: Planted) -> None:
    def refused(method: Any, given: Preconditions, *rest: Any) -> None:
        method(Preconditions(expected=given.expected), *rest)
        method(given, *rest)

    planted.wrap(rules, "raise_if_refused", refused)


@around("H-15", "H-25")
def options_need_a_token(request: Request, forward: Forward) -> Answer:
    if request.method == "OPTIONS" and "authorization" not in request.headers:
        return forward(replace(request, method="GET"))
    return forward(request)


@of_requests("H-17")
def any_content_type_is_accepted(request: Request) -> Request:
    takes_json = request.body and request.rest not in ("-", "product-projection-search")
    return request.header("content-type", JSON) if takes_json else request


@of_requests("H-19")
def a_body_in_chunks_is_dropped(request: Request) -> Request:
    return replace(request, body=b"") if "transfer-encoding" in request.headers else request


@inside("H-20")
def a_connection_ends_with_an_error(planted: Planted) -> None:
    planted.wrap(Response, "should_close", lambda method, answer: (answer.status_code or 200) >= 400 or method(answer))
