"""The client that openapi-python-client generates; docs/workbench/clients.md shows parts of this file."""

import os
from typing import TypeVar

import httpx
from sample_resource_client import AuthenticatedClient, Client
from sample_resource_client.api.authorization import get_token
from sample_resource_client.api.resource import (
    check_resources,
    create_or_update_resource,
    delete_resource_by_id,
    get_resource_by_id,
    get_resource_by_key,
    list_resources,
    list_resources_sorted,
    update_resource_by_id,
)
from sample_resource_client.api.search import search_product_projections, search_resources
from sample_resource_client.models import (
    ChangeSomePropertyAction,
    DoSomeThingAction,
    Error,
    FlatResourcePage,
    ListResourcesSortedVarName,
    ObjectType,
    ProjectionPage,
    Resource,
    ResourceDraft,
    ResourcePage,
    SearchForm,
    SearchProductProjectionsTextLanguage,
    SearchResourcesTextLanguage,
    Token,
    TokenRequest,
    Update,
)
from sample_resource_client.types import Response

Body = TypeVar("Body")

URL = os.environ["BASE_URL"]
PROJECT = os.environ["PROJECT"]
CREDENTIALS = httpx.BasicAuth(os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])


def of(kind: type[Body], answer: Response) -> Body:
    """The body of an answer, which has to be an instance of this class."""
    assert isinstance(answer.parsed, kind), answer
    return answer.parsed


def connected() -> AuthenticatedClient:
    """A client with a token, granted for its credentials."""
    with Client(URL, httpx_args={"auth": CREDENTIALS}) as anonymous:
        answer = get_token.sync_detailed(client=anonymous, body=TokenRequest("client_credentials"))
    return AuthenticatedClient(URL, token=of(Token, answer).access_token)


def write(client: AuthenticatedClient) -> Resource:
    """Create, read and update a resource, and get a 409 for an old version."""
    pet = ResourceDraft(
        key="python-pet", object_type_property=ObjectType(array_of_string_example=["dog"], array_of_int_example=[1, 2])
    )
    created = of(Resource, create_or_update_resource.sync_detailed(PROJECT, client=client, body=pet))
    assert of(Resource, get_resource_by_key.sync_detailed(PROJECT, "python-pet", client=client)) == created

    actions = [ChangeSomePropertyAction("changeSomeProperty", "new"), DoSomeThingAction("doSomeThing")]
    update = Update(created.version, actions)
    updated = of(Resource, update_resource_by_id.sync_detailed(PROJECT, str(created.id), client=client, body=update))
    assert (updated.version, updated.some_property) == (created.version + 1, "new")

    late = update_resource_by_id.sync_detailed(PROJECT, str(created.id), client=client, body=update)
    assert late.status_code == 409
    assert of(Error, late).errors[0].current_version == updated.version
    return updated


def read_lists(client: AuthenticatedClient, pet: Resource) -> None:
    """Lists with repeated parameters, a JSON object as parameter, and parameters such as ``var.<name>``."""
    flat = list_resources.sync_detailed(
        PROJECT,
        client=client,
        array_of_string=["dog"],
        array_of_string_with_description=["bird", "dog"],
        object_parameter='{"arrayOfIntExample": [2]}',
        limit=5,
    )
    assert [found.id for found in of(FlatResourcePage, flat).results] == [pet.id]
    assert check_resources.sync_detailed(PROJECT, client=client, string_parameter="dog").status_code == 200
    assert check_resources.sync_detailed(PROJECT, client=client, string_parameter="unicorn").status_code == 404

    page = list_resources_sorted.sync_detailed(
        PROJECT,
        client=client,
        where=["arrayOfStringExample contains any :words", "key = :key"],
        var_name=ListResourcesSortedVarName.from_dict({"var.words": ["dog", "cat"], "var.key": ["python-pet"]}),
        sort=["createdAt desc", "id"],
        expand=["createdBy"],
        with_total=True,
    )
    found = of(ResourcePage, page)
    assert (found.total, found.results[0].id) == (1, pet.id)
    assert found.results[0].created_by.obj.name == os.environ["CLIENT_NAME"]


def search(client: AuthenticatedClient, pet: Resource) -> None:
    """Full text, a filter and a facet, by the query string and by a form."""
    by_query = search_resources.sync_detailed(
        PROJECT,
        client=client,
        text_language=SearchResourcesTextLanguage.from_dict({"text.en": ["dogs"]}),
        filter_=["arrayOfIntExample:range(1 to 5)"],
        facet=["arrayOfStringExample as words"],
    )
    found = of(ProjectionPage, by_query)
    assert [result.id for result in found.results] == [pet.id]
    assert [(term.term, term.count) for term in found.facets["words"].terms] == [("dog", 1)]

    by_form = search_product_projections.sync_detailed(
        PROJECT,
        client=client,
        text_language=SearchProductProjectionsTextLanguage.from_dict({"text.en": ["dug"]}),
        body=SearchForm(fuzzy=True, staged=True, filter_query=["key:exists"], filter_=["version:range(1 to *)"]),
    )
    assert [result.id for result in of(ProjectionPage, by_form).results] == [pet.id]


def delete(client: AuthenticatedClient, pet: Resource) -> None:
    """Delete a resource with its version."""
    gone = delete_resource_by_id.sync_detailed(PROJECT, str(pet.id), client=client, version=pet.version)
    assert of(Resource, gone).id == pet.id
    assert get_resource_by_id.sync_detailed(PROJECT, str(pet.id), client=client).status_code == 404


with connected() as session:
    written = write(session)
    read_lists(session, written)
    search(session, written)
    delete(session, written)
