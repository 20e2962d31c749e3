"""The search (interface 4.4 and 4.14) in SQL: text, filters, facets, one of the two projections.

One statement answers a search, so that results, total and facets are of the same moment; before it, a text needs one
that looks its words up (see :mod:`app.words`).
"""

from collections.abc import Sequence
from typing import LiteralString

from psycopg import sql

from app import errors, words
from app.db import Connection
from app.facets import Parameters, compile_facet
from app.fields import MATCHES, OBJECT_TEXT, RELEVANCE, RESOURCE, Stage
from app.filters.ast import FieldPath, Filter
from app.model import Search
from app.predicate.compiler import compile_condition
from app.store import PAGE_HEAD, RESOURCE_HEAD, TOTAL_AT_MOST, flat_end, order_of, total_of
from app.strict_json import encode


def search(connection: Connection, project_key: str, query: Search) -> str:
    """A page of flat projections, with facets if any were asked for, as JSON text.

    :raises ApiError: 400 for texts of too many words.
    """
    parameters: Parameters = {"project_key": project_key}
    narrowing = _Conditions(query.stage, parameters, [sql.SQL("r.project_key = %(project_key)s")])
    narrowing = narrowing.and_filters("query", query.query_filters)
    if query.texts:
        tsquery = words.tsquery_of(connection, project_key, query.texts, query.fuzzy_level)
        narrowing = narrowing.and_text(tsquery)
    results = narrowing.and_filters("filter", query.filters)
    statement = sql.SQL(
        """
        SELECT {head} || {total}
            || ',"results":[' || coalesce(string_agg(p.json, ','), '') || ']' || {facets} || '}}'
        FROM (SELECT {json} AS json FROM resource r WHERE {where} ORDER BY {order} LIMIT %(limit)s OFFSET %(offset)s) p
        """
    ).format(
        head=sql.SQL(PAGE_HEAD),
        total=total_of(results.sql) if query.paging.with_total else sql.SQL("''"),
        json=sql.SQL(_PROJECTION_JSON[query.stage]),
        where=results.sql,
        order=_order(query, has_text="tsquery" in parameters),
        facets=_facets(query, narrowing, parameters),
    )
    parameters |= {
        "limit": query.paging.limit,
        "offset": query.paging.offset,
        "total_at_most": TOTAL_AT_MOST,
    }
    row = connection.execute(statement, parameters).fetchone()
    if row is None:
        errors.unreachable("an aggregate without GROUP BY has one row")
    return row[0]


class _Conditions:
    """Conditions on ``r`` that all hold; their parameters go into one dictionary for the whole statement."""

    def __init__(self, stage: Stage, parameters: Parameters, clauses: Sequence[sql.Composable]) -> None:
        self._stage = stage
        self._parameters = parameters
        self._clauses = clauses

    @property
    def sql(self) -> sql.Composed:
        """All of them as one."""
        return sql.SQL(" AND ").join(self._clauses)

    def and_filters(self, name: str, filters: Sequence[Filter], but: FieldPath | None = None) -> "_Conditions":
        """These and filters, but for those on one field; ``name`` begins the names of their parameters."""
        clauses = [*self._clauses]
        for number, found in enumerate(filters):
            if found.at != but:
                clause = compile_condition(found.condition, self._stage, f"{name}_{number}")
                self._parameters |= clause.parameters
                clauses.append(clause.sql)
        return _Conditions(self._stage, self._parameters, clauses)

    def and_text(self, tsquery: str | None) -> "_Conditions":
        """These and words; None: they are found nowhere."""
        if tsquery is None:
            clause = sql.SQL("false")
        else:
            self._parameters["tsquery"] = tsquery
            clause = sql.SQL(MATCHES.of(self._stage)).format(_TSQUERY)
        return _Conditions(self._stage, self._parameters, [*self._clauses, clause])


_TSQUERY = sql.SQL("%(tsquery)s::tsquery")


# Results


def _projection_json(stage: Stage) -> LiteralString:
    """One projection flat: ObjectType's fields beside those of the server and someProperty."""
    column = RESOURCE["someProperty"].column
    if column is None:
        errors.unreachable("someProperty has a column")
    return f"""{RESOURCE_HEAD}
    || ',"hasStagedChanges":' || (r.staged_object_type IS NOT NULL)
    || coalesce(',"someProperty":' || to_json({column.of(stage)}), '')
    || {flat_end(OBJECT_TEXT.of(stage))}"""


_PROJECTION_JSON: dict[Stage, LiteralString] = {stage: _projection_json(stage) for stage in Stage}


def _order(query: Search, *, has_text: bool) -> sql.Composed:
    """As asked for, else by relevance; without text, or among equals, by id."""
    if has_text and not query.paging.sort:
        return sql.SQL("{} DESC, r.id").format(sql.SQL(RELEVANCE.of(query.stage)).format(_TSQUERY))
    return order_of(query.paging, query.stage)


# Facets


def _facets(query: Search, narrowing: _Conditions, parameters: Parameters) -> sql.Composable:
    """The member ``facets``, if any were asked for."""
    if not query.facets:
        return sql.SQL("''")
    members: list[sql.Composable] = []
    for number, facet in enumerate(query.facets):
        # A filter of facets leaves alone those on its own field.
        narrowed = narrowing.and_filters("facet_filter", query.facet_filters, but=facet.at)
        parameters[f"facet_{number}"] = f"{',' if number else ''}{encode(facet.name)}:"
        members.append(sql.Placeholder(f"facet_{number}"))
        members.append(compile_facet(facet, narrowed.sql, query.stage, f"facet_{number}", parameters))
    return sql.SQL("""',"facets":{{' || {} || '}}'""").format(sql.SQL(" || ").join(members))
