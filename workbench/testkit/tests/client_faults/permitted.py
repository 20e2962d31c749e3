"""No faults: what clauses permit, all at once. With it the reference adapter passes each scenario that is a must."""

from typing import Any

from sample_resource_testkit.client.operations import ANY_VALUE, operations
from sample_resource_testkit.client.scenarios.requests_bodies import OBJECT_TYPE

from client_faults.planting import around, bodies_changed

ITEM = dict.fromkeys(("integerExample", "integerExampleInt32"))
PERSON = dict.fromkeys(("firstName", "lastName"))


def object_type(value: dict[str, Any]) -> dict[str, Any]:
    items = {name: [{**ITEM, **item} for item in given] for name, given in value.items() if name == "arrayOfObjectType"}
    return {**dict.fromkeys(OBJECT_TYPE), **value, **items}


def action_of(action: dict[str, Any]) -> dict[str, Any]:
    is_change = action["action"] == "changeSomeProperty"
    return {"staged": False if is_change else None, "someProperty": None, **action}


def body_of(body: Any) -> Any:
    """A body with null for each field that it does not have (4-18), and with the default of ``staged``."""
    if body is None:
        return None
    if "actions" in body:
        return {**body, "actions": [action_of(action) for action in body["actions"]]}
    if "objectTypeProperty" in body:
        named = dict.fromkeys(("id", "key", "version"))
        return {**named, **body, "objectTypeProperty": object_type(body["objectTypeProperty"])}
    persons = {name: {**PERSON, **body[name]} for name in ("createdBy", "lastModifiedBy") if name in body}
    return {
        **dict.fromkeys((*ANY_VALUE, "createdAt", "lastModifiedAt", "createdBy", "lastModifiedBy")),
        **body,
        **persons,
    }


def plant(adapter: Any) -> None:
    bodies_changed(adapter, body_of)

    async def call(former: Any, self: Any, operation: str, arguments: Any, body: Any) -> Any:
        described = operations()[operation]
        taken = {**arguments, **(body or {})} if described.fields else arguments
        defaults = {
            each.name: each.default
            for each in described.fields or described.parameters
            if each.default is not None and taken.get(each.name) is None
        }
        if described.fields:
            return await former(self, operation, arguments, {**(body or {}), **defaults})
        if isinstance(arguments.get("objectParameter"), dict):
            arguments = {**arguments, "objectParameter": object_type(arguments["objectParameter"])}
        return await former(self, operation, {**arguments, **defaults}, body)

    around(adapter.Client, "call", call)
