"""Compiles each facet to a SQL query of one row: the JSON of the facet's result.

Counts are numbers of resources: a value that an array contains twice counts once. A query reads the resources once,
however many terms or ranges the facet has. It needs no DISTINCT over all rows: the column that is read has each value
of an array once and sorted, and the values of members of objects are made distinct row by row.

PostgreSQL can divide the scan of the resources among parallel workers, and of queries without LATERAL also the
counting.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from math import ceil, inf
from typing import Any, LiteralString

from app.query.fields import DOCUMENT, Projection
from app.query.filters.resolver import Bounds, Facet, FieldPath
from app.query.kinds import NUMBER_JSON, TEXT, Value
from app.query.predicate.compiler import compile_condition, hidden_from_planner, number_text, parameter_of
from app.query.sql_text import Parameters, literal
from app.resource.model import FACET_TERMS_AT_MOST
from app.resource.resource_json import concatenated, member, members, object_, text_member
from app.values.strict_json import INT64_MAX, INT64_MIN

_TERMS_AT_MOST = literal(FACET_TERMS_AT_MOST)


Counted = tuple[LiteralString, Projection]
"""The resources that a facet counts: the SQL condition on ``r`` that selects them, and the projection in which their
values are counted."""


def compile_facet(
    facet: Facet, counted: Counted, prefix: LiteralString, parameters: Parameters, bytes_at_most: int
) -> LiteralString:
    """Return the SQL query that computes a facet. Its result is one row with one column, ``json``.

    The query counts resources. The type of ``facet.groups`` decides how the query groups the resources:

    - None: by each value that occurs (a facet of terms).
    - A tuple of ranges: by each range in which a resource has a value.
    - A condition: in one group, the resources that fulfil the condition.

    :param counted: where to count: the resources, and the projection of their values.
    :param parameters: the query's SQL parameters are added to this dictionary. Their names begin with ``prefix``.
    :param bytes_at_most: the limit of a facet that lists texts. If the listed texts have more bytes, ``json`` is NULL.
    """
    match facet.groups:
        case None:
            return _terms(facet, counted, literal(bytes_at_most))
        case tuple():
            return _ranges(facet, facet.groups, counted, prefix, parameters)
        case condition:  # one group: the resources that fulfil it
            where, projection = counted
            clause = compile_condition(condition, projection, prefix)
            parameters |= clause.parameters
            result = object_(text_member("type", "'filter'"), _count(facet, "count(*)"))
            return f"SELECT {result} AS json FROM resource r WHERE {where} AND {clause.text}"


def _count(facet: Facet, count: LiteralString) -> LiteralString:
    """The SQL of the member ``count``. If the client has written ``counting products`` in the facet, a second member,
    ``productCount``, has the same value."""
    counted = member("count", count)
    return concatenated(counted, member("productCount", count)) if facet.counting_products else counted


# Values


def _each_value(path: FieldPath, counted: Counted) -> LiteralString:
    """A query of the values at a path: a row for each distinct value of each resource. A resource without values has
    one row, with NULL."""
    where, projection = counted
    if not path.field.counted_as:  # only arrays, and members of their elements, have this type: here is one value
        return f"SELECT {path.field.column.for_projection(projection)} AS value FROM resource r WHERE {where}"
    # Without ``element_of`` the field is an array of scalars, which is stored with each item once. The members of
    # several elements can have the same value.
    select: LiteralString = "SELECT" if path.element_of is None else "SELECT DISTINCT"
    values: LiteralString = f"{select} {_values(path, projection)} AS value"
    return f"SELECT e.value FROM resource r LEFT JOIN LATERAL ({values}) e ON true WHERE {where}"


def _each_value_and_next(path: FieldPath, counted: Counted) -> LiteralString:
    """A query with a row for each distinct value of each resource. ``value`` is the value; ``next`` is the next greater
    value of the same resource, or NULL if there is none.

    A resource must count once in a range that contains several of its values. So :func:`_ranges` counts it only at the
    greatest of these values: ``next`` in this row is above the range or NULL.

    A resource without values has no row, or a row in which ``value`` is NULL. :func:`_ranges` ignores that row.
    """
    where, projection = counted
    if not path.field.counted_as:  # only arrays, and members of their elements, have this type: here is one value
        value = path.field.column.for_projection(projection)
        return f"SELECT {value} AS value, NULL::{path.field.kind.cast} AS next FROM resource r WHERE {where}"
    if path.element_of is None:
        # The items are distinct and sorted. "1 to last" begins at the second item, because jsonpath counts from 0.
        # PostgreSQL returns both sets side by side: each item beside the next item, and the last item beside NULL.
        values, following = _values(path, projection), _values(path, projection, "1 to last")
        return f"SELECT {values} AS value, {following} AS next FROM resource r WHERE {where}"
    return f"""
        SELECT e.value, e.next FROM resource r CROSS JOIN LATERAL (
            SELECT m.value, lead(m.value) OVER (ORDER BY m.value) AS next
            FROM (SELECT DISTINCT {_values(path, projection)} AS value) m
        ) e WHERE {where}"""


def _values(path: FieldPath, projection: Projection, positions: LiteralString = "*") -> LiteralString:
    """The SQL of a field's values in the row ``r``, as an expression that returns a set. If the field is an array of
    scalars, the values are its items. If ``path.element_of`` is an array of objects, the values are the member
    ``path.field`` of each of its objects.

    The values are read from the ObjectType as jsonb (:data:`DOCUMENT`), where an array of scalars has each item once,
    and sorted. Several objects may have the same value of the member; the set then contains this value several times.

    :param positions: which items of an array of scalars are returned, as a subscript of jsonpath, such as
        ``1 to last``; by default all. It has no effect on an array of objects.
    """
    if path.element_of is None:
        steps: LiteralString = f"{path.field.name}[{positions}]"
    else:
        steps = f"{path.element_of.name}[*].{path.field.name}"
    found: LiteralString = f"jsonb_path_query({DOCUMENT.for_projection(projection)}, '$.{steps}')"
    # A text is returned without the quotes of JSON (#>> '{}') and in the collation "C"; any other value is returned in
    # the type in which facets count it.
    return f"({found} #>> '{{}}') COLLATE \"C\"" if path.field.kind is TEXT else f"{found}::{path.field.counted_as}"


_STATISTICS: LiteralString = concatenated(
    member("total", NUMBER_JSON.format("{total}")),
    member("min", NUMBER_JSON.format("{least}")),
    member("max", NUMBER_JSON.format("{most}")),
    member("mean", NUMBER_JSON.format("coalesce({total} / nullif({values}, 0), 0)")),
)
"""The members of a range that describe the distinct values in it of each resource."""


# Facets of terms and of ranges


def _terms(facet: Facet, counted: Counted, bytes_at_most: LiteralString) -> LiteralString:
    """The query of a facet that has neither listed values nor ranges, so that each value is a term. Its JSON lists the
    most frequent terms with their counts. ``missing`` is the number of resources without a value, ``total`` the sum of
    the counts of all terms, and ``other`` the sum of the counts of the terms that are not listed.

    The JSON is NULL if the listed terms are texts and have more than ``bytes_at_most`` bytes in all.
    """
    kind = facet.path.field.kind
    # Values are grouped in the type that _each_value returns. For integers this is bigint, because PostgreSQL counts
    # bigints faster than numerics. Only the listed terms are cast to the type of the kind.
    json = object_(member("term", kind.json.format(f"t.value::{kind.cast}")), _count(facet, "t.count"))
    listed: LiteralString = f"""
        SELECT c.value, c.count FROM counted c WHERE c.value IS NOT NULL
        ORDER BY c.count DESC, c.value LIMIT {_TERMS_AT_MOST}"""
    terms = _joined(json)
    if kind is TEXT:
        # A text may have 64 KiB, so the listed texts may be too large together. ``bytes`` is the size of all of them,
        # the same in each row.
        listed = f"SELECT l.value, l.count, sum(octet_length(l.value)) OVER () AS bytes FROM ({listed}) l"
        # If ``bytes`` is above the limit, the second CASE makes the result NULL. PostgreSQL evaluates string_agg before
        # this CASE, and would make and join the JSON of all texts in vain. The first CASE prevents that: it makes NULL
        # in place of the JSON of each text.
        small: LiteralString = f"CASE WHEN t.bytes <= {bytes_at_most} THEN {json} END"
        terms = f"CASE WHEN max(t.bytes) > {bytes_at_most} THEN NULL ELSE {_joined(small)} END"
    # The counts are read twice: for the listed terms, by ORDER BY with LIMIT, and for the sums. Reading them once, by a
    # window over all counts, saves no time.
    return f"""
        WITH counted AS MATERIALIZED (
            SELECT v.value, count(*) AS count
            FROM ({_each_value(facet.path, counted)}) v
            GROUP BY v.value)
        SELECT {_terms_result(kind.data_type)} AS json
        FROM (
                SELECT
                    coalesce(sum(c.count) FILTER (WHERE c.value IS NULL), 0) AS missing,
                    coalesce(sum(c.count) FILTER (WHERE c.value IS NOT NULL), 0) AS total
                FROM counted c
            ) f CROSS JOIN (
                SELECT coalesce(sum(t.count), 0) AS sum, {terms} AS terms
                FROM ({listed}) t
            ) shown"""


def _joined(json: LiteralString) -> LiteralString:
    """The SQL that joins the JSON of terms, the most frequent first."""
    return f"coalesce(string_agg({json}, ',' ORDER BY t.count DESC, t.value), '')"


@cache
def _terms_result(data_type: LiteralString) -> LiteralString:
    """The SQL of the JSON of a facet of terms, from the columns of ``f`` and ``shown`` in :func:`_terms`. Cached,
    because composing it takes time, and there is one for each type of data."""
    return object_(
        text_member("type", "'terms'"),
        text_member("dataType", f"'{data_type}'"),
        member("missing", "f.missing"),
        member("total", "f.total"),
        member("other", "f.total - shown.sum"),
        member("terms", concatenated("'['", "shown.terms", "']'")),
    )


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _ranges(
    facet: Facet, ranges: Sequence[Bounds], counted: Counted, prefix: LiteralString, parameters: Parameters
) -> LiteralString:
    """The query of a facet with ranges. Its JSON has for each range the number of resources with a value in the range,
    and the total, the least, the greatest and the mean of these values.

    The query reads the values once, however many ranges there are. The sorted bounds of all ranges divide the values
    into parts; ``width_bucket`` returns the number of a value's part. The query first makes the counts and sums of each
    part, and then, for each range, those of the parts in the range.

    A resource counts once in a range, even if it has several values there. It counts at its greatest value in the
    range: the next greater value of the resource is above the range or does not exist. To know this, the query groups
    the values of a part by the part of the next greater value.
    """
    cast: LiteralString = facet.path.field.counted_as or facet.path.field.kind.cast
    limits = [_limits(each, cast) for each in ranges]
    bounds = sorted({bound for both in limits for bound in both if bound is not None})
    parameters[f"{prefix}_bounds"] = [parameter_of(bound) for bound in bounds]
    parameters[f"{prefix}_low"] = [None if low is None else parameter_of(low) for low, _ in limits]
    parameters[f"{prefix}_high"] = [None if high is None else parameter_of(high) for _, high in limits]
    parameters[f"{prefix}_bounds_json"] = [_bounds_json(each) for each in ranges]
    # hidden_from_planner makes a subquery of each parameter, which casts it once and lets one plan serve all values.
    all_bounds = hidden_from_planner(f"%({prefix}_bounds)s", f"{cast}[]")
    part_of: LiteralString = f"width_bucket({{}}, {all_bounds})"
    all_low = hidden_from_planner(f"%({prefix}_low)s", f"{cast}[]")
    all_high = hidden_from_planner(f"%({prefix}_high)s", f"{cast}[]")
    all_bounds_json = hidden_from_planner(f"%({prefix}_bounds_json)s", "text[]")
    amount = facet.path.field.kind.amount  # SQL of a value as a number; of a time, its milliseconds
    json = concatenated(
        "'{'",
        "l.bounds_json",  # which ends with a comma
        members(_count(facet, "l.count")),
        _STATISTICS.format(total="l.total", least="l.least", most="l.most", values="l.value_count"),
        "'}'",
    )
    listed = concatenated("'['", f"(SELECT string_agg({json}, ',' ORDER BY l.number) FROM summed l)", "']'")
    # The bounds are numbered from 1. Part n has each value v with bound n <= v < bound n + 1. Part 0 has the values
    # below bound 1; the last part has the values from the last bound on. width_bucket returns NULL for NULL.
    #
    # The CTE ``range`` has a row for each range. The range consists of the parts from ``first`` to ``last``. Part n
    # begins at bound n, so ``first`` is the number of the low bound. The part that begins at the high bound is above
    # the range, so ``last`` is the number of the high bound minus 1. If the low bound is NULL (an open end), ``first``
    # is 0. If the high bound is NULL, ``last`` is the number of the last part, which equals the number of bounds.
    #
    # The CTE ``part`` has a row for each group of values with equal part and equal next_part. The greatest value of a
    # resource has no next value, so its next_part is NULL. WHERE leaves out a resource's row without a value, whose
    # part is NULL.
    #
    # The CTE ``summed`` has a row for each range, with the sums of the groups in the range. ``value_count`` counts the
    # distinct values of each resource. ``count`` counts resources: of each resource it counts only the greatest value
    # in the range, which is the one whose next_part is NULL or above ``last``.
    #
    # least and most are cast to numeric for NUMBER_JSON, which calls trunc: PostgreSQL would convert a bigint to a
    # double for trunc, and lose digits. total is numeric already, because it is a sum.
    return f"""
        WITH range AS (
            SELECT b.bounds_json, b.number,
                coalesce({part_of.format("b.low")}, 0) AS first,
                coalesce({part_of.format("b.high")} - 1, cardinality({all_bounds})) AS last
            FROM unnest({all_low}, {all_high}, {all_bounds_json})
                WITH ORDINALITY b (low, high, bounds_json, number)
        ), part AS (
            SELECT n.part, n.next_part, count(*) AS value_count, sum({amount.format("n.value")}) AS total,
                min(n.value) AS least, max(n.value) AS most
            FROM (
                SELECT v.value, {part_of.format("v.value")} AS part, {part_of.format("v.next")} AS next_part
                FROM ({_each_value_and_next(facet.path, counted)}) v
            ) n
            WHERE n.part IS NOT NULL
            GROUP BY n.part, n.next_part
        ), summed AS (
            SELECT g.number, g.bounds_json,
                coalesce(sum(p.value_count) FILTER (WHERE p.next_part IS NULL OR p.next_part > g.last), 0) AS count,
                coalesce(sum(p.value_count), 0) AS value_count,
                coalesce(sum(p.total), 0) AS total,
                coalesce({amount.format("min(p.least)")}, 0)::numeric AS least,
                coalesce({amount.format("max(p.most)")}, 0)::numeric AS most
            FROM range g LEFT JOIN part p ON p.part BETWEEN g.first AND g.last
            GROUP BY g.number, g.bounds_json
        )
        SELECT {object_(text_member("type", "'range'"), member("ranges", listed))} AS json"""


def _limits(bounds: Bounds, cast: LiteralString) -> tuple[Any, Any]:
    """Convert the two bounds of a range to the SQL type of the values that the facet counts. None is an open end.

    For ``bigint`` the bounds become integers, because PostgreSQL takes three times as long to compare a bigint with a
    numeric. For other types they stay as they are.

    The range contains its low bound, but not its high bound. So both can be rounded up, and the range still contains
    the same integers: at least 2.5 means at least 3, and less than 2.5 means less than 3. A low bound below all
    bigints, or a high bound above all, becomes an open end. A range that lies above all bigints, or below all, becomes
    one that contains no integer.

    :param cast: the SQL type of the values.
    """
    if cast != "bigint":
        return bounds
    low, high = _number_or_infinity(bounds[0], -inf), _number_or_infinity(bounds[1], inf)
    if low > INT64_MAX or high <= INT64_MIN:
        return INT64_MAX, INT64_MAX  # no integer is at least this and less than this
    return None if low < INT64_MIN else ceil(low), None if high > INT64_MAX else ceil(high)


def _number_or_infinity(bound: Value | None, infinity: float) -> int | float:
    """Return the bound of a range if it is a number. If it is None, the range is open, and ``infinity`` is returned."""
    return bound if isinstance(bound, int | float) else infinity


def _bounds_json(bounds: Bounds) -> str:
    """The members that name a range in an answer, with a comma after each. An open end is 0 and ``""``."""
    low, high = map(_bound, bounds)
    return f'"from":{low or 0},"fromStr":"{low}","to":{high or 0},"toStr":"{high}",'


def _bound(value: Value | None) -> str:
    """A bound as a JSON number: for a time, the milliseconds since 1970; for an open end, an empty text."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        microseconds = Decimal((value - _EPOCH) // timedelta(microseconds=1))
        return str(microseconds / 1000)  # exact: a double has too few digits for microseconds that are far from 1970
    if isinstance(value, int | float):
        return number_text(value)
    raise AssertionError("only numbers and times have ranges")
