"""A page of the resources that a condition selects: found, counted, sorted, cut and made JSON by one statement.

The statement first looks for what is selected without an order, up to a fixed number of resources. If that finds all
of them, it sorts these and takes the page. If there are more, it reads the project in the order of an index instead,
which soon meets enough for a page. So it is fast for few matches and for many, without an estimate of their number:
PostgreSQL has no statistics on the contents of documents and words. In the order of an index alone, few matches among
many resources would be found by reading all resources.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString

from app import errors
from app.database.connection import Connection
from app.query.fields import Field, FieldType, Part, Stage
from app.query.predicate.compiler import Clause
from app.query.sql_text import Parameters, literal, numbered
from app.resource.json_text import array_, concatenated, member, members
from app.resource.model import TOTAL_AT_MOST, Paging, SortTerm

_COUNTED_AT_MOST = literal(TOTAL_AT_MOST)
"""A literal and not a parameter: for a LIMIT whose value the planner does not know, it expects a tenth of the rows to
be read, and then no index looks cheaper than a scan.
"""


@dataclass(frozen=True, slots=True)
class Term:
    """An expression that a page is sorted by.

    :param expression: SQL on ``r``.
    :param nullable: whether it may be NULL, which comes last in both directions.
    :param indexed: whether indexes serve its order.
    :param parts: the resources, divided so that one index serves each part, as :class:`app.query.fields.Field` says;
        empty if one index serves all of them.
    """

    expression: LiteralString
    descending: bool = False
    nullable: bool = False
    indexed: bool = True
    parts: tuple[Part, ...] = ()

    def ordered(self, expression: LiteralString) -> LiteralString:
        """An expression with the direction of this term."""
        # An ascending index can be read backwards for DESC, but not for DESC NULLS LAST.
        direction: LiteralString = "DESC" if self.descending else "ASC"
        return f"{expression} {direction} NULLS LAST" if self.nullable else f"{expression} {direction}"


def terms_of(sort: Sequence[SortTerm], stage: Stage) -> tuple[Term, ...]:
    """The terms for ``sort`` in a projection. The last one is the id, so that pages neither repeat nor miss any.

    A field counts where it stands first, since it orders nothing a second time: PostgreSQL took a second to plan for
    900 equal terms.
    """
    terms: list[Term] = []
    seen: set[Field] = set()
    for asked in sort:
        if asked.field in seen:
            continue
        seen.add(asked.field)
        terms.append(_term(asked.field, stage, descending=asked.descending))
        if asked.field.type is FieldType.ID:
            return tuple(terms)
    return (*terms, BY_ID)


def _term(field: Field, stage: Stage, *, descending: bool) -> Term:
    if field.column is None:
        errors.unreachable("a sortable field has a column")
    expression = field.column.for_stage(stage)
    # Only the current projection has indexes to sort by.
    indexed = expression == field.column.current
    return Term(
        expression,
        descending,
        nullable=bool(field.parts),
        indexed=indexed,
        parts=field.parts if indexed else (),
    )


BY_ID = Term("r.id")
"""The last term of every order."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The resources of a project that fulfil all of these conditions."""

    clauses: Sequence[Clause] = ()

    @property
    def where(self) -> LiteralString:
        """The condition for a scan that looks for these resources."""
        return _all_of([clause.indexed for clause in self.clauses])

    @property
    def parameters(self) -> Parameters:
        """The parameters of all conditions, without the project."""
        return {name: value for clause in self.clauses for name, value in clause.parameters.items()}

    def where_in(self, order: Term) -> LiteralString:
        """The condition for a scan in this order."""
        return _all_of([clause.unindexed for clause in self.clauses]) if order.indexed else self.where


def _all_of(conditions: Sequence[LiteralString]) -> LiteralString:
    return " AND ".join(["r.project_key = %(project_key)s", *conditions])


@dataclass(frozen=True, slots=True)
class Further:
    """What a page has beside the usual members, as SQL.

    :param members: members of the page.
    :param queries: parts of the statement's WITH, which the members refer to.
    """

    members: LiteralString = "''"
    queries: Sequence[LiteralString] = ()


def page(
    connection: Connection,
    selected: Selected,
    parameters: Parameters,
    paging: Paging,
    terms: Sequence[Term],
    json: LiteralString,
    further: Further = Further(),
) -> str:
    """A page as JSON text.

    :param parameters: ``project_key``, and those of ``terms`` and ``further``.
    :param terms: the order, instead of ``paging.sort``; the last term is the id.
    :param json: the JSON of one result, as SQL on ``r``.
    """
    if selected.clauses:
        found, results, total = _of_matches(selected, paging, terms, json)
    else:
        found, results, total = _of_all(selected, paging, terms, json)
    queries: list[LiteralString] = [*found, *further.queries]
    joined: LiteralString = ", ".join(queries)
    with_: LiteralString = f"WITH {joined}" if queries else ""
    statement = f"""
        {with_}
        SELECT {concatenated(_COUNTS, total, _RESULTS, further.members, "'}'")}
        FROM ({results} ORDER BY {_order_of_columns(terms)}) p"""
    page_of = {"limit": paging.limit, "offset": paging.offset}
    row = connection.execute(statement, parameters | selected.parameters | page_of).fetchone()
    if row is None:
        errors.unreachable("an aggregate without GROUP BY has one row")
    return row[0]


