"""Answers of the service: the client returns the value of each of them."""

from typing import Any
from urllib.parse import parse_qs

from sample_resource_testkit.client.done import Done
from sample_resource_testkit.client.operations import Call
from sample_resource_testkit.client.registry import scenario
from sample_resource_testkit.client.scenarios.requests_bodies import OBJECT_TYPE, RECORD
from sample_resource_testkit.client.scenarios.requests_values import QUOTES, UNICODE
from sample_resource_testkit.client.scenarios.sending import drawn_number, drawn_text
from sample_resource_testkit.client.stage import Stage

FORM = "application/x-www-form-urlencoded"


def returns(stage: Stage, operation: str, arguments: dict[str, Any] | None = None, body: Any = None) -> None:
    """Call an operation, and expect that the result means the same as the answer."""
    stage.client().call(operation, arguments, body).expect_result()


@scenario("C-ans-1")
def a_resource(stage: Stage) -> None:
    made = stage.make(OBJECT_TYPE, key="all-fields")
    stage.update(made, {"action": "changeSomeProperty", "someProperty": "any string"})
    returns(stage, "getResourceById", {"id": made["id"]})


@scenario("C-ans-2")
def an_empty_resource(stage: Stage) -> None:
    returns(stage, "getResourceById", {"id": stage.make()["id"]})


@scenario("C-ans-3")
def a_resource_by_key(stage: Stage) -> None:
    stage.make(OBJECT_TYPE, key="by-key")
    returns(stage, "getResourceByKey", {"key": "by-key"})


@scenario("C-ans-4")
def create_and_update(stage: Stage) -> None:
    client = stage.client()
    body = {"key": "written", "objectTypeProperty": OBJECT_TYPE}
    for _ in range(2):
        client.call("createOrUpdateResource", {}, body).expect_result()


@scenario("C-ans-5")
def overwritten(stage: Stage) -> None:
    client = stage.client()
    for version in (0, 1):
        body = {"key": "put", "objectTypeProperty": {"arrayOfIntExample": [version]}}
        client.call("createOrOverwriteResource", {}, body).expect_result()


@scenario("C-ans-6")
def patched(stage: Stage) -> None:
    made = stage.make(OBJECT_TYPE)
    body = {"id": made["id"], "version": made["version"], "objectTypeProperty": {"arrayOfStringExample": ["x"]}}
    returns(stage, "overwriteResource", {}, body)


@scenario("C-ans-7")
def updated(stage: Stage) -> None:
    made = stage.make(OBJECT_TYPE)
    actions = [{"action": "changeSomeProperty", "someProperty": UNICODE}]
    returns(stage, "updateResourceById", {"id": made["id"]}, {"version": 1, "actions": actions})


@scenario("C-ans-8")
def deleted(stage: Stage) -> None:
    returns(stage, "deleteResourceById", {"id": stage.make(OBJECT_TYPE)["id"], "version": 1})


@scenario("C-ans-9")
def listed(stage: Stage) -> None:
    stage.make(OBJECT_TYPE, key="first-one")
    stage.make()
    returns(stage, "listResources")


@scenario("C-ans-10")
def an_empty_page(stage: Stage) -> None:
    returns(stage, "listResources", {"stringParameter": "nothing has this"})


@scenario("C-ans-11")
def listed_in_order(stage: Stage) -> None:
    for count in range(3):
        stage.make(OBJECT_TYPE, key=f"number-{count}")
    returns(stage, "listResourcesSorted", {"sort": ["key desc"], "limit": 2, "offset": 1})


@scenario("C-ans-12")
def without_total(stage: Stage) -> None:
    stage.make()
    returns(stage, "listResourcesSorted", {"withTotal": False})


@scenario("C-ans-13")
def expanded(stage: Stage) -> None:
    stage.make()
    returns(stage, "listResourcesSorted", {"expand": ["createdBy", "lastModifiedBy"]})


@scenario("C-ans-14")
def searched(stage: Stage) -> None:
    made = stage.make({"arrayOfStringExample": ["dog"]})
    stage.update(made, {"action": "changeSomeProperty", "someProperty": "dogs", "staged": True})
    returns(stage, "searchResources", {"text": {"en": "dog"}, "staged": True})


FACETS = [
    ["arrayOfStringExample"],
    ["arrayOfIntExample", "version as versions counting products"],
    ["arrayOfFloatExample:range(* to 0), (0 to *)"],
    ['arrayOfStringExample:"dog","cat"'],
    ["createdAt"],
    ["key as k", "version:1", "version:range(0 to 9) as r"],
]
"""Terms of texts, numbers and times, ranges, filters, and all three kinds under names of their own."""


@scenario("C-ans-15")
def faceted(stage: Stage) -> None:
    stage.make(OBJECT_TYPE, key="with-all")
    stage.make({"arrayOfStringExample": ["dog"], "arrayOfIntExample": [2]})
    stage.each((Call("searchResources", {"facet": facets}) for facets in FACETS), Done.expect_result)


@scenario("C-ans-21")
def searched_by_form(stage: Stage) -> None:
    stage.make({"arrayOfStringExample": ["dog"]})
    returns(stage, "searchProductProjections", {}, {"text": {"en": "dog"}, "facet": ["version"]})


@scenario("C-ans-22")
def exists(stage: Stage) -> None:
    stage.make()
    stage.client().call("checkResources").expect_result(True)


@scenario("C-ans-23")
def exists_not(stage: Stage) -> None:
    stage.client().call("checkResources", {"stringParameter": "nothing has this"}).expect_result(False)


