"""The search (interface 4.4 and 4.14): texts, filters and facets on one of the two projections.

One statement answers a search, so that results, total and facets come from one snapshot. A search with texts executes
another statement before it, which looks up the words of the texts (see :mod:`app.resource.searching.words`).
"""

from collections.abc import Sequence
from typing import LiteralString

from app.query.fields import MATCHES, WORDS_TO_RANK, Projection
from app.query.filters.resolver import Filter
from app.query.predicate.compiler import Clause, ClauseTerm, compile_condition, hidden_from_planner
from app.query.sql_text import Parameters, numbered, placeholder
from app.resource.model import FACET_BYTES_AT_MOST, Search
from app.resource.reading.listing import BY_ID, Page, Selected, Term, terms_of
from app.resource.resource_json import PROJECTION_JSON, concatenated, member
from app.resource.searching.facets import compile_facet
from app.resource.searching.words import Expansion
from app.values.strict_json import encode


def page_of_search(project_key: str, query: Search, texts: Expansion | None = None) -> Page:
    """Compose the page of a search: the parts of its one statement, which :meth:`Page.read` executes.

    :param texts: the words of the project that match the texts of the search; None if it has no texts.
    """
    # What narrows the results and the facets; query.filters narrow only the results.
    shared_with_facets = _clauses("query", query.query_filters, query.projection)
    if texts is not None:
        shared_with_facets.append(_matching(texts.tsquery, query.projection))
    parameters: Parameters = {"project_key": project_key}  # terms and facets add theirs
    terms = _order(query, texts, parameters)
    facets, facet_queries = _facets(query, shared_with_facets, parameters)
    return Page(
        Selected([*shared_with_facets, *_clauses("filter", query.filters, query.projection)]),
        parameters,
        query.paging,
        terms,
        PROJECTION_JSON[query.projection],
        facets,
        facet_queries,
    )


def _clauses(name: LiteralString, filters: Sequence[Filter], projection: Projection) -> list[Clause]:
    """The SQL conditions of filters.

    :param name: the beginning of the names of their SQL parameters.
    """
    return [compile_condition(one.condition, projection, numbered(name, number)) for number, one in enumerate(filters)]


def _matching(tsquery: str | None, projection: Projection) -> Clause:
    """The SQL condition for the texts of a search: a resource has to match their ``tsquery``.

    :param tsquery: None if no resource can match the texts (``Expansion.tsquery``). Then the condition is never true.
    """
    if tsquery is None:
        return Clause((ClauseTerm("false", by_gin=False),), {})
    matches = MATCHES.for_projection(projection).format(_TSQUERY)
    # finds_few keeps its default False: a word may be in most resources, so the index may find many.
    return Clause((ClauseTerm(matches, by_gin=True),), {"tsquery": tsquery})


_TSQUERY = hidden_from_planner(placeholder("tsquery"), "tsquery")


def _order(query: Search, texts: Expansion | None, parameters: Parameters) -> tuple[Term, ...]:
    """The terms of the order: those of ``sort``; without ``sort``, relevance if the search has texts. The last term is
    always the id.

    For relevance, a resource gets points for each word of the texts: two if it has the word as it is written, one if it
    has a word with the same stem, none for a similar spelling. Among equal points ``ts_rank`` decides: it is higher if
    the words occur more often and closer together. In a long resource ``ts_rank`` does not see all of this: a tsvector
    keeps at most 255 positions of each word, and every word after the resource's 16,383rd has the position 16,383.

    :param parameters: the SQL parameters of the terms are added to it.
    """
    if query.paging.sort or texts is None or texts.tsquery is None:  # without a tsquery no resource matches
        return terms_of(query.paging.sort, query.projection)
    words = WORDS_TO_RANK.for_projection(query.projection)
    points: list[LiteralString] = []
    names: tuple[LiteralString, LiteralString] = ("exact", "stemmed")
    # For each word of the texts there is a tsquery that matches the word as it is written, and one that matches all
    # words with the same stem (AskedWord). Each gives one point. A resource with the word as it is written matches
    # both, and gets two points. The third tsquery of an AskedWord, of all its matches, gives none.
    for number, (exact, stemmed, _) in enumerate(texts.words_for_points):
        for name, tsquery in zip(names, (exact, stemmed), strict=True):
            if tsquery is not None:
                parameter = numbered(name, number)
                parameters[parameter] = tsquery
                points.append(f"({words} @@ {hidden_from_planner(placeholder(parameter), 'tsquery')})::integer")
    rank: LiteralString = f"ts_rank({words}, {_TSQUERY})"  # _matching adds the parameter
    by_points = [Term(" + ".join(points), descending=True)] if points else []
    return (*by_points, Term(rank, descending=True), BY_ID)


def _facets(
    query: Search, narrowing: Sequence[Clause], parameters: Parameters
) -> tuple[LiteralString, Sequence[LiteralString]]:
    """Compose a query for each facet, for the statement's WITH, and the SQL of the member ``facets``, which selects the
    result of each query.

    :return: the SQL of the member, and the queries. The SQL results in an empty text if the search has no facets, and
        in NULL if the listed values of a facet are too large, because the query of :func:`compile_facet` then has NULL.
    :param narrowing: the conditions that narrow every facet. Each facet is also narrowed by facet filters.
    :param parameters: the SQL parameters of the member and of the queries are added to it.
    """
    if not query.facets:
        return "''", ()
    queries: list[LiteralString] = []
    results: list[LiteralString] = []
    bytes_at_most = FACET_BYTES_AT_MOST // len(query.facets)
    clauses = _clauses("facet_filter", query.facet_filters, query.projection)
    filters = [*zip(query.facet_filters, clauses, strict=True)]
    for number, facet in enumerate(query.facets):
        # A facet filter narrows only the facets on other fields or members than its own.
        others = [clause for facet_filter, clause in filters if facet_filter.path != facet.path]
        narrowed = Selected([*narrowing, *others])
        parameters |= narrowed.parameters
        name, label = numbered("facet", number), numbered("facet_label", number)
        # The label is a parameter, because the client chooses its text.
        parameters[label] = f"{',' if number else ''}{encode(facet.name)}:"
        facet_query = compile_facet(facet, (narrowed.where, query.projection), name, parameters, bytes_at_most)
        queries.append(f"{name} AS MATERIALIZED ({facet_query})")
        results.extend([placeholder(label), f"(SELECT f.json FROM {name} f)"])
    return member("facets", concatenated("'{'", *results, "'}'")), queries
