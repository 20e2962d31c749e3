"""Behaviour: connections and pages."""

import time

from sample_resource_testkit.client.operations import Call
from sample_resource_testkit.client.registry import scenario
from sample_resource_testkit.client.scenarios.answers_scripted import RESOURCE
from sample_resource_testkit.client.scenarios.sending import ID
from sample_resource_testkit.client.scripted import Reply
from sample_resource_testkit.client.stage import Stage


@scenario("C-do-43")
def keeps_its_connection(stage: Stage) -> None:
    client = stage.client()
    done = [client.read(1).expect_success() for _ in range(5)]
    count = len({sent.connection for sent in stage.requests()})
    done[-1].expect(count == 1, f"5 calls used {count} connections, and one is enough")


@scenario("C-do-44")
def keeps_its_connection_after_errors(stage: Stage) -> None:
    client = stage.client()
    done = [client.call("getResourceById", {"id": ID}).expect_error("http", status=404) for _ in range(4)]
    count = len({sent.connection for sent in stage.requests()})
    done[-1].expect(count == 1, f"4 calls that were answered 404 used {count} connections, and one is enough")


@scenario("C-do-45")
def replaces_a_connection(stage: Stage) -> None:
    stage.script(Reply(body=RESOURCE, headers={"Connection": "close"}, closes=True))
    client = stage.client()
    for _ in range(3):
        client.call("getResourceById", {"id": ID}).expect_known(RESOURCE)


@scenario("C-do-46")
def replaces_an_idle_connection(stage: Stage) -> None:
    stage.script(Reply(body=RESOURCE, closes=True))
    client = stage.client()
    for _ in range(3):
        client.call("getResourceById", {"id": ID}).expect_known(RESOURCE)
        time.sleep(0.3)


@scenario("C-do-47")
def sends_one_request(stage: Stage) -> None:
    made = stage.make()
    client = stage.client()
    for call in (
        Call("getResourceById", {"id": made["id"]}),
        Call("checkResources"),
        Call("updateResourceById", {"id": made["id"]}, {"version": 1, "actions": [{"action": "doSomeThing"}]}),
        Call("deleteResourceById", {"id": made["id"]}),
    ):
        client.call(call.operation, call.arguments, call.body).expect_success().expect_requests(1)


@scenario("C-do-53")
def no_header_twice(stage: Stage) -> None:
    stage.script(Reply(body=RESOURCE))
    body = {"id": ID, "objectTypeProperty": {}}
    done = stage.client().call("createOrUpdateResource", {"If-Match": '"1"'}, body).expect_success()
    for sent in done.sent:
        names = [name.lower() for name, _ in sent.headers]
        twice = sorted({name for name in names if names.count(name) > 1})
        done.expect(not twice, f"{', '.join(twice)} is sent more than once")
