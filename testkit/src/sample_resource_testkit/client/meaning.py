"""Whether two requests, or two values, mean the same. Each function tells the first difference, or nothing.

What may differ: percent-encoding that decodes to the same, the order of different parameters, of headers and of
members, ``1`` and ``1.0``, a parameter's default in place of its absence, and how an instant is spelt. What may not:
the order of repeated values, the value of a number, the text of a string.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import unquote_to_bytes

from sample_resource_testkit.client.messages import Sent, as_json
from sample_resource_testkit.client.operations import FORM, Expected

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)

_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)

INSTANTS = frozenset(("createdAt", "lastModifiedAt", "dateTimeExample", "dateTimeExampleDefaultFormat"))
"""Members whose texts are instants."""


def of_request(wanted: Expected, sent: Sent) -> str | None:
    """What in a request means something else than it should."""
    return next(_of_request(wanted, sent), None)


def _of_request(wanted: Expected, sent: Sent) -> Iterator[str]:
    if sent.method != wanted.method:
        yield f"the method is {sent.method} and not {wanted.method}"
    path, _, query = sent.target.partition("?")
    yield from _of_path(wanted.segments, path)
    yield from _of_pairs(wanted.query, _pairs(query), wanted.kinds, "the query", wanted.defaults)
    for name, value in wanted.headers.items():
        found = sent.header(name)
        if found != [value]:
            shown = "is missing" if not found else f"is {' and '.join(map(repr, found))}"
            yield f"the header {name} {shown}, and not {value!r}"
    for name in ("If-Match", "If-None-Match", "Prefer"):
        if name not in wanted.headers and sent.header(name):
            yield f"the header {name} is there, though the call does not have it"
    yield from _of_body(wanted, sent)


def _of_path(wanted: tuple[str, ...], path: str) -> Iterator[str]:
    segments = path.removeprefix("/").split("/")
    if len(segments) != len(wanted):
        yield f"the path has {len(segments)} segments and not {len(wanted)}: {path}"
        return
    for raw, segment in zip(segments, wanted, strict=True):
        decoded = _decoded(raw)
        if decoded != segment:
            yield f"the segment {raw!r} of the path means {decoded!r}, and not {segment!r}"


def _decoded(raw: str, *, form: bool = False) -> str:
    """A text without its percent-encoding; what is no UTF-8 is shown as such."""
    return unquote_to_bytes(raw.replace("+", " ") if form else raw).decode("utf-8", "backslashreplace")


def _pairs(query: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        found.append((_decoded(name, form=True), _decoded(value, form=True)))
    return found


def _of_pairs(
    wanted: tuple[tuple[str, str], ...],
    found: list[tuple[str, str]],
    kinds: Any,
    where: str,
    defaults: tuple[tuple[str, str], ...] = (),
) -> Iterator[str]:
    names = dict.fromkeys([*(name for name, _ in wanted), *(name for name, _ in found)])
    for name in names:
        expected = [value for each, value in wanted if each == name]
        values = [value for each, value in found if each == name]
        if not expected and len(values) == 1 and (name, values[0]) in defaults:
            continue
        if not expected:
            yield f"{where} has {name}={values[0]!r}, though the call does not have it"
        elif not values:
            yield f"{where} lacks {name}"
        elif len(values) != len(expected):
            yield f"{where} has {name} {_times(len(values))} and not {_times(len(expected))}: {as_json(values)}"
        elif not all(_same_text(kinds.get(name), *both) for both in zip(values, expected, strict=True)):
            yield f"{where} has {name} with {_list(values)}, and not {_list(expected)}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _list(values: list[str]) -> str:
    return as_json(values[0]) if len(values) == 1 else as_json(values)


def _same_text(kind: str | None, found: str, wanted: str) -> bool:
    if kind in ("integer", "number"):
        return _NUMBER.fullmatch(found) is not None and of_value(_number(found), _number(wanted)) is None
    if kind == "json":
        try:
            return of_value(loads(found), loads(wanted)) is None
        except ValueError:
            return False
    return found == wanted


def _number(text: str) -> int | float:
    return cast("int | float", json.loads(text))


def _of_body(wanted: Expected, sent: Sent) -> Iterator[str]:
    if wanted.media_type is None:
        if sent.body:
            yield "there is a body, though the call has none"
        return
    types = sent.header("Content-Type")
    if len(types) != 1 or types[0].partition(";")[0].strip().lower() != wanted.media_type:
        yield f"the Content-Type is {' and '.join(types) or 'missing'}, and not {wanted.media_type}"
    charset = re.search(r"charset=\"?([^\s;\"]+)", types[0], re.IGNORECASE) if types else None
    if charset is not None and charset[1].lower() != "utf-8":
        yield f"the charset of the Content-Type is {charset[1]}, and not UTF-8"
    try:
        text = sent.body.decode()
    except UnicodeDecodeError:
        yield "the body is no UTF-8"
        return
    if wanted.media_type == FORM:
        yield from _of_pairs(wanted.body, _pairs(text), wanted.kinds, "the form")
        return
    try:
        value = loads(text)
    except ValueError as error:
        yield f"the body is {'empty' if not text else f'no JSON ({error})'}"
        return
    found = of_value(value, wanted.body, instants=True)
    if found is not None:
        yield f"the body is not what the call says: {found}"


def loads(text: str) -> Any:
    """A JSON value.

    :raises ValueError: if the text is none, or has a name twice in one object.
    """
    return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(members)
    if len(made) < len(members):
        raise ValueError("a name stands twice in one object")
    return made


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def of_value(found: Any, wanted: Any, *, result: bool = False, instants: bool = False) -> str | None:
    """What in a JSON value differs from another.

    :param result: the value is what a client returned: a member that is null is absent, since that is how many
        languages show what is absent, and instants may be spelt in other ways, in UTC.
    :param instants: instants may be spelt in other ways, at any offset.
    """
    return next(_of_value(found, wanted, "", result or (None if instants else False)), None)


def _of_value(found: Any, wanted: Any, path: str, result: bool | None, name: str = "") -> Iterator[str]:
    at = path or "the value"
    if isinstance(wanted, dict):
        yield from _of_object(found, cast("dict[str, Any]", wanted), path, result)
    elif isinstance(wanted, list):
        yield from _of_array(found, cast("list[Any]", wanted), path, result)
    elif isinstance(wanted, bool) or wanted is None or isinstance(found, bool):
        if found is not wanted:
            yield f"{at} is {as_json(found)}, and not {as_json(wanted)}"
    elif isinstance(wanted, int | float):
        if not isinstance(found, int | float) or not _same_number(found, wanted):
            yield f"{at} is {as_json(found)}, and not {as_json(wanted)}"
    elif found != wanted and not (name in INSTANTS and _is_same_instant(found, wanted, result)):
        yield f"{at} is {as_json(found)}, and not {as_json(wanted)}"


def _of_object(found: Any, wanted: dict[str, Any], path: str, result: bool | None) -> Iterator[str]:
    at = path or "the value"
    if not isinstance(found, dict):
        yield f"{at} is {as_json(found)}, and not an object"
        return
    members = cast("dict[str, Any]", found)
    for name in dict.fromkeys([*wanted, *members]):
        step = f"{path}.{name}" if path else name
        if name not in wanted:
            if not (result and members[name] is None):
                yield f"{step} is {as_json(members[name])}, and should be absent"
        elif name not in members or (result and members[name] is None and wanted[name] is not None):
            yield f"{step} is missing"
        else:
            yield from _of_value(members[name], wanted[name], step, result, name)


def _of_array(found: Any, wanted: list[Any], path: str, result: bool | None) -> Iterator[str]:
    at = path or "the value"
    if not isinstance(found, list):
        yield f"{at} is {as_json(found)}, and not an array"
        return
    items = cast("list[Any]", found)
    if len(items) != len(wanted):
        yield f"{at} has {len(items)} items and not {len(wanted)}: {as_json(items)}"
        return
    for position, (item, other) in enumerate(zip(items, wanted, strict=True)):
        yield from _of_value(item, other, f"{path}[{position}]", result)


def _same_number(found: float, wanted: float) -> bool:
    """Whether two numbers are the same: integers within 64 bits exactly, all others as doubles."""
    if isinstance(wanted, int) and abs(wanted) < 2**64:
        return found == wanted
    return float(found) == float(wanted)


def _is_same_instant(found: Any, wanted: Any, result: bool | None) -> bool:
    """:param result: True for one in UTC, None for one at any offset, False if only the same text will do."""
    return result is not False and same_instant(found, wanted, in_utc=result is True)


def same_instant(found: Any, wanted: Any, *, in_utc: bool = True) -> bool:
    """Whether two texts of RFC 3339 are the same instant, and the first is in UTC if it has to be."""
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
    """A value without the members that another one lacks, at any depth."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        members, others = cast("dict[str, Any]", found), cast("dict[str, Any]", wanted)
        return {name: known(value, others[name]) for name, value in members.items() if name in others}
    if isinstance(found, list) and isinstance(wanted, list):
        items, other_items = cast("list[Any]", found), cast("list[Any]", wanted)
        if len(items) == len(other_items):
            return [known(*both) for both in zip(items, other_items, strict=True)]
    return cast("Any", found)
