"""The commercetools SDK for Python; docs/workbench/clients.md shows parts of this file."""

import os
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from commercetools.base_client import BaseClient
from commercetools.exceptions import CommercetoolsError
from commercetools.paginators import CursorPaginator
from commercetools.platform.models import ConcurrentModificationError, ErrorResponse, ResourceNotFoundError
from commercetools.predicates import QueryPredicate

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # otherwise oauthlib refuses to send credentials over http

URL = os.environ["BASE_URL"]
PROJECT = os.environ["PROJECT"]
COLLECTION = f"/{PROJECT}/resource"


class Resources(BaseClient):
    """The service's endpoints on the SDK's session, which gets tokens and tries again."""

    def put(self, **body: Any) -> dict[str, Any]:
        return self._body(self._http_client.put(self._base_url + COLLECTION, json=body))

    def get_by_key(self, key: str) -> dict[str, Any]:
        return self._body(self._get(f"{COLLECTION}/key={key}", params={}))

    def update(self, resource: dict[str, Any], *actions: dict[str, Any], force_version: bool = False) -> dict[str, Any]:
        body = {"version": resource["version"], "actions": list(actions)}
        options = {"force_version": force_version}
        return self._body(self._post(f"{COLLECTION}/{resource['id']}", params={}, json=body, options=options))

    def delete(self, resource: dict[str, Any]) -> dict[str, Any]:
        return self._body(self._delete(f"{COLLECTION}/{resource['id']}", params={"version": resource["version"]}))

    def query(self, **params: Any) -> SimpleNamespace:
        page = self._body(self._get(f"{COLLECTION}/sorted-query-parameters", params=params))
        results = [
            SimpleNamespace(created_at=datetime.fromisoformat(found["createdAt"]), body=found)
            for found in page["results"]
        ]
        return SimpleNamespace(count=page["count"], results=results)

    def _body(self, answer: Any) -> dict[str, Any]:
        if answer.ok:
            return answer.json()
        raise self._create_exception(ErrorResponse.deserialize(answer.json()), answer)


def connected() -> Resources:
    return Resources(
        client_id=os.environ["CLIENT_ID"],
        client_secret=os.environ["CLIENT_SECRET"],
        scope=[f"manage_test:{PROJECT}", f"view_test:{PROJECT}"],
        url=URL,
        token_url=URL,  # the SDK adds /oauth/token
    )


def refusal(call: Any, *arguments: Any) -> CommercetoolsError:
    """The exception that the SDK raises for a call."""
    try:
        call(*arguments)
    except CommercetoolsError as error:
        return error
    raise AssertionError("the call was not refused")


def recover_from_conflict(client: Resources) -> None:
    """An update with an old version is 409; with force_version the SDK sends it again with the current version."""
    pet = client.put(key="sdk-pet", objectTypeProperty={"arrayOfStringExample": ["dog"]})
    client.update(pet, {"action": "doSomeThing"})

    late = refusal(client.update, pet, {"action": "doSomeThing"})
    [conflict] = late.response.errors
    assert isinstance(conflict, ConcurrentModificationError)
    assert (conflict.message, conflict.current_version) == (str(late), pet["version"] + 1)
    assert late.correlation_id

    # Another action, because the sandbox reports the same update with the refused version as a mistake.
    changed = {"action": "changeSomeProperty", "someProperty": "forced"}
    updated = client.update(pet, changed, force_version=True)
    assert updated["version"] == pet["version"] + 2
    assert client.get_by_key("sdk-pet") == updated

    client.delete(updated)
    gone = refusal(client.get_by_key, "sdk-pet")
    assert isinstance(gone.response.errors[0], ResourceNotFoundError)


def read_all_pages(client: Resources) -> None:
    """The SDK's predicates and pages; each page is requested with the time of the last result of the previous one."""
    keys = [f"page-pet-{number}" for number in range(5)]
    for key in keys:
        client.put(key=key, objectTypeProperty={})

    found = CursorPaginator(client.query, where=[str(QueryPredicate(key__in=keys))])
    found.page_size = 2
    pets = [result.body for result in found]
    assert [pet["key"] for pet in pets] == keys

    for pet in pets:
        client.delete(pet)


session = connected()
recover_from_conflict(session)
read_all_pages(session)
