"""Faults of reads by id and key, of addresses, and of the existence check."""

from typing import Any

from planted import alter, app, fault, wrap
from small_server.application import Answer, Request
from small_server.serving import SmallServer


@fault("2.1-6")
def a_key_stays_percent_encoded(server: SmallServer) -> None:
    def answer(method: Any, request: Request) -> Answer:
        if "/resource/key=" in request.path:
            request.path = request.path.replace("%", "%25")
        return method(request)

    wrap(app(server), "answer", answer)


@fault("2.1-8")
def an_encoded_slash_separates(server: SmallServer) -> None:
    def answer(method: Any, request: Request) -> Answer:
        request.path = request.path.replace("%2F", "/").replace("%2f", "/")
        return method(request)

    wrap(app(server), "answer", answer)


@fault("2.1-11")
def empty_segments_are_skipped(server: SmallServer) -> None:
    def answer(method: Any, request: Request) -> Answer:
        if "artificially" not in request.path and "key=" not in request.path:
            request.path = "/" + "/".join(filter(None, request.path.split("/")))
        return method(request)

    wrap(app(server), "answer", answer)


@fault("4.3-4")
def keys_are_compared_in_any_letter_case(server: SmallServer) -> None:
    store = app(server).store
    store.by_key = lambda project, key: next(
        (found for found in store.resources(project) if (found.key or "").lower() == key.lower()), None
    )


@fault("4.2-3")
def an_unknown_id_is_a_bad_request(server: SmallServer) -> None:
    def change(request: Request, made: Answer) -> None:
        if request.method == "GET" and made.status == 404 and "with ID" in made.body["message"]:
            made.status = made.body["statusCode"] = 400

    alter(server, change)


@fault("4.2-2")
def an_optional_parameter_hides_the_resource(server: SmallServer) -> None:
    def answer(method: Any, request: Request) -> Answer:
        if b"ptionalQueryParameter" in request.query:
            request.path += "x"
        return method(request)

    wrap(app(server), "answer", answer)


@fault("4.2-4")
def ids_in_upper_case_are_not_found(server: SmallServer) -> None:
    store = app(server).store
    wrap(store, "by_id", lambda method, project, wanted: method(project, wanted if wanted == wanted.lower() else "-"))


@fault("4.3-2")
def an_unknown_key_is_an_empty_answer(server: SmallServer) -> None:
    def change(request: Request, made: Answer) -> None:
        if made.status == 404 and "/key=" in request.path:
            made.status, made.body = 200, {}

    alter(server, change)


@fault("4.3-5")
def a_key_that_is_a_word_is_taken_for_it(server: SmallServer) -> None:
    def answer(method: Any, request: Request) -> Answer:
        request.path = request.path.replace("/key=searchApiPattern", "/searchApiPattern")
        return method(request)

    wrap(app(server), "answer", answer)


@fault("4.5-2")
def the_existence_check_is_always_200(server: SmallServer) -> None:
    def change(request: Request, made: Answer) -> None:
        if request.method == "HEAD" and request.path.endswith("/resource") and made.status == 404:
            made.status = 200

    alter(server, change)


@fault("4.5-1", "H-14")
def an_answer_to_head_has_a_body(server: SmallServer) -> None:
    wrap(
        server,
        "sends_body",
        lambda method, verb, made: method("GET" if verb == "HEAD" else verb, made),
    )
    wrap(app(server), "check_existence", lambda method, call: Answer(method(call).status, {"exists": True}))


@fault("4.5-3")
def the_existence_check_ignores_arrays_of_texts(server: SmallServer) -> None:
    def answer(method: Any, request: Request) -> Answer:
        if request.method == "HEAD":
            kept = [each for each in request.query.split(b"&") if not each.startswith(b"arrayOfString")]
            request.query = b"&".join(kept)
        return method(request)

    wrap(app(server), "answer", answer)


@fault("4.2-1")
def a_resource_is_wrapped_in_a_page(server: SmallServer) -> None:
    application = app(server)
    wrap(application, "get_by_id", lambda method, call: Answer(200, {"results": [method(call).body]}))
