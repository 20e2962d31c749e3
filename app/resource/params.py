"""Query strings: names and texts to typed values. Nothing else reads ``request.args``.

A :class:`QuerySchema` is a marshmallow schema whose fields are parameters. It sees the whole multi-dictionary, so that
what other parsers let pass is refused: an undeclared name, a parameter given twice that is not repeatable, an empty
value.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, cast

from marshmallow import RAISE, Schema, ValidationError, fields, post_load
from werkzeug.datastructures import MultiDict

from app import errors
from app.query.fields import EXPANDABLE, SORTABLE, Stage
from app.query.filters.resolver import InvalidExpressions, read_facets, read_filters
from app.query.predicate import resolver
from app.query.predicate.ast import Condition
from app.resource.model import (
    FUZZY_LEVEL_AT_MOST,
    Containment,
    ExpectedVersion,
    Paging,
    Search,
    SearchText,
    Selection,
    SortTerm,
    fuzzy_level_of,
)
from app.resource.schemas import ContainedObjectTypeSchema
from app.values.json_fields import STORABLE_TEXT, RefusedValue, check_number, unknown_name
from app.values.strict_json import INT64_MAX, INT64_MIN, InvalidJson, decode, encode, unstorable_character

JsonSchema = dict[str, Any]

LIMIT_AT_MOST = 500
OFFSET_AT_MOST = 10_000

_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)


# Texts to values. Each raises a marshmallow ValidationError with the reason.


def read_text(text: str) -> str:
    """A text that the database can keep."""
    unstorable = unstorable_character(text)
    if unstorable is not None:
        raise ValidationError(f"A text cannot hold {unstorable}.")
    return text


def read_number(text: str) -> int | float:
    """A number as JSON writes it, within a double."""
    if _JSON_NUMBER.fullmatch(text) is None:
        raise ValidationError(f"{errors.quoted(text)} is not a number.")
    number = cast("int | float", decode(text))
    try:
        finite = float(number)
    except OverflowError:
        finite = float("inf")
    if finite - finite != 0:
        raise ValidationError(f"{errors.quoted(text)} is not a number that a double can hold.")
    return number


def read_stored_number(text: str) -> int | float:
    """A number in the form in which an ObjectType keeps it: an integer beyond int64 as the nearest double."""
    return check_number(read_number(text))


def read_integer(text: str, minimum: int = INT64_MIN, maximum: int = INT64_MAX) -> int:
    """A number without a fraction, however it is written, within a range."""
    number = read_number(text)
    if number != int(number):
        raise ValidationError(f"{errors.quoted(text)} has a fraction, a whole number is expected.")
    if not minimum <= number <= maximum:
        raise ValidationError(
            f"{errors.quoted(text)} is out of range, a whole number from {minimum} to {maximum} is expected."
        )
    return int(number)


def read_boolean(text: str) -> bool:
    """``true`` or ``false`` in any letter case."""
    value = text.lower()
    if value not in ("true", "false"):
        raise ValidationError(f"{errors.quoted(text)} is not a boolean, true or false is expected.")
    return value == "true"


_SORT_TERM = re.compile(r"\s*([^\s]+)(?:\s+(asc|desc))?\s*", re.IGNORECASE)


def read_sort_term(text: str) -> SortTerm:
    """``field``, ``field asc`` or ``field desc``."""
    match = _SORT_TERM.fullmatch(text)
    if match is None:
        raise ValidationError(f"{errors.quoted(text)} is not a sort expression, field [asc|desc] is expected.")
    name, direction = match.group(1), (match.group(2) or "asc").lower()
    if name not in SORTABLE:
        known = ", ".join(f"`{known}`" for known in SORTABLE)
        raise ValidationError(f"Invalid query field '{name[:100]}' in sort path. Sortable fields are: {known}.")
    return SortTerm(SORTABLE[name], descending=direction == "desc")


def read_expansion(text: str) -> str:
    """The name of a reference that can be expanded."""
    if text not in EXPANDABLE:
        known = ", ".join(f"`{known}`" for known in EXPANDABLE)
        raise ValidationError(f"{errors.quoted(text)} cannot be expanded. Expandable references are: {known}.")
    return text


def read_contained_object(text: str) -> str:
    """A JSON object that is an ObjectType or a part of one; as canonical JSON text."""
    try:
        value = decode(text)
    except InvalidJson as error:
        raise ValidationError(f"A JSON object is expected. {error}") from None
    try:
        return _CONTAINED.load(value).text
    except ValidationError as error:
        raise ValidationError("; ".join(_reasons(error.messages))) from None


_CONTAINED = ContainedObjectTypeSchema()


def _reasons(messages: Any, path: tuple[str, ...] = ()) -> list[str]:
    if isinstance(messages, dict):
        return [
            reason
            for name, inner in cast("dict[Any, Any]", messages).items()
            for reason in _reasons(inner, path if name == "_schema" else (*path, str(name)))
        ]
    place = " -> ".join(path) + ": " if path else ""
    return [
        place + (message.reason if isinstance(message, RefusedValue) else str(message))
        for message in cast("list[Any]", messages)
    ]


# Parameters and schemas


_STORABLE_TEXT: JsonSchema = {**STORABLE_TEXT, "minLength": 1}
_NUMBER: JsonSchema = {"type": "number"}
_INT64: JsonSchema = {"type": "integer", "format": "int64"}
_BOOLEAN: JsonSchema = {"type": "boolean"}


class Parameter(fields.Field[Any]):
    """A parameter whose text goes through ``read``; a repeatable one becomes a tuple.

    :param schema: what the OpenAPI document says of one value.
    :param example: a value that makes sense on the data of the tour.
    """

    def __init__(
        self,
        read: Any,
        schema: JsonSchema,
        *,
        repeatable: bool = False,
        meaning: str = "",
        example: Any = None,
        **arguments: Any,
    ) -> None:
        super().__init__(allow_none=False, **arguments)
        self.read = read
        self.repeatable = repeatable
        self.meaning = meaning
        self.example = example
        self.schema: JsonSchema = {"type": "array", "items": schema} if repeatable else schema

    def _deserialize(self, value: list[str], *_: Any, **__: Any) -> Any:
        if self.repeatable:
            return tuple(self._read(text) for text in value)
        if len(value) > 1:
            raise ValidationError("The parameter can be given only once.")
        return self._read(value[0])

    def _read(self, text: str) -> Any:
        if not text:
            raise ValidationError("The value is empty.")
        return self.read(text)


class ParameterFamily(fields.Field[dict[str, tuple[str, ...]]]):
    """Parameters whose names follow a pattern, each repeatable.

    Loads to the values of each by its whole name.

    :param read: what the text of a value goes through; by default any text will do, also the empty one.
    """

    def __init__(
        self,
        pattern: str,
        *,
        meaning: str,
        example: dict[str, str],
        data_key: str,
        read: Callable[[str], str] = read_text,
        schema: JsonSchema | None = None,
    ) -> None:
        super().__init__(data_key=data_key)
        self.pattern = pattern
        self._pattern = re.compile(pattern, re.ASCII | re.DOTALL)
        self._read = read
        self.meaning = meaning
        self.example = example
        text = schema or dict(STORABLE_TEXT)
        self.schema: JsonSchema = {
            "type": "object",
            "propertyNames": {"pattern": f"^{pattern}$"},
            "additionalProperties": {"oneOf": [text, {"type": "array", "items": text, "minItems": 1}]},
        }

    def has(self, name: str) -> bool:
        """Whether a parameter of this name belongs to the family."""
        return self._pattern.fullmatch(name) is not None

    def _deserialize(self, value: dict[str, list[str]], *_: Any, **__: Any) -> dict[str, tuple[str, ...]]:
        loaded: dict[str, tuple[str, ...]] = {}
        refused: dict[str, list[str]] = {}
        for name, texts in value.items():
            try:
                loaded[name] = tuple(self._read(text) for text in texts)
            except ValidationError as error:
                refused[name] = cast("list[str]", error.messages)
        if refused:
            raise ValidationError(cast(Any, refused))
        return loaded


_VARIABLES = "var.<name>"


class Where(Parameter):
    """Predicates, resolved with the values of their variables to the one condition that all of them hold."""

    def __init__(self) -> None:
        super().__init__(
            read_text,
            _STORABLE_TEXT,
            repeatable=True,
            meaning="a predicate of the query language; several are joined by and",
            example=['arrayOfStringExample contains any ("dog", "bird")'],
        )

    def _deserialize(self, value: list[str], attr: str | None, data: Any, **__: Any) -> Condition:  # noqa: ARG002 -- marshmallow's signature
        texts: list[str] = []
        reasons: list[str] = []
        for text in value:
            try:
                texts.append(self._read(text))
            except ValidationError as error:
                reasons += cast("list[str]", error.messages)
        given: dict[str, list[str]] = data.get(_VARIABLES, {})
        try:
            condition = resolver.read(texts, {name.removeprefix("var."): values for name, values in given.items()})
        except resolver.InvalidPredicates as error:
            reasons += error.reasons
        else:
            if not reasons:
                return condition
        raise ValidationError(reasons)


class QuerySchema(Schema):
    """The parameters of an endpoint; without fields, one that takes none.

    Every parameter is optional, so that there is always a value for an empty query string. What schemas load is frozen
    or not written to, and that value is therefore made once: most reads have no query string.
    """

    class Meta:
        unknown = RAISE

    @cached_property
    def _of_nothing(self) -> Any:
        return super().load({})

    @cached_property
    def _known(self) -> tuple[dict[str, Any], dict[str, "ParameterFamily"]]:
        """All fields by the names of their parameters, and those of them that take several names."""
        known = {field.data_key or name: field for name, field in self.fields.items()}
        return known, {name: field for name, field in known.items() if isinstance(field, ParameterFamily)}

    def load(self, data: Any, **_: Any) -> Any:
        """Load a multi-dictionary of texts.

        :raises ApiError: 400 with a fault for each undeclared name and each value that its parameter cannot have.
        """
        if not data:
            return self._of_nothing
        known, families = self._known
        declared: dict[str, Any] = {}
        faults: list[errors.Fault] = []
        for name, texts in cast("MultiDict[str, str]", data).lists():
            family = next((key for key, field in families.items() if field.has(name)), None)
            if family is not None:
                declared.setdefault(family, {})[name] = texts
            elif name in known and name not in families:
                declared[name] = texts
            else:
                faults.append(errors.parameter_fault(name[:100], unknown_name(name, known, "parameter")))
        try:
            loaded = super().load(declared)
        except ValidationError as error:
            faults += _faults_of(cast("dict[str, Any]", error.messages))
        else:
            if not faults:
                return loaded
        raise errors.ApiError(faults)


def _faults_of(messages: dict[str, Any]) -> list[errors.Fault]:
    """A fault for each message that is none yet; those of a family stand below its members' own names."""
    found: list[errors.Fault] = []
    for name, inner in messages.items():
        if isinstance(inner, dict):
            found += _faults_of(cast("dict[str, Any]", inner))
        else:
            found += [
                message if isinstance(message, errors.Fault) else errors.parameter_fault(name[:100], message)
                for message in cast("list[str | errors.Fault]", inner)
            ]
    return found


