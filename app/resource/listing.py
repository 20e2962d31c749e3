"""A page of what a condition selects: found, counted, sorted, cut and put together as JSON by one statement.

What is selected is first looked for without an order, up to a fixed number. If that is all, the page is sorted out of
it; if there is more, the project is read in the order of an index, which soon meets enough for a page. So the statement
does well whatever it is about to find, without an estimate of it, which for documents and words nobody has: in the
order of an index, the few among many would be found by reading all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

from app import errors
from app.database.connection import Connection
from app.query.fields import Field, Kind, Part, Stage
from app.query.predicate.compiler import Clause
from app.query.sql_text import numbered
from app.resource.model import Paging, SortTerm

Parameters = dict[str, Any]

_AT_MOST: LiteralString = "10000"
"""Matches that are counted; beyond that the total is this and is marked as capped.

A literal and no parameter: of a LIMIT that it does not know, the planner expects a tenth of the rows to be read, and no
index looks worth beginning with.
"""


@dataclass(frozen=True, slots=True)
class Term:
    """What a page is sorted by.

    :param expression: SQL on ``r``.
    :param nullable: whether it may be NULL, which comes last in both directions.
    :param indexed: whether indexes serve its order.
    :param parts: all resources, divided as :class:`app.query.fields.Field` says; empty: one index serves the order of
        all.
    """

    expression: LiteralString
    descending: bool = False
    nullable: bool = False
    indexed: bool = True
    parts: tuple[Part, ...] = ()

    def ordered(self, expression: LiteralString) -> LiteralString:
        """Something in the direction of this term."""
        # An ascending index can be read backwards for DESC, but not for DESC NULLS LAST.
        direction: LiteralString = "DESC" if self.descending else "ASC"
        return f"{expression} {direction} NULLS LAST" if self.nullable else f"{expression} {direction}"


def terms_of(sort: Sequence[SortTerm], stage: Stage) -> tuple[Term, ...]:
    """What ``sort`` asks for, in a projection; ties are by id, so that pages neither repeat nor miss any."""
    terms: list[Term] = []
    for asked in sort:
        terms.append(_term(asked.field, stage, descending=asked.descending))
        if asked.field.kind is Kind.ID:
            return tuple(terms)
    return (*terms, BY_ID)


def _term(field: Field, stage: Stage, *, descending: bool) -> Term:
    if field.column is None:
        errors.unreachable("what is sorted by has a column")
    column = field.column
    # The indexes, and so the parts, are of the current projection.
    indexed = column.of(stage) == column.current
    return Term(
        column.of(stage),
        descending,
        nullable=bool(field.parts),
        indexed=indexed,
        parts=field.parts if indexed else (),
    )


BY_ID = Term("r.id")
"""What decides among equals."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The resources of a project that fulfil all of these conditions."""

    clauses: Sequence[Clause] = ()

    @property
    def where(self) -> LiteralString:
        """For a scan that looks for them."""
        return _all_of([clause.indexed for clause in self.clauses])

    @property
    def parameters(self) -> Parameters:
        """Of all conditions, without the project."""
        return {name: value for clause in self.clauses for name, value in clause.parameters.items()}

    def where_in(self, order: Term) -> LiteralString:
        """For a scan in this order."""
        return _all_of([clause.unindexed for clause in self.clauses]) if order.indexed else self.where


def _all_of(conditions: Sequence[LiteralString]) -> LiteralString:
    return " AND ".join(["r.project_key = %(project_key)s", *conditions])


