"""The views of the resource (interface 4.1 to 4.3, 4.5 to 4.8, 4.10 to 4.12) and of its search (4.4, 4.14).

The docstring of a view is its description in the OpenAPI document; the name of its blueprint chooses its tag there.
"""

from collections.abc import Callable
from dataclasses import replace

from flask import Response, request

from app import errors
from app.database.admission import Lane
from app.http.answers import json_answer
from app.http.arguments import Blueprint, Endpoint
from app.http.bodies import read_body
from app.http.large_pages import pages_under_way
from app.http.paths import PROJECTION_SEARCH, SEARCH, SORTED_LIST
from app.identity.gate import client_id
from app.identity.scopes import scopes
from app.openapi.marks import Answer, AnyView, operation
from app.resource.model import Caller, Preconditions, Representation, Search, Written
from app.resource.params import (
    FilteredListSchema,
    ListQuery,
    OptionalTextsSchema,
    SearchFormSchema,
    SearchSchema,
    SortedListSchema,
    StagedSchema,
    VersionSchema,
)
from app.resource.preconditions import matches, parse, raise_unless_matched
from app.resource.reading import reads
from app.resource.reading.listing import Page, lane_of_existence, lane_of_page
from app.resource.resource_json import FLAT_JSON, RESULT_JSON, representation_of
from app.resource.schemas import ResourceDraft, ResourceDraftSchema, Update, UpdateSchema
from app.resource.searching.searches import page_of_search
from app.resource.searching.words import expand
from app.resource.writing import writes
from app.routes.services import clocks, database
from app.values.parameters import QuerySchema

blueprint = Blueprint("resource", __name__, url_prefix="/<project_key:project_key>/resource")
search_blueprint = Blueprint("search", __name__, url_prefix="/<project_key:project_key>/resource")

for_readers = scopes("manage_test", "view_test")
for_writers = scopes("manage_test")

CONDITIONS = ("If-Match", "If-None-Match")
LINKS = ("read", "update", "delete")
READ = Answer(200, "Resource", "the resource", ("ETag",), links=LINKS)
NOT_MODIFIED = Answer(304, None, "the client has this version", ("ETag",))
CREATED = Answer(201, "Resource", "the new resource", ("ETag", "Location", "Content-Location"), links=LINKS)
WRITTEN = Answer(200, "Resource", "the resource as it is now, in its current projection", ("ETag",), links=LINKS)
WRITTEN_IN_COLLECTION = replace(WRITTEN, headers=("ETag", "Content-Location"))
CONFLICTS = ("ConcurrentModification", "PreconditionFailed")
FOUND = Answer(200, "ProjectionPage", "a page of flat projections, with the facets that were asked for")


def _describes_write(operation_id: str, *answers: Answer) -> Callable[[AnyView], AnyView]:
    """Describe a write on the collection in the OpenAPI document."""
    error_codes = ("ResourceNotFound", "DuplicateField", *CONFLICTS)
    return operation(operation_id, *answers, headers=CONDITIONS, error_codes=error_codes)


def _describes_read(operation_id: str) -> Callable[[AnyView], AnyView]:
    """Describe a read of one resource in the OpenAPI document."""
    error_codes = ("ResourceNotFound", "PreconditionFailed")
    return operation(operation_id, READ, NOT_MODIFIED, headers=CONDITIONS, error_codes=error_codes)


def preconditions() -> Preconditions:
    """Load the preconditions in If-Match and If-None-Match of the current request.

    :raises ApiError: 400 for a header that is neither ``*`` nor a list of quoted entity tags.
    """
    headers = request.headers  # each access to Flask's proxy costs more than reading a header
    return parse(headers.get("If-Match"), headers.get("If-None-Match"))


def no_body() -> None:
    """Refuse a DELETE with a body. If the body were ignored, a client that sends the expected version in it would
    delete the resource without a check of the version.

    :raises ApiError: 400 unless the body is empty or ``{}``, apart from white space; 400, 413, 415 or 431 as
        :func:`read_body`.
    """
    if read_body(request).translate(None, b" \t\r\n") not in (b"", b"{}"):  # some clients send {} with every request
        raise errors.invalid_input(
            "Malformed request body: DELETE takes none. The expected version is the query parameter 'version'."
        )


