"""Parameters and JSON bodies: what their text means, and which faults they have."""

import difflib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import unquote_to_bytes

from .refusals import Entry, Refused, bad_parameter, bad_structure, bad_value

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")

KEY = re.compile(r"[A-Za-z0-9_-]{2,256}")

INT64 = (-(2**63), 2**63 - 1)

INT32 = (-(2**31), 2**31 - 1)

MISSING = "Missing required value"

NO_INTEGER = "JSON Number without a fraction expected."

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Beyond:
    """A number beyond all doubles, as it was written."""

    text: str


class Rounded(float):
    """A double that is not quite the number that was written, such as 4503599627370496.5 or 2^63 + 1."""

    exact: Decimal


def suggestion(name: str, known: Iterable[str]) -> str:
    """A sentence with the known name that resembles another one most, or nothing."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{near[0]}'?" if near else ""


def number_of(text: str) -> int | float | Beyond | None:
    """A number in the notation of JSON: an int where it is whole and within 64 bits. None: no number."""
    if not NUMBER.fullmatch(text):
        return None
    near = float(text)
    if near in (float("inf"), float("-inf")):
        return Beyond(text)
    if abs(near) <= 2.0**63 and near == int(near) and text != "-0.0":
        exact = Decimal(text)
        if exact == exact.to_integral_value() and INT64[0] <= int(exact) <= INT64[1]:
            return int(exact)
        rounded = Rounded(near)
        rounded.exact = exact
        return rounded
    return near


# Parameters


@dataclass
class Declared:
    """The parameters that an endpoint has.

    :param kinds: ``text``, ``boolean``, ``number`` or ``whole``, by their names.
    :param patterns: names that match one of these are texts that may be repeated.
    :param empty: names, and patterns, that take the empty text.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    repeatable: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()
    empty: frozenset[str] = frozenset()

    def pattern(self, name: str) -> str | None:
        """The pattern that a name matches."""
        return next((pattern for pattern in self.patterns if re.fullmatch(pattern, name)), None)


class Parameters:
    """The values of declared parameters."""

    def __init__(self, values: dict[str, list[Any]]) -> None:
        self._values = values

    def one(self, name: str, default: Any = None) -> Any:
        """The value of one that is not repeatable."""
        return self._values.get(name, [default])[0]

    def all(self, name: str) -> list[Any]:
        """All values of one."""
        return self._values.get(name, [])

    def matching(self, pattern: str) -> dict[str, list[str]]:
        """Those whose names match."""
        return {name: values for name, values in self._values.items() if re.fullmatch(pattern, name)}


class ParameterRules:
    """How query strings and forms are read."""

    def read(self, declared: Declared, *sources: bytes) -> tuple[Parameters, list[Entry]]:
        """Read a query string and, in the searches, a form.

        :return: the values, and the faults.
        """
        texts: dict[str, list[str]] = {}
        faults: list[Entry] = []
        for source in sources:
            for pair in filter(None, source.split(b"&")):
                raw_name, _, raw_value = pair.partition(b"=")
                name, value = self.decoded(raw_name), self.decoded(raw_value)
                if name is None or value is None:
                    shown = name or raw_name.decode("ascii", "replace")
                    faults.append(bad_parameter(shown, "The text is no UTF-8 without U+0000."))
                else:
                    texts.setdefault(name, []).append(value)
        values: dict[str, list[Any]] = {}
        for name, given in texts.items():
            if name not in declared.kinds and declared.pattern(name) is None:
                faults += self.unknown(name, declared)
            elif len(given) > 1 and name not in declared.repeatable and name in declared.kinds:
                faults += self.repeated(name)
            else:
                read = [self.value(name, text, declared) for text in given]
                faults += [found for found in read if isinstance(found, Refused) for found in found.entries]
                values[name] = [found for found in read if not isinstance(found, Refused)]
        return Parameters({name: found for name, found in values.items() if found}), faults

    def decoded(self, raw: bytes) -> str | None:
        """Text that was percent-encoded; None: it is no text."""
        try:
            text = unquote_to_bytes(raw.replace(b"+", b" ")).decode()
        except UnicodeDecodeError:
            return None
        return None if "\0" in text else text

    def unknown(self, name: str, declared: Declared) -> list[Entry]:
        """What is said of a parameter that is not declared."""
        return [bad_parameter(name, f"Unknown parameter.{suggestion(name, declared.kinds)}")]

    def repeated(self, name: str) -> list[Entry]:
        """What is said of a parameter that stands twice."""
        return [bad_parameter(name, "The parameter is given more than once.")]

    def value(self, name: str, text: str, declared: Declared) -> Any:
        """The value of a text, or a refusal, which is returned."""
        kind = declared.kinds.get(name, "text")
        if text == "" and not {name, declared.pattern(name)} & declared.empty:
            return Refused(400, bad_parameter(name, "The value is empty."))
        if kind == "text":
            return text
        if kind == "boolean":
            return self.boolean(name, text)
        number = self.number(text)
        if number is None or isinstance(number, Beyond):
            return Refused(400, bad_parameter(name, "A number is expected."))
        if kind == "whole" and number != int(number):
            return Refused(400, bad_parameter(name, "A whole number is expected."))
        return int(number.exact if isinstance(number, Rounded) else number) if kind == "whole" else number

    def number(self, text: str) -> int | float | Beyond | None:
        """The number that a parameter has."""
        return number_of(text)

    def boolean(self, name: str, text: str) -> Any:
        """True or false, in any letter case."""
        if text.lower() not in ("true", "false"):
            return Refused(400, bad_parameter(name, "'true' or 'false' is expected."))
        return text.lower() == "true"


