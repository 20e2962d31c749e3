"""Search (interface 4.4 and 4.14): one engine, by GET and by POST with a form."""

from typing import Any

from flask import Response

from app.http.answers import Blueprint, Endpoint, json_answer, reading_database
from app.identity.gate import raise_if_scope_is_missing, scopes
from app.openapi.document import Answer, operation
from app.resource.model import Search
from app.resource.params import SearchSchema, asks_for_staged
from app.resource.search import search

blueprint = Blueprint("search", __name__, url_prefix="/<project_key:project_key>/resource")

FOUND = Answer(200, "ProjectionPage", "a page of flat projections, with the facets that were asked for")
REFUSALS = ("SearchFacetPathNotFound",)


class ProjectionSearchSchema(SearchSchema):
    """A search whose token may be one for what is published only."""

    def load(self, data: Any, **options: Any) -> Any:
        """Look at the scope before any value, as the gate does."""
        if asks_for_staged(data):
            raise_if_scope_is_missing("view_products")
        return super().load(data, **options)


@blueprint.route("/searchApiPattern")
class SearchByQuery(Endpoint):
    """Search with everything in the query string."""

    @scopes("manage_test", "view_test")
    @operation("searchResources", FOUND, refusals=REFUSALS)
    @blueprint.arguments(SearchSchema(), location="query")
    def get(self, query: Search, project_key: str) -> Response:
        """Search resources (4.4).

        Texts, filters and facets over one of the two projections. Without `sort`, what matches best comes first.
        """
        return json_answer(reading_database().read(lambda reader: search(reader, project_key, query)))


@blueprint.route("/product-projection-search")
class SearchByForm(Endpoint):
    """Search with a form, whose length is not that of a URL."""

    @scopes("view_products", "view_published_products")
    @operation("searchProductProjections", FOUND, refusals=REFUSALS, form="SearchForm")
    @blueprint.arguments(ProjectionSearchSchema(), location="form")
    def post(self, query: Search, project_key: str) -> Response:
        """Search product projections (4.14).

        As the other search, with the parameters in a form. A repeatable one may stand in the query string too. The
        staged projection needs `view_products`.
        """
        return json_answer(reading_database().read(lambda reader: search(reader, project_key, query)))