def _caller(project_key: str) -> Caller:
    """The API client of the current request, with the project and the project's source of times and ids for writes."""
    return Caller(project_key, client_id(), clocks().of_project(project_key))


# Answers with one resource


def _resource_answer(resource: Representation, status: int = 200) -> Response:
    """The answer with one resource and its entity tag."""
    answer = json_answer(resource.json, status)
    answer.headers["ETag"] = _entity_tag(resource)
    return answer


def _read_answer(resource: Representation, conditions: Preconditions) -> Response:
    """The answer to a read of one resource: 200, or 304 if the client has this version.

    :raises ApiError: 412 if If-Match does not list the version of the resource.
    """
    raise_unless_matched(conditions, resource.version)
    if conditions.if_none_match is not None and matches(conditions.if_none_match, resource.version):
        return Response(status=304, headers={"ETag": _entity_tag(resource)})
    return _resource_answer(resource)


def _written_answer(written: Written, project_key: str) -> Response:
    """The answer to a write on the collection: 200, or 201 with ``Location`` if the resource is new.

    ``Content-Location`` is the path of the resource that the answer shows, because the path of the request is that of
    the collection (RFC 9110, section 8.7).
    """
    resource = representation_of(written.resource)
    answer = _resource_answer(resource, 201 if written.is_new else 200)
    address = f"{request.script_root}/{project_key}/resource/{resource.id}"
    answer.headers["Content-Location"] = address
    if written.is_new:
        answer.headers["Location"] = address
    return answer


def _entity_tag(resource: Representation) -> str:
    """The entity tag of a resource: its version in quotes."""
    return f'"{resource.version}"'


# Views


@blueprint.route("")
class Collection(Endpoint):
    """All resources of a project."""

    @for_readers
    @operation("listResources", Answer(200, "FlatResourcePage", "a page of flat resources"))
    @blueprint.arguments(FilteredListSchema(), location="query")
    def get(self, query: ListQuery, project_key: str) -> Response:
        """List resources (4.1).

        Returns the resources that fulfil all conditions that are sent. `where` is a predicate. `objectParameter` is an
        object that ObjectType has to contain. Each other condition, such as `stringParameter`, looks for its value in
        one or two arrays of ObjectType; the description of each parameter says in which. In a result, the fields of
        ObjectType stand beside `id`, `key`, `version`, `createdAt` and `lastModifiedAt`, and not within
        `objectTypeProperty`.
        """
        return _page_answer(project_key, reads.page(project_key, query.condition, query.paging, FLAT_JSON))

    @for_readers
    @operation(
        "checkResources", Answer(200, None, "at least one resource matches"), Answer(404, None, "no resource matches")
    )
    @blueprint.arguments(FilteredListSchema(), location="query")
    def head(self, query: ListQuery, project_key: str) -> Response:
        """Check whether any resource matches (4.5).

        Takes the parameters of the list (4.1), and answers with a status and no body.
        """
        selected = reads.selected_by(query.condition)
        with database().connection(project_key, lane_of_existence(selected)) as connection:
            found = reads.exists(connection, project_key, selected)
        return json_answer("", 200 if found else 404)

    @for_writers
    @_describes_write("createOrUpdateResource", WRITTEN_IN_COLLECTION, CREATED)
    @blueprint.arguments(ResourceDraftSchema())
    @blueprint.arguments(StagedSchema(), location="query")
    @blueprint.loads("headers", preconditions)
    def post(self, draft: ResourceDraft, staged: bool, conditions: Preconditions, project_key: str) -> Response:
        """Create or update a resource (4.6).

        With an `id` in the body, updates the resource with this id; an unknown `id` is 404. Without `id`, updates the
        resource with the `key` of the body, or creates it. Without both, creates a resource. An update replaces only
        what the body has: the `key`, `someProperty`, and each field of `objectTypeProperty`. What is absent or `null`
        in the body keeps its stored value. A create ignores `version`. A request with `If-Match` that would create a
        resource is 412.
        """
        written = writes.write(database(), _caller(project_key), draft, conditions, "POST", staged=staged)
        return _written_answer(written, project_key)

    @for_writers
    @_describes_write("createOrOverwriteResource", WRITTEN_IN_COLLECTION, CREATED)
    @blueprint.arguments(ResourceDraftSchema())
    @blueprint.arguments(StagedSchema(), location="query")
    @blueprint.loads("headers", preconditions)
    def put(self, draft: ResourceDraft, staged: bool, conditions: Preconditions, project_key: str) -> Response:
        """Create or overwrite a resource (4.8).

        With an `id` in the body, overwrites the resource with this `id`, and gives it the `key` of the body if the body
        has one; an unknown `id` is 404. Without `id`, overwrites the resource with the `key`, or creates it. Without
        both, overwrites the youngest (greatest `id`) of the resources without a key that this API client has created,
        or creates a resource if there is none. The whole `objectTypeProperty` is replaced; `someProperty` is replaced
        only if the body has it. A create does not compare `version`: if a client deletes a resource and repeats its PUT
        by `key`, this PUT creates the resource again. With `If-Match` nothing is created (412).
        """
        written = writes.write(database(), _caller(project_key), draft, conditions, "PUT", staged=staged)
        return _written_answer(written, project_key)

    @for_writers
    @_describes_write("overwriteResource", WRITTEN_IN_COLLECTION)
    @blueprint.arguments(ResourceDraftSchema())
    @blueprint.arguments(StagedSchema(), location="query")
    @blueprint.loads("headers", preconditions)
    def patch(self, draft: ResourceDraft, staged: bool, conditions: Preconditions, project_key: str) -> Response:
        """Overwrite a resource (4.7).

        Overwrites like PUT, but creates nothing: if PUT would create a resource, PATCH is 404. A `version` is compared
        if it is sent.
        """
        written = writes.write(database(), _caller(project_key), draft, conditions, "PATCH", staged=staged)
        return _written_answer(written, project_key)


