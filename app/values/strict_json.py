"""Decodes and encodes JSON. Decoding changes no value, except that it rounds some numbers to the nearest double, and
that an integer has no negative zero.

The decoder is stricter than that of the standard library: repeated names in an object, NaN and Infinity are errors. A
number literal becomes one of

* ``int``, if it is mathematically an integer: every literal without fraction and exponent, of at most 4,300 digits
  (Python's limit), and literals such as ``3.0`` or ``1e2`` within int64. 1e-400, whose nearest double is 0, counts as
  0;
* ``float``, the nearest double, for every other number within the range of doubles, even for ``-0.0``, whose sign an
  ``int`` would lose;
* :class:`HugeNumber`, for every other number.
"""

import json
from collections import Counter
from decimal import Decimal
from math import copysign, isinf
from typing import Any

CONTENT_TYPE = "application/json; charset=utf-8"
"""The Content-Type of every answer in JSON."""

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1


class HugeNumber(float):
    """An infinity with the literal that it was decoded from."""

    literal: str

    def __new__(cls, literal: str) -> "HugeNumber":
        number = super().__new__(cls, "-inf" if literal.startswith("-") else "inf")
        number.literal = literal
        return number


class InvalidJson(ValueError):
    """The error for a text that is not JSON. The message says why and, for an error of the syntax besides NaN and
    Infinity, where."""


def is_negative_zero(number: float) -> bool:
    """Whether a number is the double ``-0.0``, which ``==`` does not tell from 0. The literals -0.0 and -0e0 are
    decoded to this double; the literal -0 is decoded to the ``int`` 0."""
    return number == 0 and copysign(1, number) < 0


def number_of(literal: str) -> int | float:
    """The number of a JSON literal. The first case that applies decides:

    - A zero with a minus sign, such as -0.0 or -0e5, becomes the double ``-0.0``.
    - Any other literal whose nearest double is zero, such as 0.0, 1e-400 or -1e-400, becomes the ``int`` 0.
    - A whole number within int64 becomes an ``int``.
    - A number beyond all doubles becomes a :class:`HugeNumber`.
    - Any other number becomes the nearest double.

    The decoder calls this function only for literals with a fraction or an exponent. For integer literals it calls
    :func:`_integer`, which does not round them.
    """
    number = float(literal)
    if isinf(number):
        return HugeNumber(literal)
    # ``>`` and not ``>=``: 2**63 is beyond int64, but it is also the nearest double of the literal
    # 9223372036854775807.0, which is within int64. So for this double the exact Decimal below decides.
    if not number.is_integer() or abs(number) > 2.0**63:
        return number
    if number == 0:
        # A literal is written as zero if all digits before its exponent are 0, as in -0.0e5. The literal -1e-400 is not
        # written as zero, although its nearest double is -0.0, too. So it becomes the int 0.
        is_written_as_zero = not literal.lower().partition("e")[0].strip("-.0")
        return number if is_negative_zero(number) and is_written_as_zero else 0
    # Several literals near 9007199254740993.0 become the same double, so the literal itself decides.
    exact = Decimal(literal)
    if exact == exact.to_integral_value() and INT64_MIN <= exact <= INT64_MAX:
        return int(exact)
    return number


def _integer(literal: str) -> int | HugeNumber:
    """The number of a literal without fraction and exponent."""
    try:
        return int(literal)
    except ValueError:  # it has more than 4,300 digits; to convert them would take a time that grows with their square
        return HugeNumber(literal)


def _constant(literal: str) -> Any:
    """Refuse NaN and Infinity, which Python's decoder would accept."""
    raise InvalidJson(f"{literal} is not a JSON value")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object with these members. Raises InvalidJson if a name is repeated, which ``dict`` would hide."""
    members = dict(pairs)
    if len(members) != len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise InvalidJson(f"The name {json.dumps(name[:100])} is repeated in one object")
    return members


_decoder = json.JSONDecoder(
    parse_float=number_of, parse_int=_integer, parse_constant=_constant, object_pairs_hook=_object
)


_COUNTED = ", which Content-Length counts"
"""The end of the message for a body that ends too early: often its client has set Content-Length to the number of
characters, which cuts the body off."""


def decode(data: bytes | str) -> Any:
    """Decode a JSON text (RFC 8259).

    :raises InvalidJson: with a reason, and for most syntax errors their line and column.
    """
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            raise InvalidJson(f"The text ends within a character, after {len(data)} bytes{_COUNTED}") from None
        raise InvalidJson(f"The text is not UTF-8: byte {error.start + 1} is invalid") from None
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError as error:
        # If the text seems to be cut off, the message also says where the text ends. The text seems to be cut off in
        # two cases: the error is at the end of the text, or a string is unterminated. For an unterminated string Python
        # reports the position where the string begins. A text that ends within ``true`` or within a \u escape is in
        # neither case: Python reports an earlier position for it, so the message does not say where the text ends.
        is_cut_off = error.pos >= len(text.rstrip(" \t\r\n")) or error.msg.startswith("Unterminated")
        length = f"{len(data)} characters" if isinstance(data, str) else f"{len(data)} bytes{_COUNTED}"
        end = f"; the text ends after {length}" if is_cut_off else ""
        raise InvalidJson(f"{error.msg} (line {error.lineno}, column {error.colno}){end}") from None
    except RecursionError:
        raise InvalidJson("The text is nested too deeply") from None


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode(value: Any) -> str:
    """Encode a value as compact JSON.

    If :func:`decode` reads the text again, it returns equal numbers, except for some whole floats of a magnitude
    between 1e16 and 2**63. Python writes a float with as few digits as identify it: 1234567890123456768.0 becomes
    1.2345678901234568e+18. ``decode`` reads this as the int 1234567890123456800, which is another number. ObjectTypes
    are not affected: they hold numbers of this size as ints, which are written with all digits.

    :raises ValueError: for NaN and infinity, and for an integer of more than 4,300 digits (Python's limit).
    """
    return _encoder.encode(value)


def is_utf8(data: bytes) -> bool:
    """Whether bytes are valid UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def unstorable_character(text: str) -> str | None:
    """A name of a character that PostgreSQL cannot store: U+0000 or a lone surrogate; None without one."""
    return "U+0000" if "\x00" in text else lone_surrogate(text)


def lone_surrogate(text: str) -> str | None:
    """A name of the first lone surrogate of a text; None if it has none."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"the lone surrogate U+{ord(text[error.start]):04X}"
    return None
