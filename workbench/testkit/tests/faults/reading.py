"""Faults of reads by id and key, of addresses and parameters, of the existence check, and of 4.9."""

import re
from dataclasses import replace
from typing import Any

from gunicorn.http.wsgi import Response
from planted import Answer, Forward, Planted, Request, around, inside, of_requests


@of_requests("2.1-8")
def an_encoded_slash_separates(request: Request) -> Request:
    return replace(request, path=request.path.replace("%2F", "/").replace("%2f", "/"))


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


COMPLEX = "artificially-complex/"


@around("4.9-6")
def a_sample_is_kept(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if request.rest.startswith(COMPLEX) and answer.status < 300:
        forward(request.to("", "POST", json={"objectTypeProperty": {}}))
    return answer
