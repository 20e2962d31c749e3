"""Faults of lists: their conditions, their order, their pages."""

import random
from typing import Any

from planted import alter, app, fault, wrap
from small_server.application import Answer, Request
from small_server.resources import Resource
from small_server.serving import SmallServer


def change_pages(server: SmallServer, change: Any) -> None:
    """Change the pages of all lists and searches."""

    def altered(request: Request, made: Answer) -> None:
        if made.status == 200 and isinstance(made.body, dict) and "results" in made.body:
            change(made.body)

    alter(server, altered)


def with_page(server: SmallServer, **changed: Any) -> None:
    """Answer pages as if other values had been asked for."""

    class Given:
        def __init__(self, given: Any) -> None:
            self.given = given

        def one(self, name: str, default: Any = None) -> Any:
            found = self.given.one(name, default)
            return changed[name](found) if name in changed else found

    wrap(app(server).lists, "page", lambda method, matches, given: method(matches, Given(given)))


@fault("4.12-5")
def the_offset_is_one_too_far(server: SmallServer) -> None:
    with_page(server, offset=lambda found: found and found + 1)


@fault("4.12-5")
def the_offset_is_a_number_of_pages(server: SmallServer) -> None:
    wrap(
        app(server).lists,
        "page",
        lambda method, matches, given: method(
            matches[given.one("offset", 0) * max(0, app(server).lists.limit(given) - 1) :], given
        ),
    )


@fault("4.12-4")
def the_limit_is_ignored(server: SmallServer) -> None:
    with_page(server, limit=lambda found: 500)


@fault("4.12-4")
def a_page_has_one_result_too_many(server: SmallServer) -> None:
    with_page(server, limit=lambda found: found + 1)


@fault("4.12-4")
def a_limit_of_501_is_accepted(server: SmallServer) -> None:
    def page_faults(method: Any, given: Any) -> Any:
        return [each for each in method(given) if "limit" not in each["message"] or given.one("limit") != 501]

    wrap(app(server).lists, "page_faults", page_faults)


@fault("4.12-9")
def the_total_is_that_of_the_page(server: SmallServer) -> None:
    change_pages(server, lambda page: page.update(total=page["count"]) if "total" in page else None)


@fault("4.12-8")
def the_total_is_always_there(server: SmallServer) -> None:
    with_page(server, withTotal=lambda found: True)


@fault("4.1-2")
def a_page_without_its_count(server: SmallServer) -> None:
    change_pages(server, lambda page: page.pop("count"))


@fault("4.1-3")
def a_result_of_the_list_is_not_flat(server: SmallServer) -> None:
    shapes = app(server).shapes
    wrap(shapes, "listed", lambda method, resource: shapes.whole(resource))


@fault("4.1-4")
def a_result_of_the_list_has_no_version(server: SmallServer) -> None:
    wrap(
        app(server).shapes,
        "listed",
        lambda method, resource: {name: value for name, value in method(resource).items() if name != "version"},
    )


@fault("4.12-3")
def a_result_of_the_sorted_list_is_flat(server: SmallServer) -> None:
    application = app(server)
    wrap(application, "expanded", lambda method, found, call: application.shapes.listed(found))


@fault("4.1-18")
def lists_have_the_newest_first(server: SmallServer) -> None:
    wrap(
        app(server).lists,
        "ordered",
        lambda method, found, sort: method(found, sort) if sort else method(found, sort)[::-1],
    )


@fault("4.12-17")
def equal_resources_come_in_random_order(server: SmallServer) -> None:
    chance = random.Random(7)  # noqa: S311 -- repeatable
    wrap(
        app(server).lists,
        "sorted",
        lambda method, found, field, falling: method(chance.sample(found, len(found)), field, falling),
    )


@fault("4.12-17")
def equal_resources_are_reversed_with_desc(server: SmallServer) -> None:
    wrap(
        app(server).lists,
        "sorted",
        lambda method, found, field, falling: method(found[::-1] if falling else found, field, falling),
    )


@fault("4.12-11")
def desc_is_ignored(server: SmallServer) -> None:
    wrap(app(server).lists, "sorted", lambda method, found, field, falling: method(found, field, False))


@fault("4.12-12")
def the_last_sort_comes_first(server: SmallServer) -> None:
    wrap(app(server).lists, "ordered", lambda method, found, sort: method(found, sort[::-1]))


@fault("4.12-15")
def sort_ignores_letter_case(server: SmallServer) -> None:
    lists = app(server).lists
    lists.sorted = lambda found, field, falling: sorted(
        found,
        key=lambda each: value.lower() if isinstance(value := each[1][field], str) else value,
        reverse=falling,
    )


@fault("4.12-16")
def absent_values_come_first_with_desc(server: SmallServer) -> None:
    def ordered(method: Any, found: Any, sort: list[str]) -> list[Resource]:
        made = method(found, sort)
        if len(sort) != 1 or not sort[0].lower().endswith(" desc"):
            return made
        there = {each.id for each, document in found if sort[0].split()[0] in document}
        return [each for each in made if each.id not in there] + [each for each in made if each.id in there]

    wrap(app(server).lists, "ordered", ordered)


@fault("4.12-18")
def any_field_sorts(server: SmallServer) -> None:
    wrap(
        app(server).lists,
        "page_faults",
        lambda method, given: [each for each in method(given) if "sort path" not in each["message"]],
    )


@fault("4.12-19")
def nothing_is_expanded(server: SmallServer) -> None:
    application = app(server)
    wrap(application, "expanded", lambda method, found, call: application.shapes.whole(found))


@fault("4.1-6")
def a_part_of_a_text_is_found(server: SmallServer) -> None:
    def has(method: Any, found: Any, wanted: Any, *fields: str) -> bool:
        wanted = list(wanted)
        if fields == ("arrayOfStringExample",):
            return all(any(text in item for item in found.get(fields[0], [])) for text in wanted)
        return method(found, wanted, *fields)

    wrap(app(server).lists, "has", has)


@fault("4.1-8")
def integerparameter_looks_in_one_array_only(server: SmallServer) -> None:
    wrap(
        app(server).lists,
        "has",
        lambda method, found, wanted, *fields: method(found, wanted, *fields[:1]),
    )


@fault("4.1-10")
def one_of_several_texts_is_enough(server: SmallServer) -> None:
    def has(method: Any, found: Any, wanted: Any, *fields: str) -> bool:
        wanted = list(wanted)
        return (
            any(method(found, [each], *fields) for each in wanted)
            if len(wanted) > 1
            else method(found, wanted, *fields)
        )

    wrap(app(server).lists, "has", has)


@fault("4.1-11")
def all_texts_are_needed_where_one_is_enough(server: SmallServer) -> None:
    lists = app(server).lists
    lists.has_any = lambda found, wanted: lists.has(found, wanted, "arrayOfStringExample")


@fault("4.1-12")
def objectparameter_has_to_be_equal(server: SmallServer) -> None:
    app(server).lists.within = lambda part, whole: part == whole


@fault("4.1-15")
def one_condition_is_enough(server: SmallServer) -> None:
    lists = app(server).lists

    def conditions(method: Any, given: Any) -> Any:
        hold = method(given)
        word, number = given.one("stringParameter"), given.one("integerParameter")
        if word is None or number is None:
            return hold
        return lambda found: lists.has(found, [word], "arrayOfStringExample")

    wrap(lists, "conditions", conditions)


@fault("4.1-19")
def the_wrapper_of_an_object_is_unknown(server: SmallServer) -> None:
    application = app(server)
    rules = application.bodies
    application.lists.unwrapped = lambda text: rules.checked(rules.object_type(contained=True), text.encode())
