"""Faults of conditional requests, methods and encodings."""

from dataclasses import replace

from gunicorn.http.wsgi import Response
from planted import Answer, Planted, Request, inside, of_answers, of_requests


@of_answers("H-1")
def the_etag_never_changes(request: Request, answer: Answer) -> None:
    if "ETag" in answer.headers:
        answer.headers["ETag"] = '"1"'


@of_answers("H-24")
def pages_of_other_origins_cannot_read_errors(request: Request, answer: Answer) -> None:
    if answer.status >= 400:
        answer.headers.pop("Access-Control-Allow-Origin", None)


@of_requests("H-5")
def if_match_is_ignored(request: Request) -> Request:
    return request.header("if-match", "*") if '"' in request.headers.get("if-match", "") else request


@of_requests("H-19")
def a_body_in_chunks_is_dropped(request: Request) -> Request:
    return replace(request, body=b"") if "transfer-encoding" in request.headers else request


@inside("H-20")
def a_connection_ends_with_an_error(planted: Planted) -> None:
    planted.wrap(Response, "should_close", lambda method, answer: (answer.status_code or 200) >= 400 or method(answer))
