"""Makes responses of JSON and of HTML."""

from flask import Request, Response

from app.values.strict_json import CONTENT_TYPE


def json_answer(body: str | bytes, status: int = 200) -> Response:
    """A response with a JSON text as its body."""
    return Response(body, status, content_type=CONTENT_TYPE)


def html_answer(text: str, policy: str) -> Response:
    """A response with a page of HTML.

    :param policy: its ``Content-Security-Policy``, which says what the page may load.
    """
    answer = Response(text, content_type="text/html; charset=utf-8")
    answer.headers["Content-Security-Policy"] = policy
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer


def complete_headers(request: Request, answer: Response) -> Response:
    """Set the headers that depend on the method, as a hook after the view.

    An answer to OPTIONS that is no error has ``Allow`` and no body, so it has no type; ``Accept-Patch`` says what PATCH
    takes (RFC 5789, section 3.1). An answer to HEAD has no ``Content-Length``, because not every view knows the length
    of the answer to GET (RFC 9110, section 8.6).
    """
    if request.method == "OPTIONS" and answer.allow and answer.status_code < 400:  # a 405 has Allow, too
        methods = sorted(answer.allow)
        answer.headers["Allow"] = ", ".join(methods)
        del answer.headers["Content-Type"]
        if "PATCH" in methods:
            answer.headers["Accept-Patch"] = "application/json"
    elif request.method == "HEAD":
        answer.automatically_set_content_length = False
        del answer.headers["Content-Length"]
    return answer
