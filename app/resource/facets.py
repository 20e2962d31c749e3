"""Facets to SQL: each is one subquery whose value is the JSON of its result.

Counts are of resources: a value that an array holds twice counts once. A subquery reads the resources once, however
many terms or ranges it has, and needs no join back to tell resources apart, since a resource's values are gathered
beside its row.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

from app import errors
from app.query.fields import TIME_FORMAT, Kind, Stage
from app.query.filters.ast import Bounds, Facet, FieldPath
from app.query.predicate.ast import Condition, Value
from app.query.predicate.compiler import CASTS, compile_condition, number_text, parameter_of
from app.query.sql_text import numbered, placeholder

TERMS_AT_MOST: LiteralString = "200"
"""Terms that a facet lists; the others are in ``other``."""

Parameters = dict[str, Any]


def compile_facet(
    facet: Facet, where: LiteralString, stage: Stage, prefix: LiteralString, parameters: Parameters
) -> LiteralString:
    """The SQL of a facet's JSON.

    :param where: which resources ``r`` are counted.
    :param prefix: begins the names of the parameters that are added to ``parameters``.
    """
    match facet.of:
        case None:
            return _terms(facet, where, stage)
        case tuple():
            return _ranges(facet, facet.of, where, stage, prefix, parameters)
        case condition:
            return _filter(facet, condition, where, stage, prefix, parameters)


def _count(facet: Facet, count: LiteralString) -> LiteralString:
    """The member ``count``, and ``productCount`` if it was asked for: what is counted are the products."""
    json: LiteralString = f"""'"count":' || {count}"""
    return f"""{json} || ',"productCount":' || {count}""" if facet.counting_products else json


# Values

_MEMBER: LiteralString = (
    "SELECT DISTINCT (e.value -> {name})::numeric FROM jsonb_array_elements({column}) e (value) WHERE e.value ? {name}"
)

_VALUES: dict[Kind, LiteralString] = {
    Kind.ID: "SELECT {}",
    Kind.TEXT: "SELECT {}",
    Kind.TIME: "SELECT {}",
    Kind.NUMBER: "SELECT ({})::numeric",
    Kind.TEXTS: 'SELECT DISTINCT e.value COLLATE "C" FROM jsonb_array_elements_text({}) e (value)',
    Kind.NUMBERS: "SELECT DISTINCT e.value::numeric FROM jsonb_array_elements({}) e (value)",
}
"""The values of a field of ``r``, each once; an absent one has no row, or one with NULL."""


def _values(at: FieldPath, stage: Stage) -> LiteralString:
    holder = at.element_of or at.field
    if holder.column is None:
        errors.unreachable("what a facet looks at has a column")
    column = holder.column.of(stage)
    if at.element_of is not None:
        return _MEMBER.format(name=f"'{at.field.name}'", column=column)
    return _VALUES[at.field.kind].format(column)


# JSON of values. A numeric has more digits than a double: where it is not whole, the shortest text of the nearest
# double is meant, if there is one.

_NUMBER_JSON: LiteralString = """CASE
    WHEN {0} = trunc({0}) AND abs({0}) < 1e21 THEN trunc({0})::text
    WHEN abs({0}) BETWEEN 1e-300 AND 1e300 THEN to_json({0}::double precision)::text
    ELSE {0}::text END"""

_TERM_JSON: dict[Kind, tuple[LiteralString, LiteralString]] = {
    Kind.ID: ("text", "'\"' || {0} || '\"'"),
    Kind.TEXT: ("text", "to_json({0}::text)::text"),
    Kind.TEXTS: ("text", "to_json({0}::text)::text"),
    Kind.TIME: ("datetime", f"'\"' || to_char({{0}} AT TIME ZONE 'UTC', {TIME_FORMAT}) || '\"'"),
    Kind.NUMBER: (
        "number",
        f"{_NUMBER_JSON} || CASE WHEN {{0}} = trunc({{0}}) AND abs({{0}}) < 1e21 THEN '.0' ELSE '' END",
    ),
}
"""The type of a facet's terms, and their JSON; a number is a decimal, also a whole one."""
_TERM_JSON[Kind.NUMBERS] = _TERM_JSON[Kind.NUMBER]


# Kinds of facets


def _terms(facet: Facet, where: LiteralString, stage: Stage) -> LiteralString:
    data_type, term_json = _TERM_JSON[facet.at.field.kind]
    term, count = term_json.format("t.value"), _count(facet, "t.count")
    return f"""(
        SELECT '{{"type":"terms","dataType":"{data_type}","missing":' || f.missing || ',"total":' || f.total
            || ',"other":' || f.total - f.listed || ',"terms":[' || f.terms || ']}}'
        FROM (
            SELECT
                coalesce(sum(t.count) FILTER (WHERE t.value IS NULL), 0) AS missing,
                coalesce(sum(t.count) FILTER (WHERE t.value IS NOT NULL), 0) AS total,
                coalesce(sum(t.count) FILTER (WHERE t.value IS NOT NULL AND t.place <= {TERMS_AT_MOST}), 0) AS listed,
                coalesce(string_agg('{{"term":' || {term} || ',' || {count} || '}}', ',' ORDER BY t.place)
                    FILTER (WHERE t.value IS NOT NULL AND t.place <= {TERMS_AT_MOST}), '') AS terms
            FROM (
                SELECT v.value, count(*) AS count,
                    row_number() OVER (ORDER BY v.value IS NULL, count(*) DESC, v.value) AS place
                FROM resource r LEFT JOIN LATERAL ({_values(facet.at, stage)}) v (value) ON true
                WHERE {where}
                GROUP BY v.value
            ) t
        ) f
        )"""


