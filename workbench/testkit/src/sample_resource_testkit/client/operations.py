"""The operations of the interface, and the request that is expected for a call of an operation."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlencode

from sample_resource_testkit.client.messages import shortened

JSON, FORM = "application/json", "application/x-www-form-urlencoded"

ANY_VALUE = (
    *("id", "version", "key", "custom", "eigthProperty", "ninthProperty", "tenthProperty", "eleventhPropery"),
    *("twelthProperty", "thirteenthProperty", "fourteenthProperty", "fifteenthProperty"),
)
"""The fields of the record of 4.9 and 4.13 that take any JSON value."""

FAMILIES = {"var.<name>": "var", "text.<language>": "text"}
"""The argument that contains the parameters named by a pattern, by the pattern."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, or a field of a form.

    :param place: ``path``, ``query``, ``header`` or ``form``.
    :param kind: ``text``, ``integer``, ``number``, ``boolean``, ``json`` (an object as its text), ``list`` (a pair for
        each text) or ``family`` (named by a pattern).
    :param default: the value that its absence means, as text of a query; None if there is no default.
    """

    name: str
    place: str
    kind: str
    default: str | None = None

    @property
    def argument(self) -> str:
        """The name of the argument in a call."""
        return FAMILIES.get(self.name, self.name)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the OpenAPI document.

    :param body: the media type of the body; None without a body.
    :param fields: the fields of the form.
    """

    id: str
    method: str
    path: str
    parameters: tuple[Parameter, ...]
    body: str | None
    fields: tuple[Parameter, ...]


@cache
def operations() -> dict[str, Operation]:
    """All operations with a path below a project, by their operationIds."""
    listed = json.loads((files(__package__ or "") / "operations.json").read_text(encoding="utf-8"))
    return {
        item["id"]: Operation(
            item["id"],
            item["method"],
            item["path"],
            tuple(_parameter(each) for each in item["parameters"]),
            item["body"],
            tuple(_parameter(each) for each in item["fields"]),
        )
        for item in listed
    }


def _parameter(item: Mapping[str, Any]) -> Parameter:
    default = json.dumps(item["default"]) if "default" in item else None
    return Parameter(item["name"], item["in"], item["kind"], default)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an operation, as an adapter gets it.

    :param arguments: parameters by their names. A repeatable parameter has a list, and those of a pattern are one
        object.
    :param body: the body; None without a body.
    """

    operation: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    body: Any = None

    def told(self) -> str:
        """The call as text for reports."""
        parts = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in self.arguments.items()]
        if self.body is not None:
            parts.append(f"body={json.dumps(self.body, ensure_ascii=False)}")
        return shortened(f"{self.operation}({', '.join(parts)})")


Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected request for a call. Other notations of it are permitted: see :mod:`.meaning`.

    :param segments: the segments of the path, without percent-encoding.
    :param query: pairs of names and values, without percent-encoding.
    :param kinds: the kinds of parameters in query and form that are not texts, by their names.
    :param defaults: default values of parameters and fields, which a client may send or omit.
    :param headers: the headers that the call requires.
    :param body: a JSON value, pairs of a form, or None; ``media_type`` says which.
    :param has_form: whether the operation accepts a form, even if the call has none.
    """

    operation: str
    method: str
    segments: tuple[str, ...]
    query: Pairs
    kinds: Mapping[str, str]
    defaults: Mapping[str, str]
    headers: Mapping[str, str]
    media_type: str | None
    body: Any
    has_form: bool = False

    def told(self) -> str:
        """The request as text for reports, in the usual notation."""
        target = "/".join(("", *(quote(segment, safe="=~") for segment in self.segments)))
        if self.query:
            target += f"?{urlencode(self.query, quote_via=quote)}"
        lines = [f"{self.method} {target}", *(f"{name}: {value}" for name, value in self.headers.items())]
        if self.media_type is not None:
            text = urlencode(self.body) if self.media_type == FORM else json.dumps(self.body, ensure_ascii=False)
            lines += [f"Content-Type: {self.media_type}", "", text]
        return shortened("\n".join(lines))


def expected(call: Call, project: str) -> Expected:
    """The expected request for a call."""
    operation = operations()[call.operation]
    arguments = {name: value for name, value in call.arguments.items() if value is not None}
    query: list[tuple[str, str]] = []
    headers: dict[str, str] = {}
    path = {"projectKey": project}
    kinds: dict[str, str] = {}
    for parameter in operation.parameters:
        if parameter.argument not in arguments:
            continue
        value = arguments.pop(parameter.argument)
        if parameter.place == "path":
            path[parameter.name] = value
        elif parameter.place == "header":
            headers[parameter.name] = value
        else:
            kinds[parameter.name] = parameter.kind
            query += pairs(parameter, value)
    if arguments:
        raise ValueError(f"{call.operation} has no {', '.join(arguments)}")
    media_type, body = operation.body, call.body
    if media_type == FORM:
        form: list[tuple[str, str]] = []
        for parameter in operation.fields:
            value = (body or {}).get(parameter.argument)
            if value is not None:
                kinds[parameter.name] = parameter.kind
                form += pairs(parameter, value)
        media_type, body = (None, None) if body is None else (FORM, tuple(form))
    segments = tuple(segment.format_map(path) for segment in operation.path.removeprefix("/").split("/"))
    described = (*operation.parameters, *operation.fields)
    defaults = {each.name: each.default for each in described if each.default is not None}
    return Expected(
        *(operation.id, operation.method, segments, tuple(query), kinds, defaults, headers, media_type, body),
        has_form=operation.body == FORM,
    )


def pairs(parameter: Parameter, value: Any) -> Iterator[tuple[str, str]]:
    """The pairs of name and value in a query or a form for an argument."""
    if parameter.kind == "family":
        for name, given in value.items():
            for item in given if isinstance(given, list) else [given]:
                yield f"{parameter.argument}.{name}", item
        return
    for item in value if isinstance(value, list) and parameter.kind == "list" else [value]:
        yield parameter.name, item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
