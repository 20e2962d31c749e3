"""Faults in how texts, numbers, booleans and objects are written in paths, queries and forms."""

import json
from typing import Any
from urllib.parse import quote, urlencode

from client_faults.planting import arguments_changed, around, fault, pairs_changed


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


def bmp_only(text: str) -> str:
    return "".join(each if ord(each) < 0x10000 else "?" for each in text)


# Texts

fault("texts of a query lose what Latin-1 does not have", "C-req-20 C-req-56")(
    values(lambda value: value.encode("latin-1", "replace").decode("latin-1"))
)
fault("long texts of a query are cut off", "C-req-95")(values(lambda value: value[:2000]))

# Paths

fault("a percent sign in a path is not encoded", "C-req-24 C-req-25 C-req-27")(
    segments(lambda value: quote(value, safe="%"))
)
fault("a question mark in a path is not encoded", "C-req-23 C-req-27")(segments(lambda value: quote(value, safe="?")))


# Booleans, numbers, what is absent


def scalars(change: Any) -> Any:
    return lambda adapter: arguments_changed(adapter, lambda _, value: change(value))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


fault("null is sent as a text", "C-req-53")(scalars(lambda value: "null" if value is None else value))
fault("numbers lose their sign", "C-req-44 C-req-49")(scalars(lambda value: abs(value) if is_number(value) else value))

# objectParameter

fault("objects in a query lose their texts", "C-req-52")(
    scalars(
        lambda value: (
            json.dumps({**value, "arrayOfStringExample": []})
            if isinstance(value, dict) and "arrayOfStringExample" in value and len(value) == 1
            else value
        )
    )
)


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