def page(
    connection: Connection,
    selected: Selected,
    parameters: Parameters,
    paging: Paging,
    terms: Sequence[Term],
    json: LiteralString,
    others: LiteralString = "''",
) -> str:
    """A page as JSON text.

    :param parameters: of ``terms`` and ``others``, and ``project_key``.
    :param terms: what it is sorted by, instead of ``paging.sort``; the last one, the id, tells equals apart.
    :param json: a result, as SQL on ``r``.
    :param others: further members of the page, as SQL, beginning with a comma.
    """
    where, order = selected.where, _order_of_columns(terms)
    found: LiteralString = ""
    total: LiteralString = "''"
    if not selected.clauses:
        # All of a project is counted by any index, and read by that of the order.
        if paging.with_total:
            total = _total(f"SELECT count(*) FROM (SELECT FROM resource r WHERE {where} LIMIT {_AT_MOST} + 1) c")
        # Its rows are passed on whole, and made JSON when those before the page are left out.
        results = f"SELECT {json} AS json FROM ({_page_in_order(where, terms, 'r.*')}) r"
    else:
        found = f"""
            WITH found AS MATERIALIZED (
                SELECT {_columns(terms, "r.id")} FROM resource r WHERE {where} LIMIT {_AT_MOST} + 1),
            counted AS MATERIALIZED (SELECT count(*) AS found FROM found)"""
        if paging.with_total:
            total = _total("SELECT found FROM counted")
        gate = f"(SELECT found FROM counted) > {_AT_MOST} AND {selected.where_in(terms[0])}"
        page = f"""
            (SELECT r.* FROM found r WHERE (SELECT found FROM counted) <= {_AT_MOST} ORDER BY {order} {_CUT})
            UNION ALL ({_page_in_order(gate, terms, "r.id")})"""
        # The LIMIT keeps each lookup one: joined, a page of 500 looked as large as the project, and all was read.
        results = f"""
            SELECT j.json
            FROM ({page}) r
                CROSS JOIN LATERAL (SELECT r.id) w (id)
                CROSS JOIN LATERAL (
                    SELECT {json} AS json FROM resource r
                    WHERE r.project_key = %(project_key)s AND r.id = w.id LIMIT 1) j"""
    statement = f"""
        {found}
        SELECT '{{"limit":' || %(limit)s || ',"offset":' || %(offset)s || ',"count":' || count(*) || {total}
            || ',"results":[' || coalesce(string_agg(p.json, ','), '') || ']' || {others} || '}}'
        FROM ({results} ORDER BY {order}) p"""
    page_of = {"limit": paging.limit, "offset": paging.offset}
    row = connection.execute(statement, parameters | selected.parameters | page_of).fetchone()
    if row is None:
        errors.unreachable("an aggregate without GROUP BY has one row")
    return row[0]


def _total(count: LiteralString) -> LiteralString:
    """The members that say how many there are; counting costs the same however many, as it stops beyond the cap."""
    return f"""(
        SELECT ',"total":' || least(t.found, {_AT_MOST})
            || CASE WHEN t.found > {_AT_MOST} THEN ',"totalCapped":true' ELSE '' END
        FROM ({count}) t (found)
    )"""


_CUT: LiteralString = "LIMIT (SELECT %(limit)s::bigint) OFFSET (SELECT %(offset)s::bigint)"
"""Hidden from the planner, so that one plan is as good as another and the first one is kept: planning a page takes
longer than reading it."""


def _page_in_order(where: LiteralString, terms: Sequence[Term], of_resource: LiteralString) -> LiteralString:
    """The rows of a page: some columns of the resource, its id among them, and what it is sorted by.

    No index has absent values last in either direction, so what is sorted by a field that may be absent is read in
    parts, each in the order of an index, and then merged.
    """
    first, *rest = terms
    columns = _columns(terms, of_resource)
    if not first.parts:
        return f"SELECT {columns} FROM resource r WHERE {where} ORDER BY {_order(terms)} {_CUT}"
    beginnings: list[LiteralString] = [
        f"""(
            SELECT {columns} FROM resource r WHERE {where} AND {part.condition}
            ORDER BY {_order(_terms_within(part, first, rest))}
            LIMIT (SELECT %(limit)s::bigint + %(offset)s::bigint))"""
        for part in first.parts
    ]
    parts = " UNION ALL ".join(beginnings)
    return f"SELECT r.* FROM ({parts}) r ORDER BY {_order_of_columns(terms)} {_CUT}"


def _terms_within(part: Part, first: Term, rest: Sequence[Term]) -> list[Term]:
    """What a part is sorted by; what all of it lacks sorts nothing."""
    if part is first.parts[-1]:
        return [*rest]
    present = Term(first.expression, first.descending)
    return [present, *rest] if part.begins is None else [Term(part.begins, first.descending), present, *rest]


def _order(terms: Sequence[Term]) -> LiteralString:
    return ", ".join([term.ordered(term.expression) for term in terms])


# What a page is sorted by goes through the statement as columns: sort_0 and so on, and at last the id.


def _columns(terms: Sequence[Term], of_resource: LiteralString) -> LiteralString:
    columns: list[LiteralString] = [of_resource]
    for number, term in enumerate(terms[:-1]):
        columns.append(f"{term.expression} AS {numbered('sort', number)}")
    return ", ".join(columns)


def _order_of_columns(terms: Sequence[Term]) -> LiteralString:
    *others, last = terms
    columns: list[LiteralString] = []
    for number, term in enumerate(others):
        columns.append(term.ordered(f"r.{numbered('sort', number)}"))
    return ", ".join([*columns, last.ordered("r.id")])
