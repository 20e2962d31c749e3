"""The examples of the specification are what the service answers."""

import json
import re

from flask import Flask

from tests.specification.clauses import DOCUMENT
from tests.support.api import Api
from tests.support.fixtures import TokenFor

# The examples of the document

EXAMPLES = [json.loads(block) for block in re.findall(r"```json\n(.*?)\n```", DOCUMENT.read_text("utf-8"), re.DOTALL)]


def test_the_examples_are_what_the_service_answers(app: Flask, api: Api, token_for: TokenFor) -> None:
    resource, page, echo, conflict, faults = EXAMPLES
    client = Api(app, api.project, token_for(f"manage_test:{api.project}", client_id="my-client"))
    created = client.create(resource["objectTypeProperty"], key=resource["key"])
    updated = client.update(created, {"action": "changeSomeProperty", "someProperty": resource["someProperty"]})
    own = {name: updated[name] for name in ("id", "createdAt", "lastModifiedAt")}
    assert list(updated) == list(resource | own)
    assert updated == resource | own

    stale = client.post(f"/{updated['id']}", json={"version": 1, "actions": []})
    assert stale.get_json() == json.loads(json.dumps(conflict).replace(resource["id"], updated["id"]))

    page["results"][0] |= own
    assert client.get().get_json() == page

    record = {"id": "i", "version": 3, "custom": True, "createdBy": {"firstName": "John"}}
    path = "/artificially-complex/path/uri-parameter-one=a%2Fb/c?queryParameterOne=2.5"
    assert client.post(path, json=record).get_json() == echo

    body = {"objectTypeProperty": {"arrayOfIntExample": ["4"], "arrayOfTwonumbersExample": [1]}}
    assert client.post("?stagd=true", json=body).get_json() == faults
