"""The parameters of the resource's endpoints: their names, types and limits."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor
from typing import Any

from marshmallow import ValidationError

from app import errors
from app.query.fields import OBJECT_TYPE, SORTABLE, Field, Projection
from app.query.filters.resolver import Filter, read_facets, read_filters
from app.query.language import TERMS_AT_MOST
from app.query.object_fields import OBJECT_FIELDS, arrays_of_parameter
from app.query.predicate import resolver
from app.query.predicate.conditions import AllOf, AnyOf, Condition, Contains, Holds
from app.query.predicate.operators import OPERATORS
from app.resource.model import DEFAULT_LIMIT, FUZZY_LEVEL_AT_MOST, WRAPPER, Paging, Search, SearchText, SortTerm
from app.resource.resource_json import EXPANDABLE
from app.resource.searching.words import text_beyond
from app.values.json_fields import STORABLE_TEXT, check_json, messages_with_paths
from app.values.parameters import (
    FILLED_TEXT_SCHEMA,
    NUMBER_SCHEMA,
    BooleanParameter,
    NumberParameter,
    Parameter,
    ParameterFamily,
    QuerySchema,
    TextParameter,
    read_any_text,
    read_integer,
    read_number,
    read_text,
)
from app.values.strict_json import InvalidJson, decode, encode

LIMIT_AT_MOST = 500
"""The largest ``limit``: the most results of a page."""
OFFSET_AT_MOST = 10_000
"""The largest ``offset``: the most results before a page."""

# Texts to values


# Not \s, of which Python and ECMAScript have different ideas: _SORT_PATTERN says the same to the readers of the OpenAPI
# document.
_SORT_TERM = re.compile(r"[ \t\r\n]*([^ \t\r\n]+)(?:[ \t\r\n]+(asc|desc))?[ \t\r\n]*", re.IGNORECASE | re.ASCII)


def read_sort_term(text: str) -> SortTerm:
    """Load a sort expression: ``field``, ``field asc`` or ``field desc``.

    :raises ValidationError: for another form, and for a field that is not sortable.
    """
    match = _SORT_TERM.fullmatch(text)
    if match is None:
        raise ValidationError(f"{errors.quoted(text)} is not a sort expression, field [asc|desc] is expected.")
    name, direction = match.group(1), (match.group(2) or "asc").lower()
    if name not in SORTABLE:
        known = ", ".join(f"`{known}`" for known in SORTABLE)
        raise ValidationError(f"Invalid query field '{name[:100]}' in sort path. Sortable fields are: {known}.")
    return SortTerm(SORTABLE[name], descending=direction == "desc")


def read_contained_object(text: str) -> str:
    """Load ``objectParameter``, the text of a JSON object. A resource matches if its ObjectType contains this object.

    Return the JSON text of the object without the members and items that are ``null``: they count as absent. A client
    may send the object inside of a wrapper, an object with the only member ``objectTypeProperty``; the wrapper is
    removed.

    The fields and types of ObjectType are not checked: an object with an unknown field, or with a value of a wrong
    type, is accepted, but no resource matches it.

    :raises ValidationError: for a text that is no JSON object, that PostgreSQL cannot store as jsonb, that is nested
        too deep, or that has a number beyond the range of doubles.
    """
    try:
        value = decode(text)
    except InvalidJson as error:
        raise ValidationError(f"A JSON object is expected. {error}") from None
    if not isinstance(value, dict):
        raise ValidationError("A JSON object is expected.")
    try:
        members: dict[str, Any] = check_json(value, stored=True)  # in the form of the stored documents: without nulls
    except ValidationError as error:
        # Only the first message, and without its path in the object, so that the fault names the parameter.
        _, message = next(messages_with_paths(error.messages))
        raise ValidationError(str(message)) from None
    is_wrapped = members.keys() == {WRAPPER} and isinstance(members[WRAPPER], dict)
    return encode(members[WRAPPER] if is_wrapped else members)


# Lists


_VARIABLES = "var.<name>"


class Expressions(Parameter):
    """A repeatable parameter whose expressions are read together, because some rules concern all of them: how many
    terms they may have, and that no two facets have one name.

    :param read: reads the texts of all expressions, or raises a ValidationError with the faults of all of them. For
        :class:`Where` it takes the values of the variables, too.
    :param described: other arguments of :class:`Parameter`, such as ``meaning`` and ``example``.
    """

    def __init__(self, read: Callable[..., Any], **described: Any) -> None:
        super().__init__(read, FILLED_TEXT_SCHEMA, repeatable=True, **described)

    def _deserialize(self, value: list[str], *_: Any, **__: Any) -> Any:
        """Read all expressions together, in place of :class:`Parameter`, which reads them one by one."""
        return self.read(value)


class Where(Expressions):
    """The predicates of ``where``, which are read with the values of their variables."""

    def _deserialize(self, value: list[str], attr: str | None, data: Any, **__: Any) -> Condition:  # noqa: ARG002 -- marshmallow's signature
        """Read all predicates together, with the values of the variables that were sent."""
        # data has the unread texts of the parameters that were sent, as QuerySchema.load has grouped them. The texts of
        # all variables are under one key, which is literally "var.<name>". An example of data:
        # {"where": ["key = :word"], "var.<name>": {"var.word": ["dog"]}}
        given: dict[str, list[str]] = data.get(_VARIABLES, {})
        return self.read(value, {name.removeprefix("var."): texts for name, texts in given.items()})


_SORT_PATTERN = rf"^[ \t\r\n]*({'|'.join(SORTABLE)})([ \t\r\n]+([aA][sS][cC]|[dD][eE][sS][cC]))?[ \t\r\n]*$"


def _paging_parameter(maximum: int, meaning: str, default: int, example: int) -> Parameter:
    """Make the query parameter ``limit`` or ``offset``: a whole number from 0 to ``maximum``.

    Its JSON Schema has no ``default``, because some generated clients would send the default with every request.

    :param default: the default to be named in the description. It is not applied here: :class:`Paging` applies it.
    """
    return Parameter(
        partial(read_integer, minimum=0, maximum=maximum),
        {"type": "integer", "minimum": 0, "maximum": maximum},
        meaning=f"{meaning}; {default} if not given. The interface declares a float: whole numbers such as 20.0 are"
        " accepted, and a fraction is a 400.",
        example=example,
    )


class PagingSchema(QuerySchema):
    """The parameters that every list has: the order of the results, which part of them a page contains, and whether it
    tells how many there are."""

    sort = Parameter(
        read_sort_term,
        {"type": "string", "pattern": _SORT_PATTERN},
        repeatable=True,
        meaning="`field [asc|desc]`; several apply in the given order",
        example=["createdAt desc"],
    )
    limit = _paging_parameter(LIMIT_AT_MOST, "most results in the page", DEFAULT_LIMIT, 5)
    offset = _paging_parameter(OFFSET_AT_MOST, "results to skip", 0, 0)
    with_total = BooleanParameter(data_key="withTotal", meaning="false leaves total out", example=True)


class ConditionsSchema(PagingSchema):
    """The parameters of lists with predicates."""

    where = Where(
        resolver.read,
        meaning="a predicate of the query language; several predicates are joined by and",
        example=['arrayOfStringExample contains any ("dog", "bird")'],
    )
    variables = ParameterFamily(
        r"var[.][a-zA-Z0-9]+",
        read_any_text,
        dict(STORABLE_TEXT),
        data_key=_VARIABLES,
        meaning="the value of the variable `:name` in predicates; a repeated parameter is a list",
        example={"var.word": "dog"},
    )


def paging_of(data: dict[str, Any]) -> Paging:
    """The paging of loaded parameters, with the defaults of :class:`Paging` for those that were not sent."""
    return Paging(**{name: data[name] for name in ("sort", "limit", "offset", "with_total") if name in data})


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The loaded parameters of a list: its condition (None for all resources), its paging, and the references to
    expand."""

    condition: Condition | None
    paging: Paging
    expanded: frozenset[str] = frozenset()