@scenario("C-ans-24")
def not_modified(stage: Stage) -> None:
    made = stage.make(key="unchanged")
    client = stage.client()
    client.call("getResourceById", {"id": made["id"], "If-None-Match": '"1"'}).expect_result(None)
    client.call("getResourceByKey", {"key": "unchanged", "If-None-Match": "*"}).expect_result(None)


@scenario({"C-ans-25": "application/json", "C-ans-28": FORM})
def alternative(stage: Stage, accept: str) -> None:
    arguments = {"uriParameterOne": "a b", "uriParameterTwo": "é&c", "queryParameterOne": 2, "Accept": accept}
    record = {**RECORD, "custom": 7, "version": 0.5}

    def judge(done: Done) -> None:
        if accept == FORM:
            done.expect_result(parse_qs(done.sent[-1].answer if done.sent else "", keep_blank_values=True))
        else:
            done.expect_result()

    stage.each(
        (Call("postWithAllOptions", {**arguments, "Prefer": f"code={status}"}, record) for status in (200, 201, 203)),
        judge,
    )


@scenario("C-ans-31")
def with_links(stage: Stage) -> None:
    returns(stage, "postDescriptionWithLinks", {"queryParameterOne": 0.5, "queryParameterTwo": QUOTES}, RECORD)


@scenario("C-ans-32")
def with_times(stage: Stage) -> None:
    returns(stage, "postDescriptionWithLinks", {"Prefer": "code=202"}, {"lastModifiedAt": "2016-02-28T16:41:41.090Z"})


# Values that the service keeps

INT32S = [{"integerExample": 0, "integerExampleInt32": -(2**31)}, {"integerExampleInt32": 2**31 - 1}]


VALUES: dict[str, list[dict[str, Any]]] = {
    "C-ans-33": [
        {"arrayOfIntExample": [0, -1], "arrayOfObjectType": INT32S},
        {"arrayOfIntExample": [2**53 - 1, -(2**53) + 1, 2**32]},
    ],
    "C-ans-35": [{"arrayOfIntExample": [2**53 + 1]}, {"arrayOfIntExample": [-(2**63), 2**63 - 1]}],
    "C-ans-37": [
        {"arrayOfFloatExample": [0.1, 0.30000000000000004, 1e-7]},
        {"arrayOfFloatExample": [1e21, 5e-324, 1.7976931348623157e308]},
        {"arrayOfNumberNoDefaultsExample": [1, 1.5, 2.0, -3], "arrayOfTwonumbersExample": [7, 0.5]},
    ],
    "C-ans-39": [
        {"arrayOfStringExample": [UNICODE, "👩‍👩‍👧"]},
        {"arrayOfStringExample": [QUOTES, "a\tb\r\nc\u0001\u2028", "\\u0041"]},
        {"arrayOfStringExample": [""]},
    ],
    "C-ans-42": [
        {"arrayOfIntExample": [], "arrayOfStringExample": []},
        {"arrayOfIntExample": [3, 1, 2, 3, 3], "arrayOfStringExample": ["b", "a", "b"]},
        {"arrayOfObjectType": [{"integerExample": 1}, {}, {"integerExampleInt32": 2}]},
    ],
    "C-ans-46": [{"arrayOfIntExample": list(range(10_000))}, {"arrayOfStringExample": ["0123456789" * 6_000]}],
}


@scenario({number: (values,) for number, values in VALUES.items()})
def kept(stage: Stage, values: list[dict[str, Any]]) -> None:
    made = {each["id"]: each for each in map(stage.make, values)}
    stage.each(
        (Call("getResourceById", {"id": each}) for each in made),
        lambda done: done.expect_result(made[done.call.arguments["id"]]),
    )


@scenario("C-ans-48")
def a_long_page(stage: Stage) -> None:
    stage.populate(500)
    done = stage.client().call("listResourcesSorted", {"limit": 500, "sort": ["id"]}).expect_success()
    done.expect_result(stage.read("/sorted-query-parameters?limit=500&sort=id"))


@scenario("C-ans-74")
def drawn_values(stage: Stage) -> None:
    drawn = {
        "arrayOfFloatExample": [drawn_number(stage) for _ in range(50)],
        "arrayOfStringExample": [drawn_text(stage) for _ in range(20)],
    }
    made = stage.make(drawn)
    # the numbers as they were drawn: the answer may have 75484683669105800, which a client may read as a double
    wanted = {**made, "objectTypeProperty": {**made["objectTypeProperty"], **drawn}}
    stage.client().call("getResourceById", {"id": made["id"]}).expect_result(wanted)


@scenario("C-ans-49")
def at_once(stage: Stage) -> None:
    made = [stage.make({"arrayOfIntExample": [count]}) for count in range(8)]
    done = stage.client().at_once(*(Call("getResourceById", {"id": each["id"]}) for each in made))
    for each, wanted in zip(done, made, strict=True):
        # not expect_result: nothing shows which request belongs to which call
        each.expect(each.at("id") == wanted["id"], _ANOTHERS)
    # Slow answers, so that the requests to one path overlap.
    stage.rules({"delayMs": 200})
    lists = [Call("listResources", {"limit": limit} if limit else {}) for limit in range(5)]
    done = stage.client().at_once(Call("checkResources"), *lists)
    count = sum(sent.operation != "getResourceById" for sent in done[0].sent)
    done[0].expect(count >= len(done), f"{len(done)} calls that all differ came to {count} requests")
    for each in done:
        if each.call.operation == "checkResources":
            found, wanted = each.expect_success().returned.result, True
        else:
            found, wanted = len(each.at("results")), each.call.arguments.get("limit", len(made))
        if found != wanted:
            raise each.answered_wrong(_ANOTHERS)


_ANOTHERS = "the client returned the answer to another call"