class NoQuerySchema(QuerySchema):
    """An endpoint without parameters."""


_SORT_PATTERN = rf"^\s*({'|'.join(SORTABLE)})(\s+([aA][sS][cC]|[dD][eE][sS][cC]))?\s*$"

_read_limit = partial(read_integer, minimum=0, maximum=LIMIT_AT_MOST)
_read_offset = partial(read_integer, minimum=0, maximum=OFFSET_AT_MOST)


class PagingSchema(QuerySchema):
    """What every list takes."""

    sort = Parameter(
        read_sort_term,
        {"type": "string", "pattern": _SORT_PATTERN},
        repeatable=True,
        meaning="`field [asc|desc]`, applied in the given order",
        example=["createdAt desc"],
    )
    # No default is published: the interface declares both as float, and generated clients would send 20.0.
    limit = Parameter(
        _read_limit,
        {"type": "integer", "minimum": 0, "maximum": LIMIT_AT_MOST},
        meaning="results in the page; 20 if not given",
        example=5,
    )
    offset = Parameter(
        _read_offset,
        {"type": "integer", "minimum": 0, "maximum": OFFSET_AT_MOST},
        meaning="results to skip; 0 if not given",
        example=0,
    )
    with_total = Parameter(read_boolean, _BOOLEAN, data_key="withTotal", meaning="false leaves total out", example=True)


