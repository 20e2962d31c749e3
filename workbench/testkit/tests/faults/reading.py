"""Faults of reads by id and key, of addresses, and of the existence check."""

from dataclasses import replace
from typing import Any
from urllib.parse import quote, unquote

from gunicorn.http.wsgi import Response
from planted import Answer, Forward, Planted, Request, around, inside, of_answers, of_requests


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


@of_answers("4.2-3", status=404)
def an_unknown_id_is_a_bad_request(request: Request, answer: Answer) -> None:
    if request.method == "GET" and "with ID" in answer.says:
        answer.status = answer.body["statusCode"] = 400


@of_requests("4.3-5")
def a_key_that_is_a_word_is_taken_for_it(request: Request) -> Request:
    return replace(request, path=request.path.replace("/key=searchApiPattern", "/searchApiPattern"))


@of_answers("4.5-2", status=404)
def the_existence_check_is_always_200(request: Request, answer: Answer) -> None:
    if request.method == "HEAD" and request.rest == "":
        answer.status = 200


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