@blueprint.route("/key=<segment:key>")
class ItemByKey(Endpoint):
    """One resource by its key."""

    @for_readers
    @_describes_read("getResourceByKey")
    @blueprint.arguments(QuerySchema(), location="query")  # refuses every query parameter, and loads nothing
    @blueprint.loads("headers", preconditions)
    def get(self, _: object, conditions: Preconditions, project_key: str, key: str) -> Response:
        """Get a resource by key (4.3).

        The path segment begins with `key=`. The answer is the resource in its current projection; 304 without a body
        if the client has this version already (`If-None-Match`); 412 if `If-Match` lists only others; or 404.
        """
        with database().connection(project_key) as connection:
            resource = reads.get_by_key(connection, project_key, key)
        if resource is None:
            raise errors.not_found_by_key(key)
        return _read_answer(resource, conditions)


@blueprint.route(f"/{SORTED_LIST}")
class SortedList(Endpoint):
    """All resources of a project, sorted."""

    @for_readers
    @operation("listResourcesSorted", Answer(200, "ResourcePage", "a page of resources"))
    @blueprint.arguments(SortedListSchema(), location="query")
    def get(self, query: ListQuery, project_key: str) -> Response:
        """List whole resources, sorted (4.12).

        Returns the resources that match every `where`, in the order of `sort`. Resources with equal values of all
        sorted fields are in the order of `id`, in the direction of the last `sort`. `expand` names the references to
        expand: `createdBy` or `lastModifiedBy`. An expanded reference also contains its API client, as `obj`.
        """
        return sorted_list(project_key, query)


def sorted_list(project_key: str, query: ListQuery) -> Response:
    """The answer of the sorted list (interface 4.12): a page of resources, with the API clients that ``expand`` names.
    Routes of extensions call it, too."""
    return _page_answer(
        project_key, reads.page(project_key, query.condition, query.paging, RESULT_JSON[query.expanded])
    )


def _page_answer(project_key: str, page: Page) -> Response:
    """Read a page, give the connection back, and answer.

    :raises ApiError: 503 if too many bytes of large pages, of this project or of all, are on their way to clients.
    """
    with database().connection(project_key, lane_of_page(page)) as connection:
        content = page.read(connection)
    return pages_under_way.answer(project_key, content)


