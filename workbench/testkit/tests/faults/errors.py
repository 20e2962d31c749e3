"""Faults of error bodies and of what comes first."""

from planted import Answer, Forward, Request, around, of_answers, refusal


@of_answers("E-1", status=404)
def an_unknown_url_is_answered_with_html(request: Request, answer: Answer) -> None:
    if answer.says.count("URI not found"):
        answer.body, answer.headers["Content-Type"] = b"<h1>Not Found</h1>", "text/html"


@of_answers("E-13", status=400)
def only_the_first_fault_is_told(request: Request, answer: Answer) -> None:
    answer.body["errors"] = answer.errors[:1]


@around("E-17")
def a_body_is_looked_at_before_the_token(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if answer.status in (401, 403) and request.json() is None and "json" in request.headers.get("content-type", ""):
        return refusal(400, "InvalidJsonInput", detailedErrorMessage="No JSON.")
    return answer


@of_answers("E-27", status=400)
def a_missing_variable_is_a_fault_of_the_server(request: Request, answer: Answer) -> None:
    if any(text in answer.says for text in ("U+0000", "UTF-8", "%00")):
        answer.status = answer.body["statusCode"] = 500
