"""Faults of the query language."""

from typing import Any

from planted import app, fault, wrap
from small_server.serving import SmallServer


@fault("Q-1")
def where_is_ignored(server: SmallServer) -> None:
    wrap(app(server).predicates, "compile", lambda method, texts, variables: (method(texts, variables), bool)[1])


@fault("Q-1")
def only_the_first_where_counts(server: SmallServer) -> None:
    wrap(app(server).predicates, "compile", lambda method, texts, variables: method(texts[:1], variables))


@fault("Q-3")
def less_is_less_or_equal(server: SmallServer) -> None:
    wrap(
        app(server).predicates,
        "less",
        lambda method, operator, *values: method("<=" if operator == "<" else operator, *values),
    )


@fault("Q-6")
def in_looks_at_one_value_only(server: SmallServer) -> None:
    wrap(app(server).predicates, "equals", lambda method, value, wanted: method(value, wanted[:1]))


@fault("Q-5")
def texts_are_equal_in_any_letter_case(server: SmallServer) -> None:
    def lower(value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    predicates = app(server).predicates
    predicates.equals = lambda value, wanted: any(
        lower(item) == lower(each) for item in predicates.items(value) for each in wanted
    )


@fault("Q-16", others=7)
def only_the_first_element_is_compared(server: SmallServer) -> None:
    wrap(app(server).predicates, "items", lambda method, value: method(value)[:1])


@fault("Q-7")
def contains_all_is_contains_any(server: SmallServer) -> None:
    wrap(app(server).predicates, "contains", lambda method, value, wanted, *, every: method(value, wanted, every=False))


@fault("Q-10")
def an_absent_array_is_not_empty(server: SmallServer) -> None:
    app(server).predicates.is_empty = lambda value: value == []


@fault("Q-11")
def ignore_case_looks_at_letter_case(server: SmallServer) -> None:
    predicates = app(server).predicates
    predicates.ignoring_case = lambda value, wanted: wanted in predicates.items(value)


@fault("Q-12")
def or_is_and(server: SmallServer) -> None:
    predicates = app(server).predicates
    predicates.any_of = predicates.every


@fault("Q-19")
def several_elements_fulfil_a_condition_together(server: SmallServer) -> None:
    predicates = app(server).predicates

    def nested(value: Any, condition: Any) -> bool:
        items = predicates.items(value)
        one = {name: [item[name] for item in items if name in item] for item in items for name in item}
        return bool(items) and condition(one)

    predicates.nested = nested


@fault("Q-15")
def an_absent_field_has_no_truth(server: SmallServer) -> None:
    """``!=`` and ``not in`` are false of an absent field, as in SQL."""

    class Nothing:
        """Equal to each value, so that the negation of ``=`` is false."""

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment] -- as Python has it beside an __eq__

    predicates = app(server).predicates
    wrap(
        predicates,
        "equals",
        lambda method, value, wanted: method(Nothing() if value is None else value, wanted),
    )


@fault("Q-24")
def numbers_are_compared_as_doubles(server: SmallServer) -> None:
    def doubles(value: Any) -> Any:
        if isinstance(value, list):
            return [doubles(item) for item in value]
        return float(value) if isinstance(value, int) else value

    wrap(app(server).predicates, "equals", lambda method, value, wanted: method(doubles(value), doubles(wanted)))


@fault("Q-33")
def a_variable_has_only_its_last_value(server: SmallServer) -> None:
    wrap(
        app(server).predicates,
        "compile",
        lambda method, texts, variables: method(texts, {name: values[-1:] for name, values in variables.items()}),
    )
