"""A page of the resources that a condition selects: found, counted, sorted, cut and made JSON by one statement.

A value or a range of a field whose order has an index is called a stretch: its resources are adjacent in this order.
Without a condition, and for a stretch of the field that sorts the page (a range of times, sorted by time), the
statement reads the index of the order, if there is one, up to the end of the page; for a stretch it reads on to the end
of what is counted for ``total``.

For other conditions the statement first finds matches in any order, up to a fixed number. If these are all matches, it
sorts them and takes the page. If there are more, it reads the project in the order of an index instead, and has enough
matches for a page as soon as they come; if no index has the order, it sorts all matches. So few matches that an index
finds, and many all over the order of an index, are both fast, without an estimate of their number, which PostgreSQL
often misses. Reading in the order of an index alone would read all resources where few of them match, and it reads many
if all matches are at the end.

The statement returns a row for each result, so that PostgreSQL makes no value of a whole page: 500 results with an
ObjectType and a someProperty of 64 KiB each have 66 MB.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import LiteralString, NamedTuple

from app import errors
from app.database.admission import Lane
from app.database.connection import Connection
from app.query.fields import RESOURCE, Field, Index, Projection
from app.query.predicate.compiler import Clause, ClauseTerm, Stretch
from app.query.sql_text import Parameters, literal, numbered
from app.resource.model import FACET_BYTES_AT_MOST, TOTAL_AT_MOST, Paging, SortTerm
from app.resource.resource_json import concatenated, member

_COUNTED_AT_MOST = literal(TOTAL_AT_MOST)
"""The most matches that are counted, as a literal and not as a parameter: if the planner does not know the value of a
LIMIT, it prefers what returns its first rows soonest, and without ORDER BY this is a scan of the table.
"""


@dataclass(frozen=True, slots=True)
class Term:
    """An expression that a page is sorted by.

    :param expression: SQL on ``r``. PostgreSQL's default holds: NULL sorts above all values.
    :param in_order_of: the field whose index has this order, if there is one.
    """

    expression: LiteralString
    descending: bool = False
    in_order_of: Field | None = None

    def ordered(self, by: LiteralString) -> LiteralString:
        """One entry of ORDER BY: what to sort by, followed by the direction of this term.

        :param by: the SQL to sort by. In a query of the table this is the attribute ``expression``. In a query around a
            subquery it is the column in which the subquery returns the value of ``expression``.
        """
        return f"{by} {'DESC' if self.descending else 'ASC'}"


def terms_of(sort: Sequence[SortTerm], projection: Projection) -> tuple[Term, ...]:
    """The terms of ORDER BY for ``sort``. The last term is always the id, so that the order is total: pages neither
    repeat nor miss a resource as long as no resource is written between the requests.

    - If ``sort`` is empty, the order is :data:`BY_ID`.
    - If ``sort`` has the id, the terms after the id are left out. They would have no effect, because no two ids are
      equal.
    - If ``sort`` lacks the id, the id is added with the direction of the last term. So PostgreSQL can read an index on
      a field and the id forwards for ascending order, and backwards for descending order.
    - If ``sort`` has a field twice, only the first term is kept. The second would have no effect, and PostgreSQL took a
      second to plan 900 equal terms.
    """
    first: dict[Field, SortTerm] = {}
    for asked in sort:
        first.setdefault(asked.field, asked)
    terms: list[Term] = []
    for field, asked in first.items():
        terms.append(_term(field, projection, descending=asked.descending))
        if field is _ID:
            return tuple(terms)
    return (*terms, _term(_ID, projection, descending=terms[-1].descending)) if terms else (BY_ID,)


def _term(field: Field, projection: Projection, *, descending: bool) -> Term:
    """The term of a field in a projection."""
    expression = field.sorted_by.for_projection(projection)
    return Term(expression, descending, field if Index.ORDER in field.indexed_in(projection) else None)


_ID = RESOURCE["id"]

BY_ID = Term("r.id", in_order_of=_ID)
"""The order without ``sort``, except of a search with texts."""


@dataclass(frozen=True)
class Selected:
    """The selection of the resources of a project that fulfil all of some conditions."""

    clauses: Sequence[Clause] = ()

    @property
    def where(self) -> LiteralString:
        """The SQL condition that a resource belongs to the project and fulfils all terms.

        There are two forms of the SQL of a term. If all terms select stretches (see the module) of the same field, each
        term has the form that the index of this field serves (:attr:`Stretch.text`). Otherwise each term has its usual
        form (:attr:`ClauseTerm.text`).
        """
        # ``_stretches`` is empty or has one stretch for each term, so no term is lost.
        bounds: list[LiteralString] = [stretch.text for stretch in self._stretches]
        return _all_of(bounds or [term.text for term in self.terms])

    @cached_property
    def terms(self) -> Sequence[ClauseTerm]:
        """The terms of all clauses. A resource is selected if every term holds."""
        return [term for clause in self.clauses for term in clause.terms]

    @property
    def finds_few(self) -> bool:
        """Whether an index is assumed to find few resources for at least one term, so that the selection is quick. One
        is enough, because all terms have to hold."""
        return any(term.finds_few for term in self.terms)

    @property
    def stretch_field(self) -> Field | None:
        """The field in whose index the selected resources are adjacent; None if there is no such field. A query that is
        sorted by this field reads only this part of the index, which is called a stretch (see the module).

        There is such a field if :attr:`terms` is not empty, and every term selects a stretch of the same field. The
        selected resources are what these stretches have in common, which is a stretch, too.
        """
        # All stretches in ``_stretches`` are of one field.
        return next((stretch.field for stretch in self._stretches), None)

    @cached_property
    def _stretches(self) -> Sequence[Stretch]:
        """The stretches of all terms, if each term has one and all are of one field; else empty."""
        terms = self.terms
        stretches = [term.stretch for term in terms if term.stretch is not None]
        is_one = len(stretches) == len(terms) and len({stretch.field for stretch in stretches}) == 1
        return stretches if is_one else ()

    @property
    def parameters(self) -> Parameters:
        """The parameters of all conditions, without ``project_key``."""
        return {name: value for clause in self.clauses for name, value in clause.parameters.items()}

    def where_in_order_of(self, order: Term) -> LiteralString:
        """The SQL condition of a query that is sorted by ``order``.

        If an index has this order, the condition is written in a form that no GIN index can serve, so that PostgreSQL
        usually reads the index of the order. If no index has it, the usual form lets any index find the resources,
        which PostgreSQL then sorts."""
        return _all_of([clause.text_without_gin for clause in self.clauses]) if order.in_order_of else self.where

    @property
    def where_of_existence(self) -> LiteralString:
        """The SQL after WHERE in the query that asks whether any resource is selected in the current projection.

        The SQL is :attr:`where`. If the selected resources are a stretch (see the module), ORDER BY and LIMIT 1 follow.
        Without them, PostgreSQL might make a bitmap of the whole stretch before it returns the first row. With them it
        reads one row of the index.
        """
        if self.stretch_field is None:
            return self.where
        by = terms_of([SortTerm(self.stretch_field)], Projection.CURRENT)
        return f"{self.where} ORDER BY {_order(by)} LIMIT 1"


def _all_of(conditions: Sequence[LiteralString]) -> LiteralString:
    """The SQL condition that a resource of the project fulfils all of these."""
    return " AND ".join(["r.project_key = %(project_key)s", *conditions])


@dataclass(frozen=True, slots=True)
class Page:
    """A page that has been composed and is not yet read.

    :param parameters: ``project_key``, and those of ``terms``, ``facets`` and ``facet_queries``.
    :param terms: the order, instead of ``paging.sort``; the last term is the id.
    :param result: SQL on ``r`` that makes the JSON of a result.
    :param facets: SQL of the member ``facets``, with a comma before it; NULL if the terms of the facets are too large.
    :param facet_queries: a query of the statement's WITH for each facet; ``facets`` refers to them.
    """

    selected: Selected
    parameters: Parameters
    paging: Paging
    terms: Sequence[Term]
    result: LiteralString
    facets: LiteralString = "''"
    facet_queries: Sequence[LiteralString] = ()

    def read(self, connection: Connection) -> bytes:
        """Return the page as JSON text in UTF-8.

        :raises ApiError: 400 if the terms of a facet, before JSON escapes them, have more bytes than
            :data:`FACET_BYTES_AT_MOST` divided by the number of facets.
        """
        compose = _found_in_order if not self.selected.clauses or self.is_one_stretch else _found_in_any_order
        found = compose(self.selected, self.terms)
        # The statement returns one row for each result, in the order of the page, and then a last row. The row of a
        # result has its JSON in the first column, and an empty text in the second. The last row has the total and the
        # facets. If parallel workers read the query `page`, UNION ALL could mix the rows. MATERIALIZED prevents this:
        # no parallel worker reads such a query.
        page: LiteralString = f"""page AS MATERIALIZED (
                SELECT r.* FROM ({found.rows}) r ORDER BY {_order_by_columns(self.terms)})"""
        statement = f"""
            WITH {", ".join([*found.queries, *self.facet_queries, page])}
            SELECT {self.result}, '' FROM page r
            UNION ALL SELECT {_total(found.total) if self.paging.with_total else "''"}, {self.facets}"""
        parameters = self.parameters | self.selected.parameters
        paging = {"limit": self.paging.limit, "offset": self.paging.offset}
        # pgresult has the values as bytes of UTF-8. A fetch would decode them, and this method would encode them again.
        made = connection.execute(statement, parameters | paging).pgresult
        if made is None:
            raise AssertionError("a query has a result")
        count = made.ntuples - 1  # the last row has the total and the facets
        total, facets = made.get_value(count, 0), made.get_value(count, 1)
        if facets is None:  # a facet exceeds its share
            queries = len(self.facet_queries)
            shared = f", its equal part of {FACET_BYTES_AT_MOST}" if queries > 1 else ""
            reason = f"The terms of a facet have more than {FACET_BYTES_AT_MOST // queries} bytes{shared}."
            raise errors.invalid_parameter("facet", reason)
        # `or b""` is for the type checker: get_value may return None for NULL, but no result is NULL.
        results = b",".join([made.get_value(row, 0) or b"" for row in range(count)])
        # ``total`` and ``facets`` are JSON members that begin with a comma, or are empty.
        counts = b'{"limit":%d,"offset":%d,"count":%d%b' % (self.paging.limit, self.paging.offset, count, total or b"")
        return b'%b,"results":[%b]%b}' % (counts, results, facets)

    @property
    def is_one_stretch(self) -> bool:
        """Whether the selected resources are a stretch (see the module) of the page's first sort term: they are
        adjacent in the index of this term's order. Then one scan of this index finds the page. False if no index has
        the order.
        """
        field = self.terms[0].in_order_of
        return field is not None and self.selected.stretch_field is field


class _Found(NamedTuple):
    """The SQL that finds the resources of a page.

    :param queries: the queries of WITH that the other two refer to.
    :param rows: a query of the resources of the page in any order, with the expressions that they are to be sorted by.
    :param total: a query for the number of all matches; it may stop at one more than the cap.
    """

    queries: Sequence[LiteralString]
    rows: LiteralString
    total: LiteralString


def _found_in_order(selected: Selected, terms: Sequence[Term]) -> _Found:
    """The SQL of a page of all resources, or of a stretch.

    The query of the rows reads the index that has the order of the page's first term, until the page is full. For a
    stretch there is always such an index (:attr:`Page.is_one_stretch`). For all resources there may be none; then
    PostgreSQL sorts all of them.

    The total of all resources comes from :data:`_ALL`. The matches of a stretch are counted by a second query, which
    should scan the same index and end at its LIMIT. PostgreSQL could first make a bitmap of the whole stretch instead.
    Two parts of the query make the planner choose the scan:

    - The ORDER BY asks for the order that the index has.
    - The LIMIT is a subquery, so the planner does not know its value. Then the planner prefers the plan that returns
      its first rows soonest, which is the scan of the index.
    """
    rows = _page_in_order(selected.where, terms, "r.*")
    if not selected.clauses:
        return _Found((), rows, _ALL)
    # Only the first term of the order: it is enough to make PostgreSQL scan the index of the stretch.
    counted: LiteralString = (
        f"WHERE {selected.where} ORDER BY {_order(terms[:1])} LIMIT (SELECT {_COUNTED_AT_MOST} + 1)"
    )
    return _Found((), rows, f"SELECT count(*) FROM (SELECT FROM resource r {counted}) r")


def _found_in_any_order(selected: Selected, terms: Sequence[Term]) -> _Found:
    """Find a page of the resources that fulfil all conditions.

    The statement first finds matches in any order, at most ``TOTAL_AT_MOST + 1``. Their number decides how it goes on:

    - At most ``TOTAL_AT_MOST``: these are all matches. The statement sorts them and takes the page.
    - ``TOTAL_AT_MOST + 1``: there can be many more. The statement drops the matches that it has found, and reads the
      project's resources in the order of the page, until the page is full. Usually PostgreSQL reads the index of the
      order's first term for this. If the first term has no index, PostgreSQL finds all matches, without a limit, and
      sorts them.

    Either way, the rows that are found and sorted contain only the id and the values that the page is sorted by. At the
    end the statement looks up the whole resources of the page by their ids.
    """
    number: LiteralString = "(SELECT number FROM counted)"
    queries: tuple[LiteralString, LiteralString] = (
        f"""found AS MATERIALIZED (
            SELECT {_columns(terms, "r.id")} FROM resource r WHERE {selected.where} LIMIT {_COUNTED_AT_MOST} + 1)""",
        "counted AS MATERIALIZED (SELECT count(*) AS number FROM found)",
    )
    # `hits` joins two queries by UNION ALL. The first sorts the matches that were found; the second reads the project
    # in the order of the page. The condition on the number of matches is false in one of them, and PostgreSQL does not
    # execute that one. The rows of both are an id and the values that the page is sorted by.
    from_found: LiteralString = f"""
            SELECT r.* FROM found r WHERE {number} <= {_COUNTED_AT_MOST} ORDER BY {_order_by_columns(terms)} {_CUT}"""
    where_in_order = f"{number} > {_COUNTED_AT_MOST} AND {selected.where_in_order_of(terms[0])}"
    hits: LiteralString = f"({from_found}) UNION ALL ({_page_in_order(where_in_order, terms, 'r.id')})"
    sort_columns: LiteralString = "".join([f", hit.{numbered('sort', place)}" for place, _ in enumerate(terms[:-1])])
    # LIMIT 1 makes PostgreSQL look each resource up by its id. Without it, the planner may choose a join, estimate a
    # page of 500 to be as large as the project, and read the whole project.
    rows = f"""
        SELECT whole.*{sort_columns}
        FROM ({hits}) hit
            CROSS JOIN LATERAL (
                SELECT r.* FROM resource r WHERE r.project_key = %(project_key)s AND r.id = hit.id LIMIT 1) whole"""
    return _Found(queries, rows, "SELECT number FROM counted")


_ALL: LiteralString = f"""
    SELECT coalesce(
        (SELECT sum(c.resources) FROM resource_count c WHERE c.project_key = %(project_key)s),
        (SELECT count(*) FROM (
            SELECT FROM resource r WHERE r.project_key = %(project_key)s LIMIT {_COUNTED_AT_MOST} + 1) r))"""
"""The number of all resources of the project. Triggers keep it (the first migration says where); a project without a
row there is counted, up to one more than the cap."""


def _total(count: LiteralString) -> LiteralString:
    """The SQL of the member ``total`` and, if there are more matches than the cap, ``totalCapped``, each with a comma
    before it.

    :param count: a query for the number of all matches: the ``total`` of :class:`_Found`.
    """
    # OFFSET 0 keeps the planner from inlining the query. Without it, the planner would inline _ALL, because _ALL has no
    # FROM. Then both uses of t.number in _TOTAL_MEMBERS would become copies of _ALL, and each copy would count.
    return f"(SELECT {_TOTAL_MEMBERS} FROM ({count} OFFSET 0) t (number))"


_CAPPED = member("totalCapped", "'true'")

_TOTAL_MEMBERS = concatenated(
    member("total", f"least(t.number, {_COUNTED_AT_MOST})"),
    f"CASE WHEN t.number > {_COUNTED_AT_MOST} THEN {_CAPPED} ELSE '' END",
)


_CUT: LiteralString = "LIMIT (SELECT %(limit)s::bigint) OFFSET (SELECT %(offset)s::bigint)"
"""LIMIT and OFFSET with values that the planner cannot see. So one plan can serve all values: planning a page of twenty
takes longer than reading it."""


def _page_in_order(where: LiteralString, terms: Sequence[Term], of_resource: LiteralString) -> LiteralString:
    """The query that selects the rows of a page, in the order of the page. If an index has this order, PostgreSQL can
    read the rows from the index; otherwise PostgreSQL sorts them.

    :param of_resource: which columns of each resource to select: ``r.*``, or only ``r.id``. The query also selects the
        expressions that the page is sorted by (:func:`_columns`).
    """
    return f"SELECT {_columns(terms, of_resource)} FROM resource r WHERE {where} ORDER BY {_order(terms)} {_CUT}"


def _order(terms: Sequence[Term]) -> LiteralString:
    """What follows ORDER BY in a query of the table."""
    return ", ".join([term.ordered(term.expression) for term in terms])


def _columns(terms: Sequence[Term], of_resource: LiteralString) -> LiteralString:
    """The select list of an inner query: the columns ``of_resource``, then the expressions of all terms except the last
    as ``sort_0``, ``sort_1`` and so on. The outer query sorts by these names (:func:`_order_by_columns`). The last term
    is the id, which ``of_resource`` already contains."""
    columns: list[LiteralString] = [
        f"{term.expression} AS {numbered('sort', number)}" for number, term in enumerate(terms[:-1])
    ]
    return ", ".join([of_resource, *columns])


def _order_by_columns(terms: Sequence[Term]) -> LiteralString:
    """What follows ORDER BY in an outer query. Its inner query has the columns of :func:`_columns` and the alias ``r``.
    The outer query sorts by ``sort_0``, ``sort_1`` and so on, which contain the values of the terms, and then by the
    id."""
    *others, last = terms
    columns: list[LiteralString] = [term.ordered(f"r.{numbered('sort', number)}") for number, term in enumerate(others)]
    return ", ".join([*columns, last.ordered("r.id")])


# The lane of a read: slow if it may read much of a project. Fields (``indexed``) and operators say which conditions an
# index serves, the compiler marks each term of a condition accordingly, and _term each term of an order.
#
# A selection is quick if an index finds few resources for one of its conditions: one is enough, because all conditions
# have to hold. A stretch may have many resources. So if no condition finds few, each of them has to be a stretch of the
# same field, and only two reads are quick then: an existence check, and a page in the order of this field.

NEAR_OFFSET_AT_MOST = 1_000
"""The largest offset in the fast lane. With a larger one a page may be slow, because PostgreSQL reads all results
before it."""


def lane_of_existence(selected: Selected) -> Lane:
    """The lane of an existence check, which finds out whether at least one resource is selected. The check is fast in
    three cases:

    - There is no condition.
    - An index finds few resources for one of the conditions.
    - The selected resources are a stretch: they are adjacent in an index, and PostgreSQL reads only the first of them.
    """
    return Lane.FAST if not selected.clauses or selected.finds_few or selected.stretch_field is not None else Lane.SLOW


def lane_of_page(page: Page) -> Lane:
    """The lane of a page. A page is fast only if all of this is true:

    - An index has the order of the page.
    - There is no condition; or an index finds few resources for one of the conditions; or the matches are a stretch
      (see the module) of the index that has the order of the page.
    - The offset is at most :data:`NEAR_OFFSET_AT_MOST`.
    - There are no facets, because facets read all resources that they count.

    An index with the order of the page is required even if another index is assumed to find few resources for a
    condition. The assumption may be wrong: there may be more than :data:`TOTAL_AT_MOST` matches. Then the statement
    reads the project in the order of the page (:func:`_found_in_any_order`). Without an index with this order,
    PostgreSQL would sort all matches.
    """
    first, last = page.terms[0], page.terms[-1]
    # The index of a field sorts by the field, and equal values by id. So it has the order of a page only if the page is
    # sorted by this field and then by id, both in the same direction. The last term of every page is the id.
    is_ordered = first.in_order_of is not None and len(page.terms) <= 2 and first.descending is last.descending
    is_found = not page.selected.clauses or page.selected.finds_few or page.is_one_stretch
    is_near = page.paging.offset <= NEAR_OFFSET_AT_MOST
    return Lane.FAST if is_ordered and is_found and is_near and not page.facet_queries else Lane.SLOW