def _filter(
    facet: Facet,
    condition: Condition,
    where: LiteralString,
    stage: Stage,
    prefix: LiteralString,
    parameters: Parameters,
) -> LiteralString:
    clause = compile_condition(condition, stage, prefix)
    parameters |= clause.parameters
    count = _count(facet, "count(*)")
    return f"""(SELECT '{{"type":"filter",' || {count} || '}}' FROM resource r WHERE {where} AND {clause.indexed})"""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_MEASURED: dict[Kind, LiteralString] = {
    Kind.NUMBER: "x.value",
    Kind.NUMBERS: "x.value",
    Kind.TIME: "(extract(epoch FROM x.value) * 1000)",
}
"""A value as the number that is added up: times as milliseconds since 1970."""


def _ranges(
    facet: Facet,
    ranges: Sequence[Bounds],
    where: LiteralString,
    stage: Stage,
    prefix: LiteralString,
    parameters: Parameters,
) -> LiteralString:
    kind = facet.at.field.kind
    of_resource: list[LiteralString] = []
    of_all: list[LiteralString] = []
    json: list[LiteralString] = []
    for number, bounds in enumerate(ranges):
        name = numbered(prefix, number)
        within: LiteralString = f"FILTER (WHERE {_within(bounds, kind, name, parameters)})"
        count, values, total = numbered("count", number), numbered("values", number), numbered("sum", number)
        least, most = numbered("min", number), numbered("max", number)
        measured = _MEASURED[kind]
        of_resource.append(
            f"count(*) {within} AS {values}, sum({measured}) {within} AS {total},"
            f" min({measured}) {within} AS {least}, max({measured}) {within} AS {most}"
        )
        of_all.append(
            f"count(*) FILTER (WHERE v.{values} > 0) AS {count}, sum(v.{values}) AS {values},"
            f" coalesce(sum(v.{total}), 0) AS {total}, coalesce(min(v.{least}), 0) AS {least},"
            f" coalesce(max(v.{most}), 0) AS {most}"
        )
        parameters[f"{name}_bounds"] = _bounds_json(bounds)
        mean = _number(f"coalesce({total} / nullif({values}, 0), 0)")
        json.append(
            f"""'{{' || {placeholder(f"{name}_bounds")}::text || {_count(facet, count)}
            || ',"total":' || {_number(total)} || ',"min":' || {_number(least)}
            || ',"max":' || {_number(most)} || ',"mean":' || {mean} || '}}'"""
        )
    return f"""(
        SELECT '{{"type":"range","ranges":[' || {" || ',' || ".join(json)} || ']}}'
        FROM (
            SELECT {", ".join(of_all)}
            FROM resource r CROSS JOIN LATERAL (
                SELECT {", ".join(of_resource)} FROM ({_values(facet.at, stage)}) x (value)) v
            WHERE {where}
        ) f
        )"""


def _number(of: LiteralString) -> LiteralString:
    return _NUMBER_JSON.format(of)


def _within(bounds: Bounds, kind: Kind, name: LiteralString, parameters: Parameters) -> LiteralString:
    """Half-open: the lower bound belongs to the range, the upper one does not."""
    cast: LiteralString = CASTS[kind]
    conditions: list[LiteralString] = ["x.value IS NOT NULL"]
    if bounds.low is not None:
        parameters[f"{name}_from"] = parameter_of(bounds.low)
        conditions.append(f"x.value >= {placeholder(f'{name}_from')}::{cast}")
    if bounds.high is not None:
        parameters[f"{name}_to"] = parameter_of(bounds.high)
        conditions.append(f"x.value < {placeholder(f'{name}_to')}::{cast}")
    return " AND ".join(conditions)


def _bounds_json(bounds: Bounds) -> str:
    """The members that say which range it is; an open end is 0 and an empty text."""
    members: list[str] = []
    for end, value in (("from", bounds.low), ("to", bounds.high)):
        text = "" if value is None else _bound(value)
        members.append(f'"{end}":{text or 0},"{end}Str":"{text}",')
    return "".join(members)


def _bound(value: Value) -> str:
    match value:
        case datetime():
            microseconds = (value - _EPOCH) // timedelta(microseconds=1)
            return number_text(microseconds // 1000 if microseconds % 1000 == 0 else microseconds / 1000)
        case int() | float():
            return number_text(value)
        case _:
            return errors.unreachable("only numbers and times have ranges")