@blueprint.route("/<resource_id:resource_id>")
class Item(Endpoint):
    """One resource by its id."""

    @for_readers
    @_describes_read("getResourceById")
    @blueprint.arguments(OptionalTextsSchema(), location="query")
    @blueprint.loads("headers", preconditions)
    def get(self, _: object, conditions: Preconditions, project_key: str, resource_id: str) -> Response:
        """Get a resource by id (4.2).

        The answer shows the current projection. The parameters `optionalQueryParameter` and
        `secondOptionalQueryParameter` are checked, and have no other effect.
        """
        with database().connection(project_key) as connection:
            resource = reads.get_by_id(connection, project_key, resource_id)
        if resource is None:
            raise errors.not_found_by_id(resource_id)
        return _read_answer(resource, conditions)

    @for_writers
    @operation("updateResourceById", WRITTEN, headers=CONDITIONS, error_codes=("ResourceNotFound", *CONFLICTS))
    @blueprint.arguments(UpdateSchema())
    @blueprint.arguments(QuerySchema(), location="query")  # refuses every query parameter, and loads nothing
    @blueprint.loads("headers", preconditions)
    def post(
        self, update: Update, _: object, conditions: Preconditions, project_key: str, resource_id: str
    ) -> Response:
        """Update a resource by actions (4.10).

        The actions apply in their order, all or none. If the resource differs afterwards, its version is one higher,
        however many actions there were; otherwise the version stays. `doSomeThing` always counts as a change.
        `If-Match` and `If-None-Match` are checked first: if one of them fails, the answer is 412. Then, if `version` is
        not the actual version, the answer is 409 with the actual version in `currentVersion`. Neither answer changes
        the resource.
        """
        written = writes.update(database(), _caller(project_key), resource_id, update, conditions)
        return _resource_answer(representation_of(written.resource))

    @for_writers
    @operation(
        "deleteResourceById",
        Answer(200, "Resource", "the resource as it was", ("ETag",)),
        headers=CONDITIONS,
        error_codes=("ResourceNotFound", *CONFLICTS, "ContentTooLarge", "UnsupportedMediaType"),
    )
    @blueprint.loads("json", no_body)
    @blueprint.arguments(VersionSchema(), location="query")
    @blueprint.loads("headers", preconditions)
    def delete(
        self, _: None, expected: int | float | None, conditions: Preconditions, project_key: str, resource_id: str
    ) -> Response:
        """Delete a resource (4.11).

        Returns the resource as it was before. With the query parameter `version`, or `If-Match`, a resource that has
        changed since is not deleted. A body other than `{}` or white space is refused.
        """
        deleted = writes.delete(database(), _caller(project_key), resource_id, conditions.expecting(expected))
        return _resource_answer(deleted)


# The search


def _search_answer(project_key: str, query: Search) -> Response:
    """The answer to a search.

    A search with texts always takes the slow lane. ``lane_of_page`` cannot choose its lane: that function needs the
    page, the page needs the project's words that match the texts, and the lookup of these words needs a connection.
    The lane has to be chosen before this connection is checked out.
    """
    if not query.texts:
        return _page_answer(project_key, page_of_search(project_key, query))
    with database().connection(project_key, Lane.SLOW) as connection:
        texts = expand(connection, project_key, query.texts, query.fuzzy_level)
        content = page_of_search(project_key, query, texts).read(connection)
    return pages_under_way.answer(project_key, content)


@search_blueprint.route(f"/{SEARCH}")
class SearchByQuery(Endpoint):
    """Search with everything in the query string."""

    @for_readers
    @operation("searchResources", FOUND, error_codes=("SearchFacetPathNotFound",))
    @search_blueprint.arguments(SearchSchema(), location="query")
    def get(self, query: Search, project_key: str) -> Response:
        """Search resources (4.4).

        Searches one of the two projections by texts and filters, and counts facets. Without `sort` the results that
        match the texts best come first; if there are no texts, the results are in the order of `id`.
        """
        return _search_answer(project_key, query)


@search_blueprint.route(f"/{PROJECTION_SEARCH}")
class SearchByForm(Endpoint):
    """Search with a form, which may be longer than a URL."""

    @scopes("view_products", "view_published_products")
    @operation("searchProductProjections", FOUND, error_codes=("SearchFacetPathNotFound",))
    @search_blueprint.arguments(SearchFormSchema(), location="form")
    def post(self, query: Search, project_key: str) -> Response:
        """Search resources with a form (4.14).

        The same search as 4.4, at a path with the name of commercetools' product projection search. A parameter may be
        in the form or in the query string, and a repeatable one in both. Each of the two scopes, `view_products` and
        `view_published_products`, is enough for both projections.
        """
        return _search_answer(project_key, query)
