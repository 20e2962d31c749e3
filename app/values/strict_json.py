"""JSON in and out, without loss: what was sent is either kept exactly or refused.

Decoding goes beyond the standard library where that would guess: a repeated name is an error, NaN and Infinity are no
JSON, a number keeps what it is. Each number literal becomes one of

* ``int``, if it is mathematically an integer: any written without fraction and exponent, and those like ``3.0`` or
  ``1e2`` that lie within int64;
* ``float``, the nearest double, for any other, ``-0.0`` included, whose sign an ``int`` would lose;
* :class:`HugeNumber`, if no finite double holds it.
"""

import json
import re
from decimal import Decimal
from math import copysign, isinf
from typing import Any

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
_DIGITS_AT_MOST = 400
"""Longer integers are beyond any double; converting them would only cost time."""

_SIGNIFICANT = re.compile("[0.]*[1-9]", re.ASCII)
"""The beginning of a positive number that is not zero."""


class HugeNumber(float):
    """An infinity that remembers the literal it was read from."""

    literal: str

    def __new__(cls, literal: str) -> "HugeNumber":
        number = super().__new__(cls, "-inf" if literal.startswith("-") else "inf")
        number.literal = literal
        return number


class InvalidJson(ValueError):
    """The text is not JSON; ``str()`` of it says why and where."""


def is_negative_zero(number: float) -> bool:
    """Whether a number is ``-0.0``, which is an integer mathematically, and a float here for the sake of its sign."""
    return number == 0 and copysign(1, number) < 0


def _integer(literal: str) -> int | float:
    return int(literal) if len(literal) <= _DIGITS_AT_MOST else HugeNumber(literal)


def _number(literal: str) -> int | float:
    number = float(literal)
    if isinf(number):
        return HugeNumber(literal)
    if not number.is_integer() or abs(number) > 2.0**63:
        return number
    if number == 0:
        # The digits tell 0e9 from 1e-400; their exponent may be beyond what Decimal takes.
        return number if is_negative_zero(number) or _SIGNIFICANT.match(literal) else 0
    # The double alone cannot tell 9007199254740993.0 from its neighbours.
    exact = Decimal(literal)
    if exact == exact.to_integral_value() and INT64_MIN <= exact <= INT64_MAX:
        return int(exact)
    return number


def _constant(literal: str) -> Any:
    raise InvalidJson(f"{literal} is not a JSON value")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise InvalidJson(f"The name {json.dumps(name[:100])} stands twice in one object")
            seen.add(name)
    return members


_decoder = json.JSONDecoder(parse_float=_number, parse_constant=_constant, object_pairs_hook=_object)
_patient_decoder = json.JSONDecoder(
    parse_float=_number, parse_int=_integer, parse_constant=_constant, object_pairs_hook=_object
)


def decode(data: bytes | str) -> Any:
    """Read a JSON text (RFC 8259).

    :raises InvalidJson: with a reason, and for a syntax error its line and column.
    """
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidJson(f"The text is not UTF-8: byte {error.start + 1} is invalid") from None
    try:
        return _decoder.decode(text)
    except InvalidJson:
        raise
    except json.JSONDecodeError as error:
        raise InvalidJson(f"{error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise InvalidJson("The text is nested too deeply") from None
    except ValueError:
        # Python refuses to convert integers of more than 4300 digits.
        return _patient_decoder.decode(text)


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode(value: Any) -> str:
    """Write a value as compact JSON: the shortest text of each number that reads back as the same.

    :raises ValueError: for a number that JSON does not have.
    """
    return _encoder.encode(value)


def unstorable_character(text: str) -> str | None:
    """What in a text PostgreSQL cannot keep, in words: U+0000 or a lone surrogate; None if it can keep all of it."""
    if "\x00" in text:
        return "U+0000"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"the lone surrogate U+{ord(text[error.start]):04X}"
    return None
