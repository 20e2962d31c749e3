"""The search (interface 4.4 and 4.14): texts, filters and facets on one of the two projections.

One statement answers a search, so that results, total and facets show the same moment. A search with texts sends
another one before, which looks up their words (see :mod:`app.resource.words`).
"""

from collections.abc import Sequence
from typing import LiteralString

from app.database.connection import Connection
from app.query.fields import MATCHES, RELEVANCE, Stage
from app.query.filters.ast import FieldPath, Filter
from app.query.predicate.compiler import Clause, compile_condition, opaque, unindexed
from app.query.sql_text import Parameters, numbered, placeholder
from app.resource import listing, words
from app.resource.facets import compile_facet
from app.resource.json_text import concatenated, member
from app.resource.listing import BY_ID, Selected, Term, terms_of
from app.resource.model import Search
from app.resource.resource_json import PROJECTION_JSON
from app.values.strict_json import encode


def search(connection: Connection, project_key: str, query: Search) -> str:
    """A page of flat projections as JSON text, with facets if the search has some.

    :raises ApiError: 400 for texts that are too long, or that too many words match.
    """
    narrowing = _clauses("query", query.query_filters, query.stage)
    tsquery = words.tsquery_of(connection, project_key, query.texts, query.fuzzy_level) if query.texts else None
    if query.texts:
        narrowing.append(_matching(tsquery, query.stage))
    parameters: Parameters = {"project_key": project_key}
    return listing.page(
        connection,
        Selected([*narrowing, *_clauses("filter", query.filters, query.stage)]),
        parameters,
        query.paging,
        _terms(query, has_text=tsquery is not None),
        PROJECTION_JSON[query.stage],
        _facets(query, narrowing, parameters),
    )


def _clauses(
    name: LiteralString, filters: Sequence[Filter], stage: Stage, but: FieldPath | None = None
) -> list[Clause]:
    """The conditions of filters.

    :param name: begins the names of their parameters.
    :param but: a field whose filters are left out.
    """
    return [
        compile_condition(one.condition, stage, numbered(name, number))
        for number, one in enumerate(filters)
        if one.path != but
    ]


def _matching(tsquery: str | None, stage: Stage) -> Clause:
    """The condition that the words match; None is a query that no resource can match."""
    if tsquery is None:
        return Clause("false", "false", {})
    matches = MATCHES.for_stage(stage).format(_TSQUERY)
    return Clause(matches, unindexed(matches), {"tsquery": tsquery})


_TSQUERY = opaque(placeholder("tsquery"), "tsquery")


def _terms(query: Search, *, has_text: bool) -> tuple[Term, ...]:
    """The order: ``sort``, or by relevance if there is a text and no ``sort``; then by id."""
    if has_text and not query.paging.sort:
        return (Term(RELEVANCE.for_stage(query.stage).format(_TSQUERY), descending=True, indexed=False), BY_ID)
    return terms_of(query.paging.sort, query.stage)


def _facets(query: Search, narrowing: Sequence[Clause], parameters: Parameters) -> LiteralString:
    """The member ``facets``, if the search has some; adds their parameters."""
    if not query.facets:
        return "''"
    results: list[LiteralString] = []
    for number, facet in enumerate(query.facets):
        # A filter of facets does not apply to facets on its own field.
        filters = _clauses("facet_filter", query.facet_filters, query.stage, but=facet.path)
        narrowed = Selected([*narrowing, *filters])
        parameters |= narrowed.parameters
        name = numbered("facet", number)
        parameters[name] = f"{',' if number else ''}{encode(facet.name)}:"
        results.append(placeholder(name))
        results.append(compile_facet(facet, narrowed.where, query.stage, name, parameters))
    return member("facets", concatenated("'{'", *results, "'}'"))
