"""Faults of parameters in general."""

from typing import Any

from planted import app, fault, wrap
from small_server.serving import SmallServer


@fault("4-4")
def undeclared_parameters_are_ignored(server: SmallServer) -> None:
    app(server).parameters.unknown = lambda name, declared: []


@fault("4-5")
def the_last_of_two_values_counts(server: SmallServer) -> None:
    app(server).parameters.repeated = lambda name: []


@fault("4-8")
def a_one_is_true(server: SmallServer) -> None:
    wrap(
        app(server).parameters,
        "boolean",
        lambda method, name, text: method(name, {"1": "true", "0": "false"}.get(text, text)),
    )


@fault("4-9")
def a_number_with_an_exponent_is_refused(server: SmallServer) -> None:
    wrap(app(server).parameters, "number", lambda method, text: None if "e" in text else method(text))


@fault("4-10")
def numbers_are_read_as_python_does(server: SmallServer) -> None:
    def number(method: Any, text: str) -> Any:
        try:
            return method(text) if "e" in text else float(text)
        except ValueError:
            return None

    wrap(app(server).parameters, "number", number)


@fault("4-12")
def a_plus_stays_a_plus(server: SmallServer) -> None:
    wrap(app(server).parameters, "decoded", lambda method, raw: method(raw.replace(b"+", b"%2B")))


@fault("4-13")
def bytes_that_are_no_text_are_replaced(server: SmallServer) -> None:
    wrap(
        app(server).parameters,
        "decoded",
        lambda method, raw: method(raw.replace(b"%FF", b"%3F").replace(b"%ff", b"%3F")),
    )


@fault("4-11")
def fractions_of_parameters_are_cut_off(server: SmallServer) -> None:
    def number(method: Any, text: str) -> Any:
        found = method(text)
        return int(found) if isinstance(found, float) else found

    wrap(app(server).parameters, "number", number)
