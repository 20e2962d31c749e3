"""Makes responses of JSON and of HTML."""

from flask import Response

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
