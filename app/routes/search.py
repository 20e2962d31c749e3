"""The views of the search (interface 4.4 and 4.14): by GET, and by POST with a form."""

from flask import Response

from app.database.admission import Lane
from app.http.arguments import Blueprint, Endpoint
from app.http.large_pages import pages_under_way
from app.http.paths import PROJECTION_SEARCH, SEARCH
from app.identity.scopes import scopes
from app.openapi.marks import Answer, operation
from app.resource.model import Search
from app.resource.params import SearchFormSchema, SearchSchema
from app.resource.reading.listing import lane_of_page
from app.resource.searching.searches import page_of_search
from app.resource.searching.words import expand
from app.routes.services import database

blueprint = Blueprint("search", __name__, url_prefix="/<project_key:project_key>/resource")

FOUND = Answer(200, "ProjectionPage", "a page of flat projections, with the facets that were asked for")
ERROR_CODES = ("SearchFacetPathNotFound",)


def _found(project_key: str, query: Search) -> bytes:
    if query.texts:
        with database().connection(project_key, Lane.SLOW) as connection:
            texts = expand(connection, project_key, query.texts, query.fuzzy_level)
            return page_of_search(project_key, query, texts).read(connection)
    page = page_of_search(project_key, query)
    with database().connection(project_key, lane_of_page(page)) as connection:
        return page.read(connection)


@blueprint.route(f"/{SEARCH}")
class SearchByQuery(Endpoint):
    """Search with everything in the query string."""

    @scopes("manage_test", "view_test")
    @operation("searchResources", FOUND, error_codes=ERROR_CODES)
    @blueprint.arguments(SearchSchema(), location="query")
    def get(self, query: Search, project_key: str) -> Response:
        """Search resources (4.4).

        Searches one of the two projections by texts and filters, and counts facets. Without `sort` the best matches
        come first.
        """
        return pages_under_way.answer(project_key, _found(project_key, query))


@blueprint.route(f"/{PROJECTION_SEARCH}")
class SearchByForm(Endpoint):
    """Search with a form, which may be longer than a URL."""

    @scopes("view_products", "view_published_products")
    @operation("searchProductProjections", FOUND, error_codes=ERROR_CODES)
    @blueprint.arguments(SearchFormSchema(), location="form")
    def post(self, query: Search, project_key: str) -> Response:
        """Search product projections (4.14).

        Searches like 4.4, with the parameters in a form. A repeatable parameter may be in the query string too. Either
        scope is enough for both projections.
        """
        return pages_under_way.answer(project_key, _found(project_key, query))
