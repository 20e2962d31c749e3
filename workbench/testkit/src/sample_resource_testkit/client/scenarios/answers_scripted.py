"""Answers that the service does not give, or not in this form, but that another server may give."""

import gzip
from typing import Any

from sample_resource_testkit.client.registry import scenario
from sample_resource_testkit.client.scenarios.requests_values import UNICODE
from sample_resource_testkit.client.scripted import Reply
from sample_resource_testkit.client.stage import Stage

RESOURCE: dict[str, Any] = {
    "id": "01a2032c-47e7-7238-9557-4a15aa7b8370",
    "version": 2,
    "key": "my-key",
    "createdAt": "2016-02-28T16:41:41.090Z",
    "lastModifiedAt": "2016-02-28T16:41:42.105Z",
    "createdBy": {"typeId": "api-client", "id": "my-client"},
    "lastModifiedBy": {"typeId": "api-client", "id": "my-client"},
    "objectTypeProperty": {"arrayOfIntExample": [1, 2, 1], "arrayOfStringExample": ["dog"]},
    "someProperty": "any string",
}

FLAT: dict[str, Any] = {
    **{name: RESOURCE[name] for name in ("id", "version", "key", "createdAt", "lastModifiedAt")},
    "arrayOfFloatExample": [0.5],
}


def page(*results: Any, **members: Any) -> dict[str, Any]:
    return {"limit": 20, "offset": 0, "count": len(results), "total": len(results), **members, "results": list(results)}


def terms(**members: Any) -> dict[str, Any]:
    return {"type": "terms", "dataType": "text", "missing": 0, "total": 1, "other": 0, "terms": [], **members}


def answered(number: str, wanted: Any, reply: Reply | None = None, operation: str = "getResourceById") -> None:
    """Register a scenario: a server sends a reply, and the result of the client has the wanted members."""

    @scenario(number)
    def play(stage: Stage) -> None:
        stage.script(reply or Reply(body=wanted))
        arguments = {"id": RESOURCE["id"]} if operation.endswith("ById") else {}
        stage.client().call(operation, arguments).expect_known(wanted)


def changed(**members: Any) -> dict[str, Any]:
    return {**RESOURCE, **members}


# Numbers, times and texts in the notation of other servers

answered("C-ans-50", changed(createdAt="2016-12-31T23:59:59.999Z", lastModifiedAt="2017-01-01T00:00:00.001Z"))
answered("C-ans-51", changed(createdAt="2016-02-29T00:00:00.000Z"))
answered("C-ans-52", changed(createdAt="1969-12-31T23:59:59.999Z", lastModifiedAt="2099-06-30T12:00:00.500Z"))
answered("C-ans-53", changed(version=2**31 + 1))
answered(
    "C-ans-54",
    changed(objectTypeProperty={"arrayOfNumberNoDefaultsExample": [3, 100, 25]}),
    Reply(
        body='{"id": "01a2032c-47e7-7238-9557-4a15aa7b8370", "version": 2, "key": "my-key", '
        '"createdAt": "2016-02-28T16:41:41.090Z", "lastModifiedAt": "2016-02-28T16:41:42.105Z", '
        '"createdBy": {"typeId": "api-client", "id": "my-client"}, '
        '"lastModifiedBy": {"typeId": "api-client", "id": "my-client"}, "someProperty": "any string", '
        '"objectTypeProperty": {"arrayOfNumberNoDefaultsExample": [3.0, 1e2, 2.5E+1]}}'
    ),
)
answered(
    "C-ans-55",
    changed(someProperty="é 😀 / \u2028"),
    Reply(
        body=(
            b'{"id": "01a2032c-47e7-7238-9557-4a15aa7b8370", "version": 2, "key": "my\\u002dkey",'
            b'"createdAt": "2016-02-28T16:41:41.090Z", "lastModifiedAt": "2016-02-28T16:41:42.105Z",'
            b'"createdBy": {"typeId": "api-client", "id": "my-client"},'
            b'"lastModifiedBy": {"typeId": "api-client", "id": "my-client"},'
            b'"objectTypeProperty": {"arrayOfIntExample": [1, 2, 1], "arrayOfStringExample": ["d\\u006fg"]},'
            b'"someProperty": "\\u00e9 \\ud83d\\ude00 \\/ \\u2028"}'
        )
    ),
)
answered(
    "C-ans-56",
    RESOURCE,
    Reply(body=(" \r\n\t" + repr(RESOURCE).replace("'", '"').replace(", ", "\n,\t").replace(": ", " :\r\n ") + "\n\n")),
)

