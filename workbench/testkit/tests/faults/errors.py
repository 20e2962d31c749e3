"""Faults of error bodies and of what comes first."""

from planted import Answer, Forward, Request, around, of_answers, of_requests, refusal


@of_answers("E-3", status=404)
def an_unknown_url_is_answered_with_html(request: Request, answer: Answer) -> None:
    if answer.says.count("URI not found"):
        answer.body, answer.headers["Content-Type"] = b"<h1>Not Found</h1>", "text/html"


@of_answers("E-1")
def the_message_is_not_that_of_the_first_error(request: Request, answer: Answer) -> None:
    if answer.errors:
        answer.body["message"] = "Something is wrong."


@of_answers("E-21", status=405)
def a_405_does_not_say_what_is_allowed(request: Request, answer: Answer) -> None:
    answer.headers.pop("Allow")


@of_requests("E-29")
def the_correlation_id_is_always_a_new_one(request: Request) -> Request:
    return request.header("x-correlation-id", None)


@of_answers("E-13", status=400)
def only_the_first_fault_is_told(request: Request, answer: Answer) -> None:
    answer.body["errors"] = answer.errors[:1]


@of_answers("E-7", "E-10", status=400)
def paths_in_errors_have_dots(request: Request, answer: Answer) -> None:
    for found in answer.errors:
        for name in ("detailedErrorMessage", "field"):
            if name in found:
                found[name] = found[name].replace(" -> ", ".")


@of_answers("E-5", status=400)
def a_wrong_parameter_is_not_named(request: Request, answer: Answer) -> None:
    for found in answer.errors:
        if found["message"].startswith("Malformed parameter: "):
            found["message"] = "Malformed parameter."
    answer.body["message"] = answer.errors[0]["message"]


@around("E-17")
def a_body_is_looked_at_before_the_token(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if answer.status in (401, 403) and request.body and b"{" not in request.body:
        return refusal(400, "InvalidJsonInput", detailedErrorMessage="No JSON.")
    return answer


@of_answers("E-22", status=413)
def a_body_may_have_any_size(request: Request, answer: Answer) -> None:
    # A server that keeps such a body is no fault; this one reads it, and gives up.
    answer.status = answer.body["statusCode"] = 500


@of_answers("E-36", status=400)
def a_value_that_is_too_large_is_repeated(request: Request, answer: Answer) -> None:
    for found in answer.errors:
        if "65536" in found["message"]:
            found["invalidValue"] = "x" * 65_537


@of_answers("E-27", status=400)
def a_missing_variable_is_a_fault_of_the_server(request: Request, answer: Answer) -> None:
    if any(text in answer.says for text in ("U+0000", "UTF-8", "%00")):
        answer.status = answer.body["statusCode"] = 500