class ConditionsSchema(PagingSchema):
    """A list that takes predicates."""

    where = Where()
    variables = ParameterFamily(
        r"var[.][a-zA-Z0-9]+",
        data_key=_VARIABLES,
        meaning="a value of the variable `:name` of the predicates; repeated, a list",
        example={"var.word": "dog"},
    )


def _paging(data: dict[str, Any]) -> Paging:
    return Paging(**{name: data[name] for name in ("sort", "limit", "offset", "with_total") if name in data})


@dataclass(frozen=True, slots=True)
class ListQuery:
    """A parsed query string of a list: which resources, and which part of them."""

    selection: Selection
    paging: Paging
    expanded: frozenset[str] = frozenset()


class SortedListSchema(ConditionsSchema):
    """List with sorted query parameters (interface 4.12)."""

    expand = Parameter(
        read_expansion,
        {"type": "string", "enum": list(EXPANDABLE)},
        repeatable=True,
        meaning="references whose API client is added as `obj`",
        example=["createdBy"],
    )

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> ListQuery:
        selection = Selection(predicate=data.get("where"))
        return ListQuery(selection, _paging(data), frozenset(data.get("expand", ())))


class FilteredListSchema(ConditionsSchema):
    """List and existence check (interface 4.1 and 4.5): each parameter is a condition on the array of its type."""

    string = Parameter(
        read_text,
        _STORABLE_TEXT,
        data_key="stringParameter",
        meaning="arrayOfStringExample has it",
        example="dog",
    )
    float = Parameter(
        read_stored_number,
        _NUMBER,
        data_key="floatParameter",
        meaning="arrayOfFloatExample has it",
        example=0.82,
    )
    integer = Parameter(
        read_integer,
        _INT64,
        data_key="integerParameter",
        meaning="arrayOfIntExample or arrayOfUniqueIntExample has it",
        example=3,
    )
    number = Parameter(
        read_stored_number,
        _NUMBER,
        data_key="withMarkdownDescription",
        meaning="arrayOfNumberNoDefaultsExample has it",
        example=10,
    )
    object = Parameter(
        read_contained_object,
        {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {"$ref": "#/components/schemas/ContainedObjectType"},
        },
        data_key="objectParameter",
        meaning="a JSON object that objectTypeProperty contains",
        example='{"arrayOfObjectType": [{"integerExample": 777}]}',
    )
    all_of = Parameter(
        read_text,
        _STORABLE_TEXT,
        repeatable=True,
        data_key="arrayOfString",
        meaning="arrayOfStringExample has all of them",
        example=["dog", "cat"],
    )
    any_of = Parameter(
        read_text,
        _STORABLE_TEXT,
        repeatable=True,
        data_key="arrayOfStringWithDescription",
        meaning="arrayOfStringExample has at least one of them",
        example=["bird", "fish"],
    )

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> ListQuery:
        return ListQuery(Selection(tuple(_containments(data)), data.get("where")), _paging(data))


