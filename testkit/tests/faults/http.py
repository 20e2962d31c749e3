"""Faults of conditional requests, methods and encodings."""

from typing import Any

from planted import alter, app, fault, wrap
from small_server.application import Answer, Request
from small_server.resources import Preconditions
from small_server.serving import SmallServer


@fault("H-1")
def the_etag_never_changes(server: SmallServer) -> None:
    def change(request: Request, made: Answer) -> None:
        if "ETag" in made.headers:
            made.headers["ETag"] = '"1"'

    alter(server, change)


@fault("H-1")
def a_write_has_no_etag(server: SmallServer) -> None:
    def change(request: Request, made: Answer) -> None:
        if request.method not in ("GET", "HEAD"):
            made.headers.pop("ETag", None)

    alter(server, change)


@fault("H-5")
def if_match_is_ignored(server: SmallServer) -> None:
    wrap(app(server), "conditions", lambda method, request: Preconditions(None, method(request).none_match))


@fault("H-2")
def if_none_match_is_ignored(server: SmallServer) -> None:
    wrap(app(server), "conditions", lambda method, request: Preconditions(method(request).match, None))


@fault("H-11")
def a_weak_tag_satisfies_if_match(server: SmallServer) -> None:
    wrap(
        app(server).tags,
        "held",
        lambda method, tags, resource, *, weak: method(tags, resource, weak=True),
    )


@fault("H-12")
def only_the_first_tag_counts(server: SmallServer) -> None:
    wrap(app(server).tags, "read", lambda method, name, text: method(name, text)[:1])


@fault("H-13")
def a_tag_needs_no_quotes(server: SmallServer) -> None:
    wrap(
        app(server).tags,
        "read",
        lambda method, name, text: method(name, f'"{text}"' if text.isalnum() else text),
    )


@fault("H-8")
def if_match_creates(server: SmallServer) -> None:
    wrap(
        app(server).writes,
        "hold",
        lambda method, conditions, found: None if found is None else method(conditions, found),
    )


@fault("H-7")
def the_version_comes_before_if_match(server: SmallServer) -> None:
    writes = app(server).writes

    def update(method: Any, project: str, client: str, wanted: str, body: Any, conditions: Any) -> Any:
        writes.compare(writes.wanted(project, wanted), body["version"])
        return method(project, client, wanted, body, conditions)

    wrap(writes, "update", update)


@fault("H-6")
def a_patch_needs_a_version_in_any_case(server: SmallServer) -> None:
    wrap(
        app(server).write_bodies,
        "on_collection",
        lambda method, verb, body, *, has_match: method(verb, body, has_match=False),
    )


@fault("H-15")
def options_need_a_token(server: SmallServer) -> None:
    def answer(method: Any, request: Request) -> Answer:
        if request.method == "OPTIONS" and "authorization" not in request.headers:
            return app(server).refusal(app(server).identity.no_token())
        return method(request)

    wrap(app(server), "dispatch", answer)


@fault("H-16")
def a_put_on_an_id_does_nothing(server: SmallServer) -> None:
    wrap(
        app(server),
        "by_id",
        lambda method: {**(made := method()), "PUT": made["GET"]},
    )


@fault("H-17")
def any_content_type_is_accepted(server: SmallServer) -> None:
    def look_at_body(method: Any, request: Request, endpoint: Any) -> None:
        if endpoint.takes == "application/json":
            request.headers["content-type"] = "application/json"
        method(request, endpoint)

    wrap(app(server), "look_at_body", look_at_body)


@fault("H-18")
def an_answer_for_browsers_is_html(server: SmallServer) -> None:
    def change(request: Request, made: Answer) -> None:
        if "html" in request.headers.get("accept", "") and made.body is not None:
            made.body, made.headers["Content-Type"] = b"<p>Hello</p>", "text/html"

    alter(server, change)


@fault("H-19")
def a_body_in_chunks_is_dropped(server: SmallServer) -> None:
    def answer(method: Any, request: Request) -> Answer:
        if "transfer-encoding" in request.headers:
            request.body = b""
        return method(request)

    wrap(app(server), "answer", answer)


@fault("H-20")
def a_connection_ends_with_an_error(server: SmallServer) -> None:
    def change(request: Request, made: Answer) -> None:
        if made.status >= 400:
            made.headers["Connection"] = "close"

    alter(server, change)


@fault("4-2")
def a_charset_is_refused(server: SmallServer) -> None:
    def look_at_body(method: Any, request: Request, endpoint: Any) -> None:
        method(request, endpoint)
        if "charset" in request.headers.get("content-type", ""):
            request.headers["content-type"] = "text/plain"
            method(request, endpoint)

    wrap(app(server), "look_at_body", look_at_body)


@fault("4-3")
def a_content_type_without_a_body_is_refused(server: SmallServer) -> None:
    def answer(method: Any, request: Request) -> Answer:
        if request.method in ("GET", "DELETE") and "content-type" in request.headers:
            request.query = b"unexpected=1"
        return method(request)

    wrap(app(server), "answer", answer)