_COUNTS = concatenated(
    "'{'", members(member("limit", "%(limit)s"), member("offset", "%(offset)s"), member("count", "count(*)"))
)
"""The beginning of a page."""

_RESULTS = member("results", array_("p.json"))


_PageOf = tuple[Sequence[LiteralString], LiteralString, LiteralString]
"""Parts of the statement of a page: its WITH, its results, and the members of ``total``."""

_NO_TOTAL: LiteralString = "''"


def _of_all(selected: Selected, paging: Paging, terms: Sequence[Term], json: LiteralString) -> _PageOf:
    """A page of all resources: their number is kept, and the index of the order reads them."""
    where = selected.where
    total = _total(_ALL) if paging.with_total else _NO_TOTAL
    # The inner query returns whole rows, so that JSON is made only for those that the offset does not leave out.
    return (), f"SELECT {json} AS json FROM ({_page_in_order(where, terms, 'r.*')}) r", total


def _of_matches(selected: Selected, paging: Paging, terms: Sequence[Term], json: LiteralString) -> _PageOf:
    """A page of the resources that fulfil conditions, found in one of the two ways that the module describes."""
    found: tuple[LiteralString, LiteralString] = (
        f"""found AS MATERIALIZED (
            SELECT {_columns(terms, "r.id")} FROM resource r WHERE {selected.where} LIMIT {_COUNTED_AT_MOST} + 1)""",
        "counted AS MATERIALIZED (SELECT count(*) AS found FROM found)",
    )
    if_more_than_counted = f"(SELECT found FROM counted) > {_COUNTED_AT_MOST} AND {selected.where_in(terms[0])}"
    page = f"""
        (SELECT r.* FROM found r WHERE (SELECT found FROM counted) <= {_COUNTED_AT_MOST}
            ORDER BY {_order_of_columns(terms)} {_CUT})
        UNION ALL ({_page_in_order(if_more_than_counted, terms, "r.id")})"""
    # The LIMIT makes each resource a lookup by its id. Without it, the planner joins, takes a page of 500 for as large
    # as the project, and reads the whole project.
    results = f"""
        SELECT j.json
        FROM ({page}) r
            CROSS JOIN LATERAL (SELECT r.id) w (id)
            CROSS JOIN LATERAL (
                SELECT {json} AS json FROM resource r
                WHERE r.project_key = %(project_key)s AND r.id = w.id LIMIT 1) j"""
    return found, results, _total("SELECT found FROM counted") if paging.with_total else _NO_TOTAL


_ALL: LiteralString = f"""
    SELECT coalesce(
        (SELECT sum(c.resources) FROM resource_count c WHERE c.project_key = %(project_key)s),
        (SELECT count(*) FROM (
            SELECT FROM resource r WHERE r.project_key = %(project_key)s LIMIT {_COUNTED_AT_MOST} + 1) r))"""
"""The number of all resources of the project. It is kept by triggers, as the first migration says; where it is not,
they are counted."""


def _total(count: LiteralString) -> LiteralString:
    """The members ``total`` and ``totalCapped``.

    :param count: a query for the number of matches, which stops one beyond the cap.
    """
    return f"(SELECT {_TOTAL_MEMBERS} FROM ({count}) t (found))"


_CAPPED = member("totalCapped", "'true'")

_TOTAL_MEMBERS = concatenated(
    member("total", f"least(t.found, {_COUNTED_AT_MOST})"),
    f"CASE WHEN t.found > {_COUNTED_AT_MOST} THEN {_CAPPED} ELSE '' END",
)


_CUT: LiteralString = "LIMIT (SELECT %(limit)s::bigint) OFFSET (SELECT %(offset)s::bigint)"
"""Opaque to the planner, so that it makes one plan for all values and keeps it: planning a page takes longer than
reading it."""


def _page_in_order(where: LiteralString, terms: Sequence[Term], of_resource: LiteralString) -> LiteralString:
    """The rows of a page, read in the order of an index.

    No index has absent values last in both directions. So a page that is sorted by a field that may be absent is read
    in parts, each in the order of an index, which are then merged.

    :param of_resource: columns of the resource, the id among them; those that the page is sorted by are added.
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
    """The order of one part. The resources of the last part lack the field, so that it sorts nothing there."""
    if part is first.parts[-1]:
        return [*rest]
    present = Term(first.expression, first.descending)
    return [present, *rest] if part.prefix is None else [Term(part.prefix, first.descending), present, *rest]


def _order(terms: Sequence[Term]) -> LiteralString:
    return ", ".join([term.ordered(term.expression) for term in terms])


# Inner queries return what a page is sorted by as columns: sort_0 and so on, and the id.


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
