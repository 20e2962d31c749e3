"""Compares the meaning of two requests or two values, and returns their first difference, or None.

Some things may differ: percent-encoding that decodes to the same text; the order of different parameters, of headers
and of members; ``1`` and ``1.0``; a parameter's default instead of no parameter; null instead of no member of a body
(4-18); and the notation of an instant. Other things may not: the order of repeated values, the value of a number, the
text of a string.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, cast
from urllib.parse import unquote_to_bytes

from sample_resource_testkit.client.messages import Sent, as_json
from sample_resource_testkit.client.operations import ANY_VALUE, FAMILIES, FORM, Expected

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)

_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)

INSTANTS = frozenset(("createdAt", "lastModifiedAt", "dateTimeExample", "dateTimeExampleDefaultFormat"))
"""Names of members whose texts are instants."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference in meaning between two requests or values.

    :param text: a sentence that describes it.
    :param cause: a name shared by all differences that one repair of the client removes, such as ``name[] for
        arrays``.
    """

    text: str
    cause: str


def of_request(wanted: Expected, sent: Sent) -> Difference | None:
    """The first difference in meaning between a request and the expected one."""
    return next(_of_request(wanted, sent), None)


def nulls_of(wanted: Expected, sent: Sent) -> Difference | None:
    """The first null in a body that should lack the member. Apart from nulls, the body has to mean the expected one."""
    return of_value(loads(sent.body.decode()), wanted.body, instants=True)


def _of_request(wanted: Expected, sent: Sent) -> Iterator[Difference]:
    of = wanted.operation
    if sent.method != wanted.method:
        yield Difference(f"the method is {sent.method} and not {wanted.method}", f"{of}: another method")
    path, _, query = sent.target.partition("?")
    yield from _of_path(wanted, path)
    yield from _of_pairs(wanted, wanted.query, _pairs(query), "the query")
    for name, value in wanted.headers.items():
        found = sent.header(name)
        if found != [value]:
            shown = "is missing" if not found else f"is {' and '.join(map(repr, found))}"
            yield Difference(f"the header {name} {shown}, and not {value!r}", f"{of}: the header {name}")
    for name in ("If-Match", "If-None-Match", "Prefer"):
        if name not in wanted.headers and sent.header(name):
            text = f"the header {name} is there, though the call does not have it"
            yield Difference(text, f"the header {name} that nobody asked for")
    yield from _of_body(wanted, sent)


def has_path(wanted: Expected, sent: Sent) -> bool:
    """Whether a request has the expected path."""
    return not any(_of_path(wanted, sent.target.partition("?")[0]))


def _of_path(wanted: Expected, path: str) -> Iterator[Difference]:
    segments = path.removeprefix("/").split("/")
    if len(segments) != len(wanted.segments):
        text = f"the path has {len(segments)} segments and not {len(wanted.segments)}: {path}"
        yield Difference(text, f"{wanted.operation}: the segments of the path")
        return
    for raw, segment in zip(segments, wanted.segments, strict=True):
        decoded = _decoded(raw)
        if decoded != segment:
            text = f"the segment {raw!r} of the path means {decoded!r}, and not {segment!r}"
            yield Difference(text, _changed("a path", decoded, segment))


def _decoded(raw: str, *, form: bool = False) -> str:
    """A text without its percent-encoding. Bytes that are not UTF-8 are shown as escapes."""
    return unquote_to_bytes(raw.replace("+", " ") if form else raw).decode("utf-8", "backslashreplace")


def _pairs(query: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        found.append((_decoded(name, form=True), _decoded(value, form=True)))
    return found


def _of_pairs(
    request: Expected, wanted: tuple[tuple[str, str], ...], found: list[tuple[str, str]], where: str
) -> Iterator[Difference]:
    of = f"{request.operation}: "
    present = [name for name, _ in found]
    # Missing parameters come first: an unexpected name is often another notation of a missing one.
    for name in dict.fromkeys([*(name for name, _ in wanted), *present]):
        expected = [value for each, value in wanted if each == name]
        values = [value for each, value in found if each == name]
        if not expected and len(values) == 1 and _is_default(request, name, values[0]):
            continue
        if not expected:
            text = f"{where} has {name}={values[0]!r}, though the call does not have it"
            yield Difference(text, f"{of}{where} has {name}, which nobody asked for")
        elif not values:
            yield Difference(f"{where} lacks {name}", _other_name(name, present) or f"{of}{where} lacks {name}")
        elif len(values) != len(expected):
            text = f"{where} has {name} {_times(len(values))} and not {_times(len(expected))}: {as_json(values)}"
            yield Difference(text, _joined(values, expected) or f"{of}{where} has another number of {name}")
        else:
            kind = request.kinds.get(name)
            for value, other in zip(values, expected, strict=True):
                if not _same_text(kind, value, other):
                    text = f"{where} has {name} with {_list(values)}, and not {_list(expected)}"
                    order = f"the order of repeated values in {where}"
                    is_moved = value in expected and sorted(values) == sorted(expected)
                    yield Difference(text, order if is_moved else _other_text(kind, where, value, other))
                    break


def _is_default(request: Expected, name: str, value: str) -> bool:
    """Whether a parameter or a field of a form has its default value."""
    default = request.defaults.get(name)
    if request.has_form and name in dict((*request.query, *(request.body or ()))):
        return False  # a parameter is in the query or in the form
    return default is not None and _same_text("boolean" if default in ("true", "false") else "number", value, default)


def _other_name(name: str, present: list[str]) -> str | None:
    """The notation by which a present name stands for a missing one; None if no name does."""
    for each in present:
        head, bracket, rest = each.partition("[")
        if bracket and head == name:
            inside = rest.removesuffix("]")
            if not inside:
                return "name[] for arrays"
            return "name[0] for arrays" if inside.isdecimal() else "name[member] for objects"
    family = name.partition(".")[0]
    return f"the names of {family}.*" if family in FAMILIES.values() else None


def _joined(found: list[str], wanted: list[str]) -> str | None:
    """The notation by which one value contains the whole list; None if it does not."""
    if len(found) != 1 or len(wanted) < 2:
        return None
    for mark, told in ((",", "commas"), (", ", "commas"), ("|", "pipes"), (" ", "blanks"), (";", "semicolons")):
        if found[0] == mark.join(wanted):
            return f"{told} between the values of arrays"
    return "arrays as one JSON text" if found[0].startswith("[") else "only one value of an array"


def _other_text(kind: str | None, where: str, found: str, wanted: str) -> str:
    """The cause of a difference between two values of a parameter."""
    if kind == "boolean" and found.lower() in ("true", "false", "1", "0"):
        return f"booleans in {where}"
    if kind == "json":
        return f"objects in {where}"
    if kind in ("integer", "number"):
        return _other_number(where, f"integers in {where}", wanted)
    return _changed(where, found, wanted)


def _other_number(where: str, small: str, wanted: str) -> str:
    """The cause of a difference in a number.

    :param small: the cause for an integer that is not large.
    """
    digits = wanted.lstrip("-")
    if not digits.isdecimal():
        return f"fractions in {where}"
    bits = next((power for power in (53, 31) if int(digits) > 2**power), None)
    return small if bits is None else f"integers beyond 2^{bits} in {where}"


_CLASSES = ((" ", "blanks"), ("+", "plus signs"), ("%", "percent signs"), ("/", "slashes"), ("\"'\\", "quotes"))


def _changed(where: str, found: str, wanted: str) -> str:
    """The kind of characters that differ in a text, by the first one that does."""
    if unquote_to_bytes(found).decode("utf-8", "backslashreplace") == wanted:
        return f"percent-encoding twice in {where}"
    first = next((other for each, other in zip_longest(found, wanted, fillvalue="") if each != other), "")
    for some, name in _CLASSES:
        if first and first in some:
            return f"{name} in {where}"
    if not first or first.isalnum():
        return f"texts in {where}" if first.isascii() else f"characters beyond ASCII in {where}"
    if not first.isascii():
        return f"characters beyond ASCII in {where}"
    return f"control characters in {where}" if first < " " else f"delimiters in {where}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _list(values: list[str]) -> str:
    return as_json(values[0]) if len(values) == 1 else as_json(values)


def _same_text(kind: str | None, found: str, wanted: str) -> bool:
    if kind in ("integer", "number"):
        return _NUMBER.fullmatch(found) is not None and of_value(_number(found), _number(wanted)) is None
    if kind == "json":
        try:
            return of_value(loads(found), loads(wanted), nulls=True) is None
        except ValueError:
            return False
    return found == wanted


def _number(text: str) -> int | float:
    return cast("int | float", json.loads(text))


def _of_body(wanted: Expected, sent: Sent) -> Iterator[Difference]:
    of = wanted.operation
    if wanted.media_type is None:
        pairs = _pairs(sent.body.decode("utf-8", "replace"))
        if sent.body and not (wanted.has_form and all(_is_default(wanted, *pair) for pair in pairs)):
            yield Difference("there is a body, though the call has none", f"{of}: a body that nobody asked for")
        return
    types = sent.header("Content-Type")
    if len(types) != 1 or types[0].partition(";")[0].strip().lower() != wanted.media_type:
        shown = " and ".join(types) or "missing"
        yield Difference(f"the Content-Type is {shown}, and not {wanted.media_type}", f"the Content-Type of {of}")
    charset = re.search(r"charset=\"?([^\s;\"]+)", types[0], re.IGNORECASE) if types else None
    if charset is not None and charset[1].lower() != "utf-8":
        text = f"the charset of the Content-Type is {charset[1]}, and not UTF-8"
        yield Difference(text, f"the Content-Type of {of}")
    try:
        text = sent.body.decode()
    except UnicodeDecodeError:
        yield Difference("the body is no UTF-8", "bodies that are no UTF-8")
        return
    if wanted.media_type == FORM:
        yield from _of_pairs(wanted, wanted.body, _pairs(text), "the form")
        return
    try:
        value = loads(text)
    except ValueError as error:
        told = "empty" if not text else f"no JSON ({error})"
        yield Difference(f"the body is {told}", f"{of}: a body that is {'empty' if not text else 'no JSON'}")
        return
    found = of_value(value, wanted.body, instants=True, nulls=True)
    if found is not None:
        yield Difference(f"the body is not what the call says: {found.text}", f"bodies: {found.cause}")


def loads(text: str) -> Any:
    """The value of a JSON text.

    :raises ValueError: if the text is not JSON, or an object in it has a name twice.
    """
    return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(members)
    if len(made) < len(members):
        raise ValueError("a name stands twice in one object")
    return made


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


@dataclass(frozen=True, slots=True)
class _May:
    """The permitted differences between two values.

    :param nulls: whether null means the same as no member, and a false ``staged`` of an action the same as none.
    :param instants: whether instants may have another notation; with ``in_utc`` it has to be in UTC.
    :param result: whether null counts as missing where a value is expected.
    """

    nulls: bool = False
    instants: bool = False
    in_utc: bool = False
    result: bool = False


def of_value(
    found: Any, wanted: Any, *, result: bool = False, instants: bool = False, nulls: bool = False
) -> Difference | None:
    """The first difference in meaning between a JSON value and the expected one.

    :param result: whether a client returned the value. Then null means the same as no member, because many languages
        show missing members so, and instants may have any notation in UTC.
    :param instants: whether instants may have another notation, at any offset.
    :param nulls: whether null means the same as no member, except within a field that accepts any JSON value.
    """
    return next(_of_value(found, wanted, "", _May(nulls or result, instants or result, result, result)), None)


def _of_value(found: Any, wanted: Any, path: str, may: _May, name: str = "") -> Iterator[Difference]:
    if isinstance(wanted, dict):
        yield from _of_object(found, cast("dict[str, Any]", wanted), path, may)
    elif isinstance(wanted, list):
        yield from _of_array(found, cast("list[Any]", wanted), path, may)
    elif isinstance(wanted, bool) or wanted is None or isinstance(found, bool):
        if found is not wanted:
            yield _other(path, found, wanted)
    elif isinstance(wanted, int | float):
        if not isinstance(found, int | float) or not _same_number(found, wanted):
            yield _other(path, found, wanted)
    elif found != wanted and not (may.instants and name in INSTANTS and same_instant(found, wanted, in_utc=may.in_utc)):
        yield _other(path, found, wanted)


def _other(path: str, found: Any, wanted: Any) -> Difference:
    at = path or "the value"
    if type(found) is type(wanted) is str:
        cause = _changed(_general(path), found, wanted)
    elif isinstance(found, int | float) and isinstance(wanted, int | float):
        cause = _other_number("JSON", _general(path), json.dumps(wanted))
    else:
        cause = f"{_general(path)} of another type"
    return Difference(f"{at} is {as_json(found)}, and not {as_json(wanted)}", cause)


def _general(path: str) -> str:
    """A JSON path without the positions in arrays."""
    return re.sub(r"\[[0-9]+\]", "[]", path) or "the value"


def _of_object(found: Any, wanted: dict[str, Any], path: str, may: _May) -> Iterator[Difference]:
    if not isinstance(found, dict):
        text = f"{path or 'the value'} is {as_json(found)}, and not an object"
        yield Difference(text, f"{_general(path)} of another type")
        return
    members = cast("dict[str, Any]", found)
    for name in dict.fromkeys([*wanted, *members]):
        step = f"{path}.{name}" if path else name
        if name not in wanted:
            if not _is_permitted(name, members, path, may):
                text = f"{step} is {as_json(members[name])}, and should be absent"
                null = "null for what is absent"
                yield Difference(text, null if members[name] is None else f"{_general(step)} that should be absent")
        elif name not in members or (may.result and members[name] is None and wanted[name] is not None):
            yield Difference(f"{step} is missing", f"{_general(step)} is missing")
        else:
            yield from _of_value(members[name], wanted[name], step, may, name)


def _is_permitted(name: str, members: dict[str, Any], path: str, may: _May) -> bool:
    """Whether a member means the same as its absence."""
    if not may.nulls or (not may.result and path.partition(".")[0] in ANY_VALUE):
        return False
    of_change = name == "staged" and members.get("action") == "changeSomeProperty"
    return members[name] is None or (members[name] is False and of_change)


def _of_array(found: Any, wanted: list[Any], path: str, may: _May) -> Iterator[Difference]:
    at = path or "the value"
    if not isinstance(found, list):
        yield Difference(f"{at} is {as_json(found)}, and not an array", f"{_general(path)} of another type")
        return
    items = cast("list[Any]", found)
    if len(items) != len(wanted):
        text = f"{at} has {len(items)} items and not {len(wanted)}: {as_json(items)}"
        yield Difference(text, f"the number of items in {_general(path)}")
        return
    for position, (item, other) in enumerate(zip(items, wanted, strict=True)):
        yield from _of_value(item, other, f"{path}[{position}]", may)


def _same_number(found: float, wanted: float) -> bool:
    """Whether two numbers are equal. Integers within 64 bits are compared exactly, all others as doubles."""
    if isinstance(wanted, int) and abs(wanted) < 2**64:
        return found == wanted
    return float(found) == float(wanted)


def same_instant(found: Any, wanted: Any, *, in_utc: bool = True) -> bool:
    """Whether two texts of RFC 3339 are the same instant, and with ``in_utc`` the first is in UTC."""
    if not isinstance(found, str) or not isinstance(wanted, str):
        return False
    if not _INSTANT.fullmatch(found) or not _INSTANT.fullmatch(wanted):
        return False
    try:
        moments = [datetime.fromisoformat(text.upper().replace("Z", "+00:00")) for text in (found, wanted)]
    except ValueError:
        return False
    return moments[0] == moments[1] and (not in_utc or moments[0].utcoffset() == UTC.utcoffset(None))


def known(found: Any, wanted: Any) -> Any:
    """A value without the members that the expected one lacks, at any depth."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        members, others = cast("dict[str, Any]", found), cast("dict[str, Any]", wanted)
        return {name: known(value, others[name]) for name, value in members.items() if name in others}
    if isinstance(found, list) and isinstance(wanted, list):
        items, other_items = cast("list[Any]", found), cast("list[Any]", wanted)
        if len(items) == len(other_items):
            return [known(*both) for both in zip(items, other_items, strict=True)]
    return cast("Any", found)
