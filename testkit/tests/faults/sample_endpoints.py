"""Faults of the endpoints that only show what has arrived."""

from typing import Any

from planted import app, fault, wrap
from small_server.refusals import Refused, entry
from small_server.resources import Resource
from small_server.samples import is_number
from small_server.serving import SmallServer


@fault("4.9-2")
def texts_of_the_record_come_sorted(server: SmallServer) -> None:
    def echo(method: Any, record: Any, *, texts: list[str], number: Any) -> Any:
        made = method(record, texts=texts, number=number)
        shown = made.get("arrayOfStringExample", [])
        return {**made, "arrayOfStringExample": texts + sorted(shown[len(texts) :])} if shown else made

    wrap(app(server).samples, "echo", echo)


@fault("4.9-2")
def booleans_are_written_as_python_does(server: SmallServer) -> None:
    wrap(app(server).samples, "text", lambda method, value: str(value))


@fault("4.9-3")
def numbers_of_the_record_are_lost(server: SmallServer) -> None:
    wrap(
        app(server).samples,
        "echo",
        lambda method, record, **given: method(
            {name: each for name, each in record.items() if not is_number(each)}, **given
        ),
    )


@fault("4.9-4")
def one_moment_is_enough(server: SmallServer) -> None:
    wrap(
        app(server).samples,
        "moments",
        lambda method, record: method({"lastModifiedAt": "2020-01-01T00:00:00Z", **record}),
    )


@fault("4.9-5")
def arrays_without_a_value_are_empty(server: SmallServer) -> None:
    wrap(
        app(server).samples,
        "echo",
        lambda method, record, **given: {"arrayOfIntExample": [], **method(record, **given)},
    )


@fault("4.9-6")
def a_sample_is_kept(server: SmallServer) -> None:
    application = app(server)

    def sample(method: Any, call: Any) -> Any:
        made = method(call)
        now = application.writes.now()
        kept = Resource(application.store.new_id(), None, 1, now, now, call.client, call.client)
        if isinstance(made.body, dict):
            kept.current.fields = kept.staged.fields = made.body
        application.store.keep(call.project, kept)
        return made

    wrap(application, "complex_sample", sample)


@fault("4.9-9")
def prefer_is_ignored(server: SmallServer) -> None:
    application = app(server)
    wrap(application, "preferred", lambda method, call, *codes: method(call, *(codes if 202 in codes else ())))


@fault("4.9-9")
def any_preference_is_applied(server: SmallServer) -> None:
    application = app(server)
    wrap(
        application,
        "preferred",
        lambda method, call, *codes: method(call, *(codes if 202 in codes else range(200, 600))),
    )


@fault("4.9-10")
def the_answer_is_never_a_form(server: SmallServer) -> None:
    app(server).accepted = lambda accept: "application/json"


@fault("4.13-3")
def a_202_does_not_say_so(server: SmallServer) -> None:
    application = app(server)

    def preferred(method: Any, call: Any, *codes: int) -> Any:
        status, headers = method(call, *codes)
        return status, {} if 202 in codes else headers

    wrap(application, "preferred", preferred)


@fault("2.5-2")
def the_time_of_creation_is_shown(server: SmallServer) -> None:
    wrap(
        app(server).samples,
        "times",
        lambda method, record: method({"lastModifiedAt": record["createdAt"]} if "createdAt" in record else record),
    )


@fault("2.5-1")
def the_date_of_rfc_1123_has_no_weekday(server: SmallServer) -> None:
    wrap(app(server).samples, "rfc", lambda method, ms, whole: method(ms, whole).partition(", ")[2])


@fault("2.4-5")
def unknown_fields_of_the_record_are_dropped(server: SmallServer) -> None:
    bodies = app(server).bodies
    wrap(
        bodies,
        "unknown",
        lambda method, name, path, fields: [] if "eigthProperty" in fields else method(name, path, fields),
    )


@fault("2.4-3")
def the_record_takes_no_objects(server: SmallServer) -> None:
    bodies = app(server).bodies
    wrap(
        bodies,
        "json",
        lambda method, value, path: bodies.text(value, path) if isinstance(value, dict) else method(value, path),
    )


@fault("4.9-2")
def objects_are_written_as_python_does(server: SmallServer) -> None:
    wrap(
        app(server).samples,
        "text",
        lambda method, value: str(value) if isinstance(value, dict | list) else method(value),
    )


@fault("4.9-10", "H-23")
def a_page_is_not_acceptable(server: SmallServer) -> None:
    def accepted(method: Any, accept: str) -> str:
        if not any(kind in accept for kind in ("application/", "*/*")):
            raise Refused(406, entry("InvalidInput", "The answer is JSON or a form."))
        return method(accept)

    wrap(app(server), "accepted", accepted)


@fault("4.13-6", "A-11")
def a_sample_needs_a_scope_of_writing(server: SmallServer) -> None:
    application = app(server)

    def named(method: Any, name: str) -> Any:
        made = method(name)
        if name != "description-with-urn-links":
            return made
        endpoint = made["POST"]
        return {"POST": type(endpoint)(endpoint.serve, ("manage_test",), endpoint.declared, endpoint.takes)}

    wrap(application, "named", named)