class SortedListSchema(ConditionsSchema):
    """The parameters of the list of whole resources (interface 4.12)."""

    expand = Parameter(
        read_text,
        FILLED_TEXT_SCHEMA,
        repeatable=True,
        meaning=f"references whose API client is added as `obj`: {' or '.join(EXPANDABLE)}; other paths are ignored",
        example=["createdBy"],
    )

    def make(self, values: dict[str, Any]) -> ListQuery:
        expanded = frozenset(EXPANDABLE).intersection(values.get("expand", ()))
        return ListQuery(values.get("where"), paging_of(values), expanded)


_ONE_OF_TEXTS = "at least one of these texts"


def _meaning(parameter: str, what: str = "this value") -> str:
    """The description of a parameter that searches arrays, such as "arrayOfIntExample or arrayOfUniqueIntExample has
    this value"."""
    return f"{' or '.join(arrays_of_parameter(parameter))} has {what}"


class FilteredListSchema(ConditionsSchema):
    """The parameters of the list and the existence check (interface 4.1 and 4.5).

    A resource has to fulfil the conditions of all parameters that are conditions: ``where``, ``objectParameter`` on its
    whole ObjectType, and each of the others below on an array, or on one of two arrays.
    """

    stringParameter = TextParameter(meaning=_meaning("stringParameter"), example="dog")
    floatParameter = NumberParameter(meaning=_meaning("floatParameter"), example=0.82)
    integerParameter = Parameter(
        read_integer, {"type": "integer", "format": "int64"}, meaning=_meaning("integerParameter"), example=3
    )
    withMarkdownDescription = NumberParameter(meaning=_meaning("withMarkdownDescription"), example=10)
    objectParameter = Parameter(
        read_contained_object,
        {"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "object"}},
        how_sent="one JSON object, such as objectParameter={}",
        meaning="a JSON object that objectTypeProperty contains, with or without `objectTypeProperty` around it; a"
        " field that it does not have finds nothing",
        example='{"arrayOfObjectType": [{"integerExample": 777}]}',
    )
    arrayOfString = TextParameter(
        repeatable=True, meaning=_meaning("arrayOfString", _ONE_OF_TEXTS), example=["dog", "cat"]
    )
    arrayOfStringWithDescription = TextParameter(
        repeatable=True, meaning=_meaning("arrayOfStringWithDescription", _ONE_OF_TEXTS), example=["bird", "fish"]
    )

    def make(self, values: dict[str, Any]) -> ListQuery:
        conditions = [_any_array_has(_ARRAYS[name], values[name]) for name in values if name in _ARRAYS]
        if "objectParameter" in values:
            conditions.append(Contains(values["objectParameter"]))
        if "where" in values:
            conditions.append(values["where"])
        return ListQuery(AllOf(tuple(conditions)) if conditions else None, paging_of(values))


_ARRAYS = {
    parameter: [OBJECT_TYPE[array] for array in arrays_of_parameter(parameter)]
    for row in OBJECT_FIELDS
    for parameter in row.parameters
}
"""The arrays of which at least one has to have the value of a parameter, by the name of the parameter."""


def _any_array_has(arrays: Sequence[Field], value: Any) -> Condition:
    """The condition that one of the arrays has the value, or one of the values."""
    items = value if isinstance(value, tuple) else (value,)  # a repeatable parameter loads to a tuple
    return AnyOf(tuple([Holds(array, OPERATORS["contains any"], items, negated=False) for array in arrays]))


# Reads and writes of one resource


class OptionalTextsSchema(QuerySchema):
    """The two optional parameters of get by id (interface 4.2), which are checked and have no effect."""

    optionalQueryParameter = TextParameter(meaning="any text", example="any text")
    secondOptionalQueryParameter = TextParameter(meaning="any text", example="another")


class StagedSchema(QuerySchema):
    """The parameter ``staged`` of a write on the collection. It loads to a boolean."""

    staged = BooleanParameter(meaning="true: the content changes in the staged projection only", example=False)

    def make(self, values: dict[str, Any]) -> bool:
        return values.get("staged", False)


class VersionSchema(QuerySchema):
    """The parameter ``version`` of a delete. It loads to the expected version, or to None if it is not given. It may be
    any number: one that no resource can have is answered with 409, like every version that is not the actual one."""

    # The example is inside the schema, so that documentation pages do not send it: each version fits only one state.
    version = Parameter(
        read_number,
        NUMBER_SCHEMA | {"examples": [1]},
        meaning="the expected version; if it is not the actual version, the answer is 409",
    )

    def make(self, values: dict[str, Any]) -> int | float | None:
        return values.get("version")


# The search (interface 4.4 and 4.14): texts, fuzziness, filters and facets


def read_words(text: str) -> str:
    """Load a text to search for.

    :raises ValidationError: for an empty or blank text, and for one that PostgreSQL cannot store.
    """
    if text.isspace():
        raise ValidationError("The value is blank.")
    return read_text(text)  # which refuses the empty text


def read_fuzzy_level(text: str) -> int:
    """Load a fuzzyLevel: the most edits between a word of the search and a word that it finds. A fraction within the
    limits is rounded down, because edits are counted in whole numbers.

    :raises ValidationError: for a text that is no number, and for a number below 0 or above
        :data:`FUZZY_LEVEL_AT_MOST`, such as 2.5, which is not rounded to 2. A search with ``fuzzy=true`` and without
        ``fuzzyLevel`` has the level :data:`FUZZY_LEVEL_AT_MOST`.
    """
    number = read_number(text)
    if number < 0:
        raise ValidationError(f"{errors.quoted(text)} is negative, a number from 0 on is expected.")
    if number > FUZZY_LEVEL_AT_MOST:
        raise ValidationError(f"{errors.quoted(text)} is higher than {FUZZY_LEVEL_AT_MOST}, the default fuzzy level.")
    return floor(number)


CHARACTERS_AT_MOST = 2000
"""The most characters of all texts of a search together."""

REPEATED_TERMS_AT_MOST = 1000
"""The greatest product of two numbers: that of the facets, and that of the values and ranges of ``filter.query`` and
``filter.facets`` together.

The statement of a search repeats these filters for each facet that is not on their field. Without this limit it could
have 6 MiB, for which PostgreSQL took 78 s and 5 GB of memory. Values are counted as if they were repeated, although all
values of a filter are one parameter of the statement: so the limit is easier to explain.
"""


def _raise_if_too_many(search: Search) -> None:
    """Refuse a search whose filters and facets would make the SQL statement too long. There are two limits:

    - All filters together may have at most :data:`TERMS_AT_MOST` values and ranges. The error names the first of the
      parameters ``filter``, ``filter.query`` and ``filter.facets`` that was sent.
    - The statement may repeat the filters of ``filter.query`` and ``filter.facets`` for each facet. So the number of
      their values and ranges, times the number of facets, may be at most :data:`REPEATED_TERMS_AT_MOST`. The error
      names ``facet``.

    :raises ValidationError: if a limit is exceeded.
    """
    in_all = _terms_of((*search.filters, *search.query_filters, *search.facet_filters))
    if in_all > TERMS_AT_MOST:
        raise ValidationError(
            f"filter, filter.query and filter.facets have {in_all} values and ranges together, {TERMS_AT_MOST} are"
            " accepted.",
            "filter" if search.filters else "filter.query" if search.query_filters else "filter.facets",
        )
    facets, terms = len(search.facets), _terms_of((*search.query_filters, *search.facet_filters))
    if facets * terms > REPEATED_TERMS_AT_MOST:
        raise ValidationError(
            f"{facets} facets times the {terms} values and ranges of filter.query and filter.facets are"
            f" {facets * terms}; {REPEATED_TERMS_AT_MOST} are accepted.",
            "facet",
        )


def _terms_of(filters: Iterable[Filter]) -> int:
    """How many values and ranges some filters have together."""
    return sum(one.terms for one in filters)


_TEXTS = "text.<language>"


class SearchSchema(PagingSchema):
    """The parameters of the search (interface 4.4)."""

    texts = ParameterFamily(
        r"text.[a-z]{2}(-[A-Z]{2})?",
        read_words,
        {**FILLED_TEXT_SCHEMA, "pattern": "^[^\\u0000]*[^\\s\\u0000\\u001c-\\u001f\\u0085][^\\u0000]*$"},
        data_key=_TEXTS,
        meaning="words in this language; arrayOfStringExample and someProperty together have all of them",
        example={"text.en": "dogs"},
    )
    fuzzy = BooleanParameter(
        meaning="true: a word also matches similar words; a longer word allows more edits", example=True
    )
    fuzzy_level = Parameter(
        read_fuzzy_level,
        {"type": "number", "minimum": 0, "maximum": FUZZY_LEVEL_AT_MOST},
        data_key="fuzzyLevel",
        meaning="with `fuzzy=true`, the most edits of each word, rounded down, and never more than the word's length "
        "allows: 0 up to 2 characters, 1 up to 5, 2 above",
        example=1,
    )
    staged = BooleanParameter(meaning="true searches the staged projection instead of the current one", example=False)
    filter = Expressions(
        read_filters,
        data_key="filter",
        meaning="narrows the results: `path:values`, `path:range(a to b)`, `path:exists` or `path:missing`",
        example=["arrayOfIntExample:range(1 to 5)"],
    )
    facet_filter = Expressions(
        read_filters,
        data_key="filter.facets",
        meaning="a filter that narrows what facets count, except for facets on its own field",
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
        meaning="what to count: `path`, `path:values` or `path:range(a to b)`, each optionally with `as name`",
        example=["arrayOfStringExample"],
    )

    def make(self, values: dict[str, Any]) -> Search:
        """Make the search from the loaded parameters, with a default for each one that was not sent.

        :raises ValidationError: if all texts together are too long, and as :func:`_raise_if_too_many` does.
        """
        texts = tuple(SearchText(name, text) for name, given in values.get("texts", {}).items() for text in given)
        # The error names the parameter of the first text with which the number of characters exceeds the limit.
        over_limit = text_beyond(CHARACTERS_AT_MOST, texts, (len(text.text) for text in texts))
        if over_limit is not None:
            reason = f"The texts of a search may have {CHARACTERS_AT_MOST} characters in all."
            raise ValidationError(reason, over_limit.parameter)
        search = Search(
            projection=Projection.STAGED if values.get("staged") else Projection.CURRENT,
            texts=texts,
            fuzzy_level=values.get("fuzzy_level", FUZZY_LEVEL_AT_MOST) if values.get("fuzzy") else 0,
            query_filters=values.get("query_filter", ()),
            filters=values.get("filter", ()),
            facet_filters=values.get("facet_filter", ()),
            facets=values.get("facet", ()),
            paging=paging_of(values),
        )
        _raise_if_too_many(search)
        return search


class SearchFormSchema(SearchSchema):
    """The parameters of the product projection search (interface 4.14).

    The interface declares no parameter of this endpoint, and its name leads clients to send those of the platform's
    endpoint of this name. Those of them that this service does not have are ignored. Any other unknown parameter is
    refused: a search with a mistyped filter would find everything.
    """

    IGNORED = frozenset(
        (
            "markMatchingVariants",
            "expand",
            "priceCurrency",
            "priceCountry",
            "priceCustomerGroup",
            "priceCustomerGroupAssignments",
            "priceChannel",
            "priceRecurrencePolicy",
            "localeProjection",
            "storeProjection",
        )
    )
