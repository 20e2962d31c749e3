"""Faults in how texts, numbers, booleans and objects are written in paths, queries and forms."""

import json
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlencode

from client_faults.planting import arguments_changed, around, fault, pairs_changed, planted


def values(change: Any) -> Any:
    return lambda adapter: pairs_changed(adapter, lambda found: [(name, change(value)) for name, value in found])


def segments(change: Any) -> Any:
    def plant(adapter: Any) -> None:
        adapter.segment = change

    return plant


def safe(characters: str) -> Any:
    def plant(adapter: Any) -> None:
        adapter.encoded = lambda found: urlencode(list(found), quote_via=quote, safe=characters)

    return plant


def without_controls(text: str) -> str:
    """A text without controls, but for tabs and ends of lines."""
    return "".join(each for each in text if ord(each) >= 0x20 or each in "\t\r\n")


# Texts


# Paths


# Booleans, numbers, what is absent


def scalars(change: Any) -> Any:
    return lambda adapter: arguments_changed(adapter, lambda _, value: change(value))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# objectParameter


@fault("objects are divided into parameters of their members", "C-req-50")
def _(adapter: Any) -> None:
    def changed(former: Any, arguments: Any) -> Any:
        made: dict[str, Any] = {}
        for name, value in arguments.items():
            if name == "objectParameter" and isinstance(value, dict):
                made |= {f"{name}[{member}]": item for member, item in value.items()}
            else:
                made[name] = value
        return former(made)

    around(adapter, "pairs", changed)


# Forms


def form_values(change: Any) -> Any:
    def plant(adapter: Any) -> None:
        def changed(former: Any, operation: str, body: Any) -> Any:
            if operation != "searchProductProjections" or body is None:
                return former(operation, body)
            found = [(name, change(value)) for name, value in adapter.pairs(body)]
            return adapter.encoded(iter(found)).encode(), {"Content-Type": adapter.FORM}

        around(adapter, "content", changed)

    return plant


@fault("null in a form is sent as the empty text", "C-req-60")
def _(adapter: Any) -> None:
    def changed(former: Any, operation: str, body: Any) -> Any:
        if operation == "searchProductProjections" and body:
            body = {name: "" if value is None else value for name, value in body.items()}
        return former(operation, body)

    around(adapter, "content", changed)


planted(
    ("C-req-18 C-req-52 C-req-56", "texts of a query are encoded twice", values(lambda value: quote(value, safe=" ,:()\"=<>[]{}+&#?/;@$!*'"))),
    ("C-req-16 C-req-46 C-req-56", "a plus in a query is not encoded", safe("+")),
    ("C-req-17 C-req-52 C-req-56", "an ampersand in a query is not encoded", safe("&")),
    ("C-req-95", "long texts of a query are cut off", values(lambda value: value[:2000])),
    ("C-req-22", "ends of lines of a query are unified", values(lambda value: value.replace("\r\n", "\n"))),
    ("C-req-39", "empty values of variables are left out",
     lambda adapter: pairs_changed(adapter, lambda found: [pair for pair in found if pair[1] or not pair[0].startswith("var.")])),
    ("C-req-24 C-req-27", "a percent sign in a path is not encoded", segments(lambda value: quote(value, safe="%"))),
    ("C-req-23", "a blank in a path becomes a plus", segments(quote_plus)),
    ("C-req-26", "a path loses what Latin-1 does not have",
     segments(lambda value: quote(value.encode("latin-1", "replace").decode("latin-1"), safe=""))),
    ("C-req-97", "control characters of a path are lost", segments(lambda value: quote(without_controls(value), safe=""))),
    ("C-req-28", "an empty parameter takes its segment with it",
     lambda adapter: around(adapter, "target", lambda former, *args: former(*args).replace("/uri-parameter-one=/", "/"))),
    ("C-req-42 C-req-59", "booleans are written as in Python", scalars(lambda value: str(value) if isinstance(value, bool) else value)),
    ("C-req-43 C-req-59 C-do-49", "0 is not sent", scalars(lambda value: None if is_number(value) and value == 0 else value)),
    ("C-req-53 C-req-60", "null is sent as a text", scalars(lambda value: "null" if value is None else value)),
    ("C-req-44 C-req-49", "numbers lose their sign", scalars(lambda value: abs(value) if is_number(value) else value)),
    ("C-req-45 C-req-47 C-req-48", "numbers get separators",
     scalars(lambda value: f"{value:,}" if is_number(value) and 1000 < abs(value) < 1e16 else value)),
    ("C-req-51", "objectParameter as a text is written as JSON again",
     lambda adapter: arguments_changed(adapter, lambda name, value: json.dumps(value) if name == "objectParameter" and isinstance(value, str) else value)),
    ("C-req-52", "objects in a query lose their texts",
     scalars(lambda value: (json.dumps({**value, "arrayOfStringExample": []}) if isinstance(value, dict) and "arrayOfStringExample" in value and len(value) == 1 else value))),
    ("C-req-59", "booleans of a form are written as in Python", form_values(lambda value: value.title() if value in ("true", "false") else value)),
    ("C-req-47 C-req-48", "integers beyond 2^31 of a query are cut to 31 bits",
     lambda adapter: arguments_changed(adapter, lambda _, value: value % 2**31 if isinstance(value, int) and value >= 2**31 else value)),
    ("C-req-20 C-req-52 C-req-56", "texts of a query lose what Latin-1 does not have",
     values(lambda value: value.encode("latin-1", "replace").decode("latin-1"))),
    ("C-req-19 C-req-56", "texts of a query are taken for encoded ones", values(unquote)),
    ("C-req-96 C-req-98", "control characters of a query are lost", values(without_controls)),
    ("C-req-98", "control characters of a form are lost", form_values(without_controls)),
)  # fmt: skip
