"""Requests: each operation without optional parameters, and with each one alone and all of them together."""

from typing import Any

from sample_resource_testkit.client.done import Done
from sample_resource_testkit.client.operations import Call, operations
from sample_resource_testkit.client.registry import AUTHORIZED, BASICS, scenario
from sample_resource_testkit.client.scenarios.sending import ID, KEY, sends
from sample_resource_testkit.client.stage import Stage

PATH: dict[str, dict[str, Any]] = {
    "getResourceByKey": {"key": KEY},
    "updateResourceById": {"id": ID},
    "getResourceById": {"id": ID},
    "deleteResourceById": {"id": ID},
    "postWithAllOptions": {"uriParameterOne": "one", "uriParameterTwo": "two"},
}
"""The required arguments by the operationId."""

BODY: dict[str, Any] = {
    "createOrUpdateResource": {"objectTypeProperty": {"arrayOfIntExample": [1, 2]}},
    "createOrOverwriteResource": {"objectTypeProperty": {"arrayOfIntExample": [1, 2]}},
    # With an id that no resource has: without it, the answer depends on what other scenarios have created.
    "overwriteResource": {"id": ID, "version": 1, "objectTypeProperty": {"arrayOfIntExample": [1, 2]}},
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
"""A value of each optional parameter."""

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
"""A value of each optional parameter, with several values for the repeatable ones."""


def plain(operation: str, **arguments: Any) -> Call:
    """A call with the required arguments of an operation and the given ones."""
    return Call(operation, {**PATH.get(operation, {}), **arguments}, BODY.get(operation))


def optional(operation: str) -> list[str]:
    """The optional parameters of an operation."""
    return [each.argument for each in operations()[operation].parameters if each.place != "path"]


for place, (name, basic) in enumerate(BASICS.items()):
    sends(basic, plain(name))
    alone = [plain(name, **{each: ALONE[each]}) for each in optional(name)]
    sends(f"C-req-{101 + place}", *alone, plain(name, **{each: TOGETHER[each] for each in optional(name)}))


@scenario(AUTHORIZED)
def each_request_is_authorized(stage: Stage) -> None:
    called = ("getResourceById", "createOrUpdateResource", "searchProductProjections", "checkResources")
    stage.each(map(plain, called), Done.expect_authorization)
