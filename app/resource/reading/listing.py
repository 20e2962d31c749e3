"""A page of the resources that a condition selects: found, counted, sorted, cut and made JSON by one statement.

The statement first looks for what is selected without an order, up to a fixed number of resources. If that finds all
of them, it sorts these and takes the page. If there are more, it reads the project in the order of an index instead,
which soon meets enough for a page. So it is fast for few matches and for many, without an estimate of their number:
PostgreSQL has no statistics on the contents of documents and words. In the order of an index alone, few matches among
many resources would be found by reading all resources.

A document may have megabytes, and a page 500 of them. PostgreSQL knows the bytes of a stored text without reading it,
so the statement makes JSON only of documents that have no more than their share of a small page. If one has more, a
second one asks for the bytes of each, a page that is too large is refused, and a third one reads the documents.
PostgreSQL then has one of them in memory at a time, and the connection needs no buffer for all, which it would keep.
"""

import json
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate
from typing import LiteralString

from psycopg.pq.abc import PGresult

from app import errors
from app.database.connection import Connection
from app.query.fields import Field, Stage
from app.query.kinds import ID
from app.query.predicate.compiler import Clause, hidden_from_planner
from app.query.sql_text import Parameters, literal, numbered, placeholder
from app.resource.json_text import concatenated, member, members
from app.resource.model import (
    FACET_BYTES_AT_MOST,
    PAGE_BYTES_AT_MOST,
    SMALL_PAGE_BYTES,
    TOTAL_AT_MOST,
    LargePage,
    Paging,
    SortTerm,
)
from app.resource.resource_json import ResultJson

_COUNTED_AT_MOST = literal(TOTAL_AT_MOST)
"""A literal and not a parameter: for a LIMIT whose value the planner does not know, it expects a tenth of the rows to
be read, and then no index looks cheaper than a scan.
"""


@dataclass(frozen=True, slots=True)
class Term:
    """An expression that a page is sorted by.

    :param expression: SQL on ``r``. NULL is above all values, as PostgreSQL has it.
    :param indexed: whether an index has its order.
    """

    expression: LiteralString
    descending: bool = False
    indexed: bool = True

    def ordered(self, expression: LiteralString) -> LiteralString:
        """An expression with the direction of this term."""
        return f"{expression} {'DESC' if self.descending else 'ASC'}"


def terms_of(sort: Sequence[SortTerm], stage: Stage) -> tuple[Term, ...]:
    """The terms for ``sort`` in a projection. The last one is the id, so that pages neither repeat nor miss any.

    The id has the direction of the term before it, so that one index serves both directions: forwards and backwards.

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
        if asked.field.kind is ID:
            return tuple(terms)
    return (*terms, Term(BY_ID.expression, terms[-1].descending)) if terms else (BY_ID,)


def _term(field: Field, stage: Stage, *, descending: bool) -> Term:
    column = field.beginning or field.column
    if column is None:
        errors.unreachable("a sortable field has a column")
    expression = column.for_stage(stage)
    # Only the current projection has indexes to sort by.
    return Term(expression, descending, indexed=expression == column.current)


BY_ID = Term("r.id")
"""The order without ``sort``."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The resources of a project that fulfil all of these conditions."""

    clauses: Sequence[Clause] = ()

    @property
    def where(self) -> LiteralString:
        """The condition for a scan that looks for these resources."""
        terms = [term for clause in self.clauses for term in clause.terms]
        alone: list[LiteralString] = [term.alone for term in terms if term.alone is not None]
        beside: list[LiteralString] = [term.text for term in terms]
        return _all_of(alone if len(alone) == len(terms) else beside)

    @property
    def parameters(self) -> Parameters:
        """The parameters of all conditions, without the project."""
        return {name: value for clause in self.clauses for name, value in clause.parameters.items()}

    def where_in(self, order: Term) -> LiteralString:
        """The condition for a scan in this order."""
        return _all_of([clause.in_order for clause in self.clauses]) if order.indexed else self.where


def _all_of(conditions: Sequence[LiteralString]) -> LiteralString:
    return " AND ".join(["r.project_key = %(project_key)s", *conditions])