def _containments(data: dict[str, Any]) -> list[Containment]:
    found: list[Containment] = []
    for name, arrays in (
        ("string", ("arrayOfStringExample",)),
        ("float", ("arrayOfFloatExample",)),
        ("integer", ("arrayOfIntExample", "arrayOfUniqueIntExample")),
        ("number", ("arrayOfNumberNoDefaultsExample",)),
    ):
        if name in data:
            found.append(Containment(tuple(encode({array: [data[name]]}) for array in arrays)))
    if "object" in data:
        found.append(Containment((data["object"],)))
    if "all_of" in data:
        found.append(Containment((encode({"arrayOfStringExample": data["all_of"]}),)))
    if "any_of" in data:
        found.append(Containment(tuple(encode({"arrayOfStringExample": [text]}) for text in data["any_of"])))
    return found


# Search


class Expressions(Parameter):
    """Repeatable expressions, read together so that one answer tells of all their faults."""

    def __init__(self, read_all: Callable[[Sequence[str]], Any], *, meaning: str, example: Any, data_key: str) -> None:
        super().__init__(
            read_text, _STORABLE_TEXT, repeatable=True, meaning=meaning, example=example, data_key=data_key
        )
        self._read_all = read_all

    def _deserialize(self, value: list[str], *arguments: Any, **options: Any) -> Any:
        texts = super()._deserialize(value, *arguments, **options)
        try:
            return self._read_all(texts)
        except InvalidExpressions as error:
            raise ValidationError(cast("Any", list(error.reasons))) from None


def read_words(text: str) -> str:
    """A text to search for."""
    if not text.strip():
        raise ValidationError("The value is empty." if not text else "The value is blank.")
    return read_text(text)


_WORD = re.compile(r"\w+(?:[-.]\w+)*")


def default_fuzzy_level(texts: Iterable[str]) -> int:
    """The edits that are allowed in the longest word of some texts; if there is none, as many as in any."""
    lengths = [len(word) for text in texts for word in _WORD.findall(text)]
    return fuzzy_level_of(max(lengths)) if lengths else FUZZY_LEVEL_AT_MOST


_TEXTS = "text.<language>"

_LANGUAGE_NAME = len("text.")
"""Where the language begins in a parameter's name; the character before it can be any."""


