"""Faults of values: of what is accepted, and of how it is kept and answered."""

import unicodedata
from typing import Any

from planted import alter, app, fault, wrap
from small_server.resources import Resource
from small_server.serving import SmallServer


def change_fields(server: SmallServer, change: Any) -> None:
    """Answer each array of an ObjectType changed."""
    wrap(
        app(server).shapes,
        "object_type",
        lambda method, fields: {name: change(name, items) for name, items in method(fields).items()},
    )


@fault("2.2-9")
def an_absent_property_is_null(server: SmallServer) -> None:
    def whole(method: Any, resource: Resource) -> Any:
        return {"key": None, "someProperty": None, **method(resource)}

    wrap(app(server).shapes, "whole", whole)


@fault("2.2-10")
def a_member_that_no_resource_has(server: SmallServer) -> None:
    wrap(app(server).shapes, "whole", lambda method, resource: {**method(resource), "isNew": resource.version == 1})


@fault("2.2-7")
def a_key_in_lower_case(server: SmallServer) -> None:
    def whole(method: Any, resource: Resource) -> Any:
        made = method(resource)
        return {**made, "key": made["key"].lower()} if "key" in made else made

    wrap(app(server).shapes, "whole", whole)


@fault("2.2-4")
def times_without_milliseconds(server: SmallServer) -> None:
    app(server).writes.now = lambda: "2020-02-29T12:00:00Z"


@fault("2.2-4")
def times_with_an_offset(server: SmallServer) -> None:
    app(server).writes.now = lambda: "2020-02-29T12:00:00.000+00:00"


@fault("2.2-5")
def the_id_of_a_client_is_its_name(server: SmallServer) -> None:
    wrap(app(server).shapes, "client", lambda method, client_id: {"typeId": "api-client", "id": "somebody"})


@fault("2.2-3")
def ids_are_random(server: SmallServer) -> None:
    wrap(app(server).store, "new_id", lambda method: (found := method())[:14] + "4" + found[15:])


@fault("2.2-12")
def a_key_of_one_letter(server: SmallServer) -> None:
    bodies = app(server).bodies
    bodies.key = lambda value, path: (
        bodies.text(value, path) if len(str(value)) == 1 else type(bodies).key(bodies, value, path)
    )


@fault("2.2-12")
def a_key_with_a_dot_is_accepted(server: SmallServer) -> None:
    bodies = app(server).bodies
    bodies.key = lambda value, path: (value, []) if "." in str(value) else type(bodies).key(bodies, value, path)


@fault("2.2-12")
def a_key_of_255_letters_is_the_longest(server: SmallServer) -> None:
    bodies = app(server).bodies
    wrap(bodies, "key", lambda method, value, path: method(value if len(str(value)) < 256 else ".", path))


@fault("2.3-3", others=5)
def arrays_come_sorted(server: SmallServer) -> None:
    change_fields(server, lambda name, items: items if name == "arrayOfObjectType" else sorted(items))


@fault("2.3-3", others=5)
def duplicates_are_dropped(server: SmallServer) -> None:
    change_fields(server, lambda name, items: items if name == "arrayOfObjectType" else list(dict.fromkeys(items)))


@fault("2.3-4")
def empty_arrays_are_left_out(server: SmallServer) -> None:
    wrap(
        app(server).shapes,
        "object_type",
        lambda method, fields: {name: items for name, items in method(fields).items() if items},
    )


@fault("2.3-2", "2.3-4")
def absent_arrays_come_as_empty_ones(server: SmallServer) -> None:
    wrap(app(server).shapes, "object_type", lambda method, fields: {"arrayOfIntExample": [], **method(fields)})


@fault("2.3-5")
def integers_are_kept_as_doubles(server: SmallServer) -> None:
    change_fields(server, lambda name, items: [float(item) if isinstance(item, int) else item for item in items])


@fault("2.3-6")
def numbers_are_rounded(server: SmallServer) -> None:
    change_fields(
        server, lambda name, items: [float(f"{item:.6g}") if isinstance(item, float) else item for item in items]
    )


@fault("2.3-10")
def the_small_integers_are_not_checked(server: SmallServer) -> None:
    bodies = app(server).bodies
    bodies.int32 = lambda value, path: bodies.integer(value, path)


@fault("2.3-10")
def the_smallest_small_integer_is_refused(server: SmallServer) -> None:
    bodies = app(server).bodies
    bodies.int32 = lambda value, path: bodies.integer(value, path, (-(2**31) + 1, 2**31 - 1))


@fault("2.3-8")
def fractions_are_cut_off(server: SmallServer) -> None:
    wrap(
        app(server).bodies,
        "integer",
        lambda method, value, *given: method(int(value) if isinstance(value, float) else value, *given),
    )


@fault("2.3-13")
def texts_are_converted_to_numbers(server: SmallServer) -> None:
    def integer(method: Any, value: Any, *given: Any) -> Any:
        return method(int(value) if isinstance(value, str) and value.isdigit() else value, *given)

    wrap(app(server).bodies, "integer", integer)
    wrap(app(server).bodies, "any_number", integer)


@fault("2.3-14")
def repetitions_are_accepted(server: SmallServer) -> None:
    bodies = app(server).bodies
    bodies.unique = bodies.array(bodies.integer)


@fault("2.3-15")
def three_of_two_numbers_are_accepted(server: SmallServer) -> None:
    bodies = app(server).bodies
    bodies.two = bodies.array(bodies.any_number)


@fault("2.3-16")
def texts_are_trimmed(server: SmallServer) -> None:
    change_fields(server, lambda name, items: [item.strip() for item in items] if "String" in name else items)


@fault("2.3-16")
def texts_are_normalised(server: SmallServer) -> None:
    change_fields(
        server,
        lambda name, items: [unicodedata.normalize("NFC", item) for item in items] if "String" in name else items,
    )


@fault("4-15")
def the_last_of_two_equal_names_counts(server: SmallServer) -> None:
    app(server).bodies.members = dict


@fault("4-16")
def unknown_fields_are_ignored(server: SmallServer) -> None:
    app(server).bodies.unknown = lambda name, path, fields: []


@fault("4.6-9")
def objecttypeproperty_may_be_missing(server: SmallServer) -> None:
    def on_collection(method: Any, verb: str, body: bytes, *, has_match: bool) -> Any:
        given = body.strip()
        if given.startswith(b"{") and b"objectTypeProperty" not in given:
            given = given[:-1] + (b"," if given[1:-1].strip() else b"") + b'"objectTypeProperty": {}}'
        return method(verb, given, has_match=has_match)

    wrap(app(server).write_bodies, "on_collection", on_collection)


@fault("4-1")
def answers_without_a_content_type(server: SmallServer) -> None:
    alter(server, lambda _, made: made.headers.setdefault("Content-Type", "text/plain"))


@fault("2.2-13")
def a_write_answers_what_was_there_before(server: SmallServer) -> None:
    application = app(server)

    def change(request: Any, made: Any) -> None:
        if request.method == "PUT" and made.status == 200:
            made.body = {**made.body, "objectTypeProperty": {"arrayOfStringExample": ["before"]}}

    alter(server, change)
    assert application is server.application
