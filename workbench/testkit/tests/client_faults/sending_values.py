"""Faults in how texts, numbers, booleans and objects are written in paths, queries and forms."""

import json
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlencode

from client_faults.planting import arguments_changed, around, pairs_changed, planted


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


# Booleans, numbers, what is absent


def scalars(change: Any) -> Any:
    return lambda adapter: arguments_changed(adapter, lambda _, value: change(value))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


planted(
    ("C-req-17 C-req-50 C-req-56", "texts of a query are encoded twice",
     values(lambda value: quote(value, safe=" ,:()\"=<>[]{}+&#?/;@$!*'"))),
    ("C-req-16 C-req-45 C-req-56", "a plus in a query is not encoded",
     safe("+")),
    ("C-req-17 C-req-50 C-req-56", "an ampersand in a query is not encoded",
     safe("&")),
    ("C-req-96", "long texts of a query are cut off",
     values(lambda value: value[:2000])),
    ("C-req-24 C-req-27", "a percent sign in a path is not encoded",
     segments(lambda value: quote(value, safe="%"))),
    ("C-req-23", "a blank in a path becomes a plus",
     segments(quote_plus)),
    ("C-req-26", "a path loses what Latin-1 does not have",
     segments(lambda value: quote(value.encode("latin-1", "replace").decode("latin-1"), safe=""))),
    ("C-req-97", "control characters of a path are lost",
     segments(lambda value: quote(without_controls(value), safe=""))),
    ("C-req-28", "an empty parameter takes its segment with it",
     lambda adapter: around(adapter, "target", lambda former, *args: former(*args).replace("/uri-parameter-one=/", "/"))),
    ("C-req-42 C-req-59", "booleans are written as in Python",
     scalars(lambda value: str(value) if isinstance(value, bool) else value)),
    ("C-req-43 C-req-48", "numbers lose their sign",
     scalars(lambda value: abs(value) if is_number(value) else value)),
    ("C-req-51", "objectParameter as a text is written as JSON again",
     lambda adapter: arguments_changed(adapter, lambda name, value: json.dumps(value) if name == "objectParameter" and isinstance(value, str) else value)),
    ("C-req-20 C-req-50 C-req-56", "texts of a query lose what Latin-1 does not have",
     values(lambda value: value.encode("latin-1", "replace").decode("latin-1"))),
    ("C-req-19 C-req-56", "texts of a query are taken for encoded ones",
     values(unquote)),
    ("C-req-53 C-req-60", "null is sent as the empty text",
     scalars(lambda value: "" if value is None else value)),
)  # fmt: skip
