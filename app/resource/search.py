"""The search (interface 4.4 and 4.14) in SQL: text, filters, facets, one of the two projections.

One statement answers a search, so that results, total and facets are of the same moment; before it, a text needs one
that looks its words up (see :mod:`app.resource.words`).
"""

from collections.abc import Sequence
from typing import LiteralString

from app import errors
from app.database.connection import Connection
from app.query.fields import MATCHES, OBJECT_TEXT, RELEVANCE, RESOURCE, Stage
from app.query.filters.ast import FieldPath, Filter
from app.query.predicate.compiler import Clause, compile_condition, hidden, unindexed
from app.query.sql_text import numbered, placeholder
from app.resource import listing, words
from app.resource.facets import compile_facet
from app.resource.listing import BY_ID, Parameters, Selected, Term, terms_of
from app.resource.model import Search
from app.resource.store import RESOURCE_HEAD, flat_end
from app.values.strict_json import encode


def search(connection: Connection, project_key: str, query: Search) -> str:
    """A page of flat projections, with facets if any were asked for, as JSON text.

    :raises ApiError: 400 for texts of too many words.
    """
    narrowing = _clauses("query", query.query_filters, query.stage)
    tsquery = words.tsquery_of(connection, project_key, query.texts, query.fuzzy_level) if query.texts else None
    if query.texts:
        narrowing.append(_text(tsquery, query.stage))
    parameters: Parameters = {"project_key": project_key}
    return listing.page(
        connection,
        Selected([*narrowing, *_clauses("filter", query.filters, query.stage)]),
        parameters,
        query.paging,
        _terms(query, has_text=tsquery is not None),
        _PROJECTION_JSON[query.stage],
        _facets(query, narrowing, parameters),
    )


def _clauses(
    name: LiteralString, filters: Sequence[Filter], stage: Stage, but: FieldPath | None = None
) -> list[Clause]:
    """Filters, but for those on one field; ``name`` begins the names of their parameters."""
    return [
        compile_condition(found.condition, stage, numbered(name, number))
        for number, found in enumerate(filters)
        if found.at != but
    ]


def _text(tsquery: str | None, stage: Stage) -> Clause:
    """Words; None: they are found nowhere."""
    if tsquery is None:
        return Clause("false", "false", {})
    matches = MATCHES.of(stage).format(_TSQUERY)
    return Clause(matches, unindexed(matches), {"tsquery": tsquery})


_TSQUERY = hidden(placeholder("tsquery"), "tsquery")


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


def _terms(query: Search, *, has_text: bool) -> tuple[Term, ...]:
    """As asked for, else by relevance; without text, or among equals, by id."""
    if has_text and not query.paging.sort:
        return (Term(RELEVANCE.of(query.stage).format(_TSQUERY), descending=True, indexed=False), BY_ID)
    return terms_of(query.paging.sort, query.stage)


# Facets


def _facets(query: Search, narrowing: Sequence[Clause], parameters: Parameters) -> LiteralString:
    """The member ``facets``, if any were asked for; adds to the parameters."""
    if not query.facets:
        return "''"
    members: list[LiteralString] = []
    for number, facet in enumerate(query.facets):
        # A filter of facets leaves alone those on its own field.
        filters = _clauses("facet_filter", query.facet_filters, query.stage, but=facet.at)
        narrowed = Selected([*narrowing, *filters])
        parameters |= narrowed.parameters
        name = numbered("facet", number)
        parameters[name] = f"{',' if number else ''}{encode(facet.name)}:"
        members.append(placeholder(name))
        members.append(compile_facet(facet, narrowed.where, query.stage, name, parameters))
    joined = " || ".join(members)
    return f"""',"facets":{{' || {joined} || '}}'"""