# Bodies

Rule = Callable[[Any, Path], tuple[Any, list[Entry]]]
"""Takes a value and its path, and returns the value as it is kept, and its faults."""


class BodyRules:
    """How JSON bodies are read. Each rule returns the value that is kept, and the faults."""

    MOST_FAULTS = 50

    def parse(self, body: bytes) -> dict[str, Any]:
        """The object that a body is.

        :raises Refused: if it is none.
        """
        try:
            found = json.loads(
                body.decode(),
                parse_int=self.number,
                parse_float=self.number,
                parse_constant=self.constant,
                object_pairs_hook=self.members,
            )
        except (ValueError, RecursionError) as error:
            raise Refused(400, bad_structure((), str(error) or "No JSON.")) from None
        if not isinstance(found, dict):
            raise Refused(400, bad_structure((), "JSON object expected."))
        return found

    def number(self, text: str) -> int | float | Beyond:
        """A number of a body."""
        found = number_of(text)
        assert found is not None
        return found

    def constant(self, name: str) -> Any:
        """NaN and Infinity, which JSON does not have."""
        raise ValueError(f"{name} is no JSON.")

    def members(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object, whose names have to differ."""
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise ValueError("The same name stands twice in an object.")
        return dict(pairs)

    # Scalars

    def text(self, value: Any, path: Path) -> tuple[Any, list[Entry]]:
        """Any text that a database can keep."""
        if not isinstance(value, str):
            return value, [bad_structure(path, "JSON String expected.")]
        return value, self.characters(value, path)

    def characters(self, value: str, path: Path) -> list[Entry]:
        """U+0000 and lone surrogates cannot be kept."""
        if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in value):
            return [bad_value(path, value, "U+0000 and lone surrogates are not allowed.")]
        return []

    def anything(self, value: Any, path: Path) -> tuple[Any, list[Entry]]:
        """What is ignored."""
        return value, []

    def flag(self, value: Any, path: Path) -> tuple[Any, list[Entry]]:
        """True or false."""
        return value, [] if isinstance(value, bool) else [bad_structure(path, "JSON Boolean expected.")]

    def any_number(self, value: Any, path: Path) -> tuple[Any, list[Entry]]:
        """A number that is a double, or an integer within 64 bits."""
        if isinstance(value, Beyond):
            return value, [bad_value(path, value.text, "The number is too large.")]
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value, [bad_structure(path, "JSON Number expected.")]
        return value, []

    def integer(self, value: Any, path: Path, bounds: tuple[int, int] = INT64) -> tuple[Any, list[Entry]]:
        """A number without a fraction."""
        if isinstance(value, Beyond):
            return value, [bad_value(path, value.text, "The number is too large.")]
        exact = value.exact if isinstance(value, Rounded) else value
        if isinstance(exact, bool) or not isinstance(exact, int | float | Decimal) or exact != int(exact):
            return value, [bad_structure(path, NO_INTEGER)]
        if not bounds[0] <= exact <= bounds[1]:
            return value, [bad_value(path, value, f"It has to be within {bounds[0]} and {bounds[1]}.")]
        return int(value), []

    def int32(self, value: Any, path: Path) -> tuple[Any, list[Entry]]:
        """An integer of 32 bits."""
        return self.integer(value, path, INT32)

    def key(self, value: Any, path: Path) -> tuple[Any, list[Entry]]:
        """A key."""
        kept, faults = self.text(value, path)
        if not faults and not KEY.fullmatch(value):
            faults = [bad_value(path, value, "A key has 2 to 256 letters, digits, hyphens and underscores.")]
        return kept, faults

    def moment(self, value: Any, path: Path) -> tuple[Any, list[Entry]]:
        """A date-time of RFC 3339."""
        kept, faults = self.text(value, path)
        if not faults and milliseconds(value, whole=True) is None:
            faults = [bad_value(path, value, "A date-time of RFC 3339 is expected.")]
        return kept, faults

    def json(self, value: Any, path: Path) -> tuple[Any, list[Entry]]:
        """Any JSON value."""
        if value is None or isinstance(value, bool):
            return value, []
        if isinstance(value, str):
            return self.text(value, path)
        if not isinstance(value, dict | list):
            return self.any_number(value, path)
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        return value, [fault for name, each in inner for fault in self.json(each, (*path, name))[1]]

    # Structures

    def array(self, item: Rule) -> Rule:
        """An array of items that follow a rule."""

        def read(value: Any, path: Path) -> tuple[Any, list[Entry]]:
            if not isinstance(value, list):
                return value, [bad_structure(path, "JSON Array expected.")]
            read_items = [item(found, (*path, position)) for position, found in enumerate(value)]
            return [kept for kept, _ in read_items], [fault for _, faults in read_items for fault in faults]

        return read

    def record(self, fields: dict[str, Rule], required: tuple[str, ...] = ()) -> Rule:
        """An object with some of these fields."""

        def read(value: Any, path: Path) -> tuple[Any, list[Entry]]:
            if not isinstance(value, dict):
                return value, [bad_structure(path, "JSON object expected.")]
            kept: dict[str, Any] = {}
            faults: list[Entry] = []
            for name, found in value.items():
                if name in fields:
                    kept[name], more = fields[name](found, (*path, name))
                    faults += more
                else:
                    faults += self.unknown(name, path, fields)
            faults += [bad_structure((*path, name), MISSING) for name in required if name not in value]
            return kept, faults

        return read

    def unknown(self, name: str, path: Path, fields: Iterable[str]) -> list[Entry]:
        """What is said of a field that is not there."""
        shown = name.encode("utf-8", "backslashreplace").decode()
        return [bad_structure((*path, shown), f"Unknown field.{suggestion(name, fields)}")]

    def unique(self, value: Any, path: Path) -> tuple[Any, list[Entry]]:
        """Integers, none twice."""
        kept, faults = self.array(self.integer)(value, path)
        if not faults and len(set(kept)) < len(kept):
            faults = [bad_value(path, kept, "Items may not be repeated.")]
        return kept, faults

    def two(self, value: Any, path: Path) -> tuple[Any, list[Entry]]:
        """Two numbers."""
        kept, faults = self.array(self.any_number)(value, path)
        if not faults and len(kept) != 2:
            faults = [bad_value(path, kept, "Two items are expected.")]
        return kept, faults

    def object_type(self, *, contained: bool = False) -> Rule:
        """ObjectType.

        :param contained: for ``objectParameter``, where the rules for the number of items do not hold.
        """
        return self.record(
            {
                "arrayOfIntExample": self.array(self.integer),
                "arrayOfUniqueIntExample": self.array(self.integer) if contained else self.unique,
                "arrayOfTwonumbersExample": self.array(self.any_number) if contained else self.two,
                "arrayOfFloatExample": self.array(self.any_number),
                "arrayOfNumberNoDefaultsExample": self.array(self.any_number),
                "arrayOfStringExample": self.array(self.text),
                "arrayOfObjectType": self.array(
                    self.record({"integerExample": self.integer, "integerExampleInt32": self.int32})
                ),
            }
        )

    def checked(self, rule: Rule, body: bytes) -> Any:
        """The value of a body that follows a rule.

        :raises Refused: with the first of its faults.
        """
        kept, faults = rule(self.parse(body), ())
        if faults:
            raise Refused(400, *faults[: self.MOST_FAULTS])
        return kept


# Times

_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)?)?",
    re.ASCII,
)


def milliseconds(text: str, *, whole: bool = False) -> float | None:
    """A time of RFC 3339 in milliseconds since 1970; None: it is none.

    :param whole: whether the time of day and the offset are needed.
    """
    found = _TIME.fullmatch(text)
    if found is None or (whole and found[4] is None):
        return None
    try:
        moment = datetime.fromisoformat(f"{found[1]}T{found[2] or '00:00:00'}+00:00")
        offset = found[4] or "Z"
        if offset not in "Zz":
            hours, minutes = int(offset[1:3]), int(offset[4:6])
            if hours > 23 or minutes > 59:
                return None
            shift = timedelta(hours=hours, minutes=minutes)
            moment = moment - shift if offset[0] == "+" else moment + shift
    except (ValueError, OverflowError):
        return None
    whole_ms = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    return whole_ms + float(f"0.{found[3] or 0}") * 1000


def written(ms: int) -> str:
    """A time as answers have it."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"