# How an answer is sent

answered("C-ans-57", changed(someProperty=UNICODE * 50), Reply(body=changed(someProperty=UNICODE * 50), wire="chunked"))
answered("C-ans-58", changed(someProperty=UNICODE), Reply(body=changed(someProperty=UNICODE), wire="drip"))
answered(
    "C-ans-59", RESOURCE, Reply(body=RESOURCE, headers={"Content-Length": None, "Connection": "close"}, closes=True)
)
answered("C-ans-60", RESOURCE, Reply(body=RESOURCE, headers={"Content-Type": "Application/JSON"}))
answered(
    "C-ans-61",
    changed(someProperty=UNICODE),
    Reply(body=changed(someProperty=UNICODE), headers={"Content-Type": 'application/json; charset="UTF-8"'}),
)
answered(
    "C-ans-62",
    RESOURCE,
    Reply(body=RESOURCE, headers={"Content-Type": None, "content-type": "application/json", "etag": '"2"'}),
)


@scenario("C-ans-63")
def compressed(stage: Stage) -> None:
    body = gzip.compress(Reply(body=RESOURCE).content)
    stage.script(Reply(body=RESOURCE))
    client = stage.client()
    first = client.call("getResourceById", {"id": RESOURCE["id"]}).expect_result(RESOURCE)
    if any("gzip" in value for value in first.sent[-1].header("Accept-Encoding")):
        stage.script(Reply(body=body, headers={"Content-Encoding": "gzip"}))
        stage.client().call("getResourceById", {"id": RESOURCE["id"]}).expect_known(RESOURCE)


# Members and values of future versions

answered("C-ans-64", RESOURCE, Reply(body={**RESOURCE, "sandboxOfTomorrow": {"a": [1, None]}, "another": None}))
answered(
    "C-ans-65",
    RESOURCE,
    Reply(body={**RESOURCE, "objectTypeProperty": {**RESOURCE["objectTypeProperty"], "arrayOfTomorrow": [{}]}}),
)
answered("C-ans-66", page(FLAT), Reply(body={**page({**FLAT, "new": True}), "nextCursor": "abc"}), "listResources")
answered("C-ans-67", changed(createdBy={"typeId": "api-client-of-tomorrow", "id": "x"}))
answered("C-ans-68", page(facets={"f": terms(dataType="money")}), operation="searchResources")
answered("C-ans-69", page(facets={"f": {"type": "histogram", "count": 7}}), operation="searchResources")
answered("C-ans-70", page(facets={"f": terms()}), Reply(body=page(facets={"f": terms(median="x")})), "searchResources")
answered("C-ans-71", page(FLAT, total=10_000, totalCapped=True), operation="listResources")
answered(
    "C-ans-72",
    page(
        facets={
            "f": terms(terms=[{"term": "1", "count": 2}]),
            "g": terms(dataType="number", terms=[{"term": 2.5, "count": 1, "productCount": 1}]),
        }
    ),
    operation="searchResources",
)


@scenario("C-ans-73")
def another_success(stage: Stage) -> None:
    for status in (200, 201):
        stage.script(Reply(status, RESOURCE))
        stage.client().call("createOrUpdateResource", {}, {"objectTypeProperty": {}}).expect_known(RESOURCE)