@dataclass(frozen=True, slots=True)
class PageExtras:
    """What a page has beside the usual members, as SQL.

    :param members: members of the page; NULL if they are too large.
    :param queries: parts of the statement's WITH, which the members refer to.
    """

    members: LiteralString = "''"
    queries: Sequence[LiteralString] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page that is to be read.

    :param parameters: ``project_key``, and those of ``terms`` and ``extras``.
    :param terms: the order, instead of ``paging.sort``; the last term is the id.
    """

    selected: Selected
    parameters: Parameters
    paging: Paging
    terms: Sequence[Term]
    result: ResultJson
    extras: PageExtras = PageExtras()

    def read(self, connection: Connection, *, may_be_large: bool) -> bytes:
        """The page as JSON text in UTF-8.

        :param may_be_large: whether its documents may have more than :data:`SMALL_PAGE_BYTES`.
        :raises LargePage: if they have more and may not.
        :raises ApiError: 400 if they have more than :data:`PAGE_BYTES_AT_MOST`, or the facets too large terms.
        """
        share: LiteralString = f"{literal(SMALL_PAGE_BYTES)} / greatest(%(limit)s, 1)"
        small = f"CASE WHEN {self.result.bytes_at_most} <= {share} THEN {self.result.json} END"
        beginning, results, end = self._execute(connection, small)
        if results is not None:
            return b"%b%b%b" % (beginning, results, _checked(end))
        with connection.transaction():
            # So that all statements see the same moment.
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            return self._read_large(connection, may_be_large=may_be_large)

    def _execute(self, connection: Connection, json: LiteralString) -> tuple[bytes, bytes | None, bytes | None]:
        """What stands before the results, the results, and what follows them.

        :param json: the JSON of one result, as SQL on ``r``. If that of one is NULL, there are no results and no end.
        """
        paging, selected = self.paging, self.selected
        found, results, total = (_of_matches if selected.clauses else _of_all)(selected, paging, self.terms, json)
        queries: list[LiteralString] = [*found, *self.extras.queries]
        joined: LiteralString = ", ".join(queries)
        with_: LiteralString = f"WITH {joined}" if queries else ""
        end = concatenated("']'", self.extras.members, "'}'")
        statement = f"""
            {with_}
            SELECT {concatenated(_COUNTS, total, _RESULTS)},
                CASE WHEN {_ALL_MADE} THEN coalesce(string_agg(p.json, ','), '') END,
                CASE WHEN {_ALL_MADE} THEN {end} END
            FROM ({results} ORDER BY {_order_of_columns(self.terms)}) p"""
        page_of = {"limit": paging.limit, "offset": paging.offset}
        made = _result(connection, statement, self.parameters | selected.parameters | page_of)
        return made.get_value(0, 0) or b"", made.get_value(0, 1), made.get_value(0, 2)

    def _read_large(self, connection: Connection, *, may_be_large: bool) -> bytes:
        result = self.result
        size = concatenated("'[\"'", "r.id", "'\",'", result.stored_bytes, "','", result.bytes_at_most, "']'")
        beginning, results, end = self._execute(connection, size)
        sizes: list[tuple[str, int, int]] = json.loads(b"[%b]" % (results or b""))
        if not may_be_large and sum(most for *_, most in sizes) > SMALL_PAGE_BYTES:
            raise LargePage
        fitting = self._fitting(connection, sizes)
        if fitting < len(sizes):
            raise errors.invalid_parameter(
                "limit",
                f"The documents of this page have more than {PAGE_BYTES_AT_MOST} bytes. A limit of {fitting} fits.",
            )
        page = BytesIO()
        page.write(beginning)
        for batch in _batches(sizes):
            for document in self._of_each(connection, batch, result.json):
                if page.tell() > len(beginning):
                    page.write(b",")
                page.write(document)
        page.write(_checked(end))
        return page.getvalue()

    def _fitting(self, connection: Connection, sizes: Sequence[tuple[str, int, int]]) -> int:
        """How many of the results fit into a page, from the first one; at least one."""
        fitting = _fits(stored for _, stored, _ in sizes)
        if sum(most for *_, most in sizes[:fitting]) > PAGE_BYTES_AT_MOST:
            ids = [resource_id for resource_id, *_ in sizes[:fitting]]
            fitting = _fits(map(int, self._of_each(connection, ids, self.result.answered_bytes)))
        return max(1, fitting)

    def _of_each(self, connection: Connection, ids: Sequence[str], expression: LiteralString) -> Generator[bytes]:
        """The value of an expression on ``r`` for each of these resources, in this order."""
        parameters = {"project_key": self.parameters["project_key"], "ids": list(ids)}
        result = _result(connection, _OF_EACH.format(expression), parameters)
        if result.ntuples < len(ids):
            # Not all statements of a transaction see the same moment on Citus.
            raise errors.over_capacity("A resource of the page was deleted meanwhile.")
        for row in sorted(range(result.ntuples), key=lambda row: int(result.get_value(row, 0) or 0)):
            yield result.get_value(row, 1) or b""


_OF_EACH: LiteralString = f"""
    SELECT w.place, {{}}
    FROM unnest({hidden_from_planner(placeholder("ids"), "uuid[]")}) WITH ORDINALITY w (id, place)
        CROSS JOIN LATERAL (
            SELECT r.* FROM resource r WHERE r.project_key = %(project_key)s AND r.id = w.id LIMIT 1) r"""


def _result(connection: Connection, statement: LiteralString, parameters: Parameters) -> PGresult:
    """The result of a query as it came: texts in UTF-8, which are answered as they are."""
    result = connection.execute(statement, parameters).pgresult
    if result is None:
        errors.unreachable("a query has a result")
    return result


def _batches(sizes: Iterable[tuple[str, int, int]]) -> Generator[list[str]]:
    """Ids of documents that are read together, so that a page is in memory once and not twice."""
    batch: list[str] = []
    size = 0
    for resource_id, _, most in sizes:
        if batch and size + most > SMALL_PAGE_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(resource_id)
        size += most
    yield batch


def _fits(sizes: Iterable[int]) -> int:
    """How many documents of these sizes fit into a page, from the first one."""
    return sum(total <= PAGE_BYTES_AT_MOST for total in accumulate(sizes))


def _checked(end: bytes | None) -> bytes:
    """The end of a page, with its facets.

    :raises ApiError: 400 if it is NULL, since the terms of the facets are too large.
    """
    if end is None:
        raise errors.invalid_parameter("facet", f"The terms of the facets have more than {FACET_BYTES_AT_MOST} bytes.")
    return end


_COUNTS = concatenated(
    "'{'", members(member("limit", "%(limit)s"), member("offset", "%(offset)s"), member("count", "count(*)"))
)
"""The beginning of a page."""

_RESULTS: LiteralString = "',\"results\":['"

_ALL_MADE: LiteralString = "count(p.json) = count(*)"
"""Whether the JSON of each result was made."""


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

    :param of_resource: columns of the resource, the id among them; those that the page is sorted by are added.
    """
    return f"SELECT {_columns(terms, of_resource)} FROM resource r WHERE {where} ORDER BY {_order(terms)} {_CUT}"


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
