"""Makes responses of JSON and of HTML, and reads which of them a client accepts."""

from flask import Request, Response
from werkzeug.datastructures import MIMEAccept

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


_ACCEPT_LENGTH = 2000
"""The most characters of ``Accept`` that are parsed. A thousand take up to 0.6 ms, during which no other
request is served."""


def accepted_types(request: Request) -> MIMEAccept:
    """The media types of ``Accept``, without parameters other than ``q``; none if the header is longer than any client
    needs."""
    listed = request.accept_mimetypes if len(request.headers.get("Accept", "")) <= _ACCEPT_LENGTH else ()
    # The parameters are removed, because werkzeug also compares them: "application/json; charset=utf-8" would not match
    # JSON.
    return MIMEAccept((media_type.partition(";")[0].strip().lower(), quality) for media_type, quality in listed)


def complete_headers(request: Request, answer: Response) -> Response:
    """Add and remove the headers that depend on the method. This is a hook after the view (:mod:`app.application`).

    - OPTIONS: if the answer has ``Allow`` and no body, the methods in ``Allow`` are sorted and ``Content-Type`` is
      removed. If PATCH is among the methods, ``Accept-Patch`` is added, which names the Content-Type that PATCH takes
      (RFC 5789, section 3.1).
    - HEAD: ``Content-Length`` is removed. It would have to be the length of the answer to GET (RFC 9110, section 8.6),
      which not every view knows.
    """
    if request.method == "OPTIONS" and answer.allow and answer.calculate_content_length() == 0:
        methods = sorted(answer.allow)
        answer.headers["Allow"] = ", ".join(methods)
        del answer.headers["Content-Type"]
        if "PATCH" in methods:
            answer.headers["Accept-Patch"] = "application/json"
    elif request.method == "HEAD":
        answer.automatically_set_content_length = False
        del answer.headers["Content-Length"]
    return answer
