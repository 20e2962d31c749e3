"""Requests: each operation plainly, with each parameter alone, and with all of them together."""

from typing import Any

from sample_resource_testkit.client.done import Done
from sample_resource_testkit.client.operations import Call, operations
from sample_resource_testkit.client.registry import AUTHORIZED, BASICS, scenario
from sample_resource_testkit.client.scenarios.sending import ID, KEY, sends
from sample_resource_testkit.client.stage import Stage

CLAUSES = {
    "createOrUpdateResource": "4.6-1 4-2",
    "listResources": "4.1-1",
    "checkResources": "4.5-1",
    "createOrOverwriteResource": "4.8-2 4-2",
    "overwriteResource": "4.7-1 4-2",
    "getResourceByKey": "4.3-1",
    "listResourcesSorted": "4.12-1",
    "updateResourceById": "4.10-1 4-2",
    "getResourceById": "4.2-1",
    "deleteResourceById": "4.11-1",
    "searchResources": "4.4-1",
    "searchProductProjections": "4.14-1",
    "postWithAllOptions": "4.9-1 4-2",
    "postDescriptionWithLinks": "4.13-1 4-2",
}
"""The clauses of each operation."""

PATH: dict[str, dict[str, Any]] = {
    "getResourceByKey": {"key": KEY},
    "updateResourceById": {"id": ID},
    "getResourceById": {"id": ID},
    "deleteResourceById": {"id": ID},
    "postWithAllOptions": {"uriParameterOne": "one", "uriParameterTwo": "two"},
}
"""What an operation cannot do without."""

BODY: dict[str, Any] = {
    "createOrUpdateResource": {"objectTypeProperty": {"arrayOfIntExample": [1, 2]}},
    "createOrOverwriteResource": {"objectTypeProperty": {"arrayOfIntExample": [1, 2]}},
    "overwriteResource": {"version": 1, "objectTypeProperty": {"arrayOfIntExample": [1, 2]}},
    "updateResourceById": {"version": 1, "actions": [{"action": "doSomeThing"}]},
    "postWithAllOptions": {"id": "an id"},
    "postDescriptionWithLinks": {"id": "an id"},
}

ALONE: dict[str, Any] = {
    "staged": True,
    "If-Match": '"1"',
    "If-None-Match": '"7"',
    "X-Correlation-ID": "my-app/0123",
    "sort": ["createdAt desc"],
    "limit": 5,
    "offset": 2,
    "withTotal": False,
    "where": ["version > 1"],
    "var": {"one": "dog"},
    "stringParameter": "dog",
    "floatParameter": 0.82,
    "integerParameter": 3,
    "withMarkdownDescription": 10.5,
    "objectParameter": {"arrayOfIntExample": [1]},
    "arrayOfString": ["dog"],
    "arrayOfStringWithDescription": ["bird"],
    "optionalQueryParameter": "one",
    "secondOptionalQueryParameter": "two",
    "expand": ["createdBy"],
    "version": 1,
    "text": {"en": "dog"},
    "fuzzy": True,
    "fuzzyLevel": 1,
    "filter": ["key:exists"],
    "filter.facets": ['arrayOfStringExample:"dog"'],
    "filter.query": ["version:range(1 to *)"],
    "facet": ["arrayOfStringExample"],
    "queryParameterOne": 0.5,
    "queryParameterTwo": "any text",
    "Prefer": "code=200",
    "Accept": "application/json",
}
"""A value of each parameter."""

TOGETHER: dict[str, Any] = {
    **ALONE,
    "sort": ["createdAt desc", "id"],
    "where": ["version > 1", "key in :names"],
    "var": {"names": ["a", "b"], "other": "c"},
    "arrayOfString": ["dog", "cat"],
    "expand": ["createdBy", "lastModifiedBy"],
    "text": {"en": "dog", "de": ["Hund", "Katze"]},
    "filter": ["key:exists", "version:1"],
    "facet": ["arrayOfStringExample", "version as versions"],
}
"""The same, with several values of what may be repeated."""


def plain(operation: str, **arguments: Any) -> Call:
    """A call with what the operation cannot do without, and more."""
    return Call(operation, {**PATH.get(operation, {}), **arguments}, BODY.get(operation))


def optional(operation: str) -> list[str]:
    """The parameters that an operation can do without."""
    return [each.argument for each in operations()[operation].parameters if each.place != "path"]


for place, (name, basic) in enumerate(BASICS.items()):
    method, path = operations()[name].method, operations()[name].path.removeprefix("/{projectKey}")
    sends(basic, f"{name} sends one {method} to {path}, with nothing but what the call has", CLAUSES[name], plain(name))
    sends(
        f"C-req-{101 + place}",
        f"{name} sends each of its parameters alone",
        CLAUSES[name],
        *(plain(name, **{each: ALONE[each]}) for each in optional(name)),
    )
    sends(
        f"C-req-{121 + place}",
        f"{name} sends all of its parameters together",
        CLAUSES[name],
        plain(name, **{each: TOGETHER[each] for each in optional(name)}),
    )


@scenario(AUTHORIZED, "each request has the access token once, as Authorization: Bearer", "A-1 A-5")
def each_request_is_authorized(stage: Stage) -> None:
    called = ("getResourceById", "createOrUpdateResource", "searchProductProjections", "checkResources")
    stage.each(map(plain, called), Done.expect_authorization)
