"""Faults of reads by id and key, of addresses, and of the existence check."""

from dataclasses import replace
from typing import Any
from urllib.parse import quote, unquote

from gunicorn.http.wsgi import Response
from planted import Answer, Forward, Planted, Request, around, inside, of_answers, of_requests


@of_requests("2.1-6")
def a_key_stays_percent_encoded(request: Request) -> Request:
    return replace(request, path=request.path.replace("%", "%25")) if "/resource/key=" in request.path else request


@of_requests("2.1-8")
def an_encoded_slash_separates(request: Request) -> Request:
    return replace(request, path=request.path.replace("%2F", "/").replace("%2f", "/"))


@of_requests("2.1-11")
def empty_segments_are_skipped(request: Request) -> Request:
    if "artificially" in request.path or "key=" in request.path:
        return request
    return replace(request, path="/" + "/".join(filter(None, request.path.split("/"))))


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


@of_requests("4.2-2")
def an_optional_parameter_hides_the_resource(request: Request) -> Request:
    return replace(request, path=f"{request.path}x") if "ptionalQueryParameter" in request.query else request


@of_requests("4.2-4")
def ids_in_upper_case_are_not_found(request: Request) -> Request:
    has_capitals = request.is_item and request.rest != request.rest.lower()
    return replace(request, path=f"{request.path}x") if has_capitals else request


@of_answers("4.3-2", status=404)
def an_unknown_key_is_an_empty_answer(request: Request, answer: Answer) -> None:
    if request.rest.startswith("key="):
        answer.status, answer.body = 200, {}


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


@of_requests("4.5-3")
def the_existence_check_ignores_arrays_of_texts(request: Request) -> Request:
    if request.method != "HEAD":
        return request
    return request.without("arrayOfString", "arrayOfStringWithDescription")


@of_answers("4.2-1", status=200)
def a_resource_is_wrapped_in_a_page(request: Request, answer: Answer) -> None:
    if request.method == "GET" and request.is_item:
        answer.body = {"results": [answer.body]}