class SearchSchema(PagingSchema):
    """Search (interface 4.4 and 4.14)."""

    texts = ParameterFamily(
        r"text.[a-z]{2}(-[A-Z]{2})?",
        data_key=_TEXTS,
        meaning="words in this language that arrayOfStringExample and someProperty have, all of them",
        read=read_words,
        schema={**_STORABLE_TEXT, "pattern": "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$"},
        example={"text.en": "dogs"},
    )
    fuzzy = Parameter(
        read_boolean,
        _BOOLEAN,
        meaning="a word also matches within a few edits, the more the longer it is",
        example=True,
    )
    fuzzy_level = Parameter(
        partial(read_integer, minimum=0, maximum=FUZZY_LEVEL_AT_MOST),
        {"type": "integer", "minimum": 0, "maximum": FUZZY_LEVEL_AT_MOST},
        data_key="fuzzyLevel",
        meaning="edits at most: 0, 1 or 2, not more than the longest word allows by default (0 up to 2 characters, "
        "1 up to 5, 2 above)",
        example=1,
    )
    staged = Parameter(
        read_boolean,
        _BOOLEAN,
        meaning="true searches the staged projection instead of the current one",
        example=False,
    )
    filter = Expressions(
        read_filters,
        data_key="filter",
        meaning="narrows the results: `path:values`, `path:range(a to b)`, `path:exists` or `path:missing`",
        example=["arrayOfIntExample:range(1 to 5)"],
    )
    facet_filter = Expressions(
        read_filters,
        data_key="filter.facets",
        meaning="a filter that narrows what facets count, but for facets on its own field",
        example=['arrayOfStringExample:"dog"'],
    )
    query_filter = Expressions(
        read_filters,
        data_key="filter.query",
        meaning="a filter that narrows the results and what facets count",
        example=["key:exists"],
    )
    facet = Expressions(
        read_facets,
        data_key="facet",
        meaning="what to count: `path`, `path:values` or `path:range(a to b)`, each with `as name` if wanted",
        example=["arrayOfStringExample"],
    )

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Search:
        texts = tuple(
            SearchText(name[_LANGUAGE_NAME:], text) for name, given in data.get("texts", {}).items() for text in given
        )
        level: int = data.get("fuzzy_level", FUZZY_LEVEL_AT_MOST)
        default = default_fuzzy_level(text.text for text in texts)
        if "fuzzy_level" in data and level > default:
            raise ValidationError(f"{level} is higher than {default}, the default for the longest word.", "fuzzyLevel")
        return Search(
            stage=Stage.STAGED if data.get("staged") else Stage.CURRENT,
            texts=texts,
            fuzzy_level=level if data.get("fuzzy") else None,
            query_filters=data.get("query_filter", ()),
            filters=data.get("filter", ()),
            facet_filters=data.get("facet_filter", ()),
            facets=data.get("facet", ()),
            paging=_paging(data),
        )


def asks_for_staged(data: Any) -> bool:
    """Whether the parameters of a search ask for the staged projection, whatever else they ask for."""
    return any(text.lower() == "true" for text in cast("MultiDict[str, str]", data).getlist("staged"))


class OptionalTextsSchema(QuerySchema):
    """The two optional parameters of get by id (interface 4.2), which make no difference."""

    first = Parameter(
        read_text, _STORABLE_TEXT, data_key="optionalQueryParameter", meaning="any text", example="any text"
    )
    second = Parameter(
        read_text, _STORABLE_TEXT, data_key="secondOptionalQueryParameter", meaning="any text", example="another"
    )


class StagedSchema(QuerySchema):
    """``staged`` of a write on the collection; loads to the boolean."""

    staged = Parameter(
        read_boolean,
        _BOOLEAN,
        load_default=False,
        meaning="true writes the staged projection only, the current one stays",
        example=False,
    )

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> bool:
        return data["staged"]


class VersionSchema(QuerySchema):
    """``version`` of a delete; loads to the expected version or None."""

    # The example stands in the schema, from where no page fills it in: it is right for one version only.
    version = Parameter(
        read_number,
        _NUMBER | {"examples": [1]},
        meaning="the expected version; if it differs from the actual one, 409",
    )

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> ExpectedVersion | None:
        return ExpectedVersion(data["version"]) if "version" in data else None


@dataclass(frozen=True, slots=True)
class SampleQuery:
    """The query parameters of the test-shaped endpoints (interface 4.9 and 4.13)."""

    one: int | float | None = None
    two: str | None = None


class SampleQuerySchema(QuerySchema):
    """``queryParameterOne`` and ``queryParameterTwo``."""

    one = Parameter(read_number, _NUMBER, data_key="queryParameterOne", meaning="any number", example=0.5)
    two = Parameter(read_text, _STORABLE_TEXT, data_key="queryParameterTwo", meaning="any text", example="any text")

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> SampleQuery:
        return SampleQuery(**data)
