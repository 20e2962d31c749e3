"""Answers that the service does not give, or not in this form, but that another server may give."""

import gzip
from functools import partial
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


def answered(number: str, *given: tuple[Any, Reply | None], operation: str = "getResourceById") -> None:
    """Register a scenario: a server sends replies, and the result of the client has the wanted members.

    :param given: what is wanted, and the reply; None for a plain reply with what is wanted.
    """

    @scenario(number)
    def play(stage: Stage) -> None:
        arguments = {"id": RESOURCE["id"]} if operation.endswith("ById") else {}

        def one(wanted: Any, reply: Reply | None) -> None:
            stage.script(reply or Reply(body=wanted))
            stage.client().call(operation, arguments).expect_known(wanted)

        stage.all_of(partial(one, *each) for each in given)


def changed(**members: Any) -> dict[str, Any]:
    return {**RESOURCE, **members}


# Numbers, times and texts in the notation of other servers

answered(
    "C-ans-50",
    (changed(createdAt="2016-12-31T23:59:59.999Z", lastModifiedAt="2017-01-01T00:00:00.001Z"), None),
    (changed(createdAt="2016-02-29T00:00:00.000Z"), None),
    (changed(createdAt="1969-12-31T23:59:59.999Z", lastModifiedAt="2099-06-30T12:00:00.500Z"), None),
)
answered("C-ans-53", (changed(version=2**31 + 1), None))
answered(
    "C-ans-54",
    (
        changed(objectTypeProperty={"arrayOfNumberNoDefaultsExample": [3, 100, 25]}),
        Reply(
            body='{"id": "01a2032c-47e7-7238-9557-4a15aa7b8370", "version": 2, "key": "my-key", '
            '"createdAt": "2016-02-28T16:41:41.090Z", "lastModifiedAt": "2016-02-28T16:41:42.105Z", '
            '"createdBy": {"typeId": "api-client", "id": "my-client"}, '
            '"lastModifiedBy": {"typeId": "api-client", "id": "my-client"}, "someProperty": "any string", '
            '"objectTypeProperty": {"arrayOfNumberNoDefaultsExample": [3.0, 1e2, 2.5E+1]}}'
        ),
    ),
)
answered(
    "C-ans-55",
    (
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
    ),
    (
        RESOURCE,
        Reply(
            body=(" \r\n\t" + repr(RESOURCE).replace("'", '"').replace(", ", "\n,\t").replace(": ", " :\r\n ") + "\n\n")
        ),
    ),
)

# How an answer is sent

answered(
    "C-ans-57",
    (changed(someProperty=UNICODE * 50), Reply(body=changed(someProperty=UNICODE * 50), wire="chunked")),
    (changed(someProperty=UNICODE), Reply(body=changed(someProperty=UNICODE), wire="drip")),
    (RESOURCE, Reply(body=RESOURCE, headers={"Content-Length": None, "Connection": "close"}, closes=True)),
)
answered(
    "C-ans-60",
    (RESOURCE, Reply(body=RESOURCE, headers={"Content-Type": "Application/JSON"})),
    (
        changed(someProperty=UNICODE),
        Reply(body=changed(someProperty=UNICODE), headers={"Content-Type": 'application/json; charset="UTF-8"'}),
    ),
    (RESOURCE, Reply(body=RESOURCE, headers={"Content-Type": None, "content-type": "application/json", "etag": '"2"'})),
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

answered(
    "C-ans-64",
    (RESOURCE, Reply(body={**RESOURCE, "sandboxOfTomorrow": {"a": [1, None]}, "another": None})),
    (
        RESOURCE,
        Reply(body={**RESOURCE, "objectTypeProperty": {**RESOURCE["objectTypeProperty"], "arrayOfTomorrow": [{}]}}),
    ),
    (changed(createdBy={"typeId": "api-client-of-tomorrow", "id": "x"}), None),
)
answered(
    "C-ans-66",
    (page(FLAT), Reply(body={**page({**FLAT, "new": True}), "nextCursor": "abc"})),
    operation="listResources",
)
answered(
    "C-ans-68",
    (page(facets={"f": terms(dataType="money")}), None),
    (page(facets={"f": {"type": "histogram", "count": 7}}), None),
    (page(facets={"f": terms()}), Reply(body=page(facets={"f": terms(median="x")}))),
    operation="searchResources",
)
answered("C-ans-71", (page(FLAT, total=10_000, totalCapped=True), None), operation="listResources")
answered(
    "C-ans-72",
    (
        page(
            facets={
                "f": terms(terms=[{"term": "1", "count": 2}]),
                "g": terms(dataType="number", terms=[{"term": 2.5, "count": 1, "productCount": 1}]),
            }
        ),
        None,
    ),
    operation="searchResources",
)


@scenario("C-ans-73")
def another_success(stage: Stage) -> None:
    for status in (200, 201):
        stage.script(Reply(status, RESOURCE))
        stage.client().call("createOrUpdateResource", {}, {"objectTypeProperty": {}}).expect_known(RESOURCE)
