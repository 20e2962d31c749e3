"""Faults of reads by id and key, of addresses and parameters, of the existence check, and of 4.9."""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote, unquote

from gunicorn.http.wsgi import Response
from planted import Answer, Forward, Planted, Request, around, inside, of_requests


@of_requests("2.1-8")
def an_encoded_slash_separates(request: Request) -> Request:
    return replace(request, path=request.path.replace("%2F", "/").replace("%2f", "/"))


@around("4.3-4")
def keys_are_compared_in_any_letter_case(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if request.method == "GET" and answer.status == 404 and request.rest.startswith("key="):
        where = f'key matches ignore case "{unquote(request.rest[4:])}"'
        found = forward(request.to("sorted-query-parameters", query=f"where={quote(where)}")).results
        return forward(request.to(found[0]["id"])) if found else answer
    return answer


@inside("4.5-1", "H-14")
def an_answer_to_head_has_a_body(planted: Planted) -> None:
    def write(method: Any, answer: Response, data: bytes) -> None:
        method(answer, data)
        if answer.req.method == "HEAD":
            answer.sock.sendall(data)

    def with_body(request: Request, forward: Forward) -> Answer:
        answer = forward(request)
        if request.method == "HEAD" and answer.status == 200:
            answer.body = {"exists": True}
        return answer

    planted.wrap(Response, "write", write)
    planted.around = with_body


@around("4-4")
def undeclared_parameters_are_ignored(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    unknown = re.findall("Malformed parameter: ([^:]*): Unknown parameter", answer.says)
    return forward(request.without(*unknown)) if unknown else answer


@around("4-5")
def the_last_of_two_values_counts(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    repeated = set(re.findall("Malformed parameter: ([^:]*): The parameter can be given only once", answer.says))
    if not repeated:
        return answer
    kept = [pair for pair in request.parameters if pair[0] not in repeated]
    return forward(request.with_parameters(kept + [(name, request.values(name)[-1]) for name in repeated]))


@of_requests("4-12")
def a_plus_stays_a_plus(request: Request) -> Request:
    return replace(request, query=request.query.replace("+", "%2B"))


COMPLEX = "artificially-complex/"


@around("4.9-6")
def a_sample_is_kept(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if request.rest.startswith(COMPLEX) and answer.status < 300:
        forward(request.to("", "POST", json={"objectTypeProperty": {}}))
    return answer


@of_requests("4.9-9")
def prefer_is_ignored(request: Request) -> Request:
    return request.header("prefer", None) if request.rest.startswith(COMPLEX) else request
