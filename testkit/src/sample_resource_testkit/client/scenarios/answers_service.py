"""Answers of the service: the client returns what each of them says."""

from typing import Any
from urllib.parse import parse_qs

from sample_resource_testkit.client.operations import Call
from sample_resource_testkit.client.registry import scenario
from sample_resource_testkit.client.scenarios.requests_bodies import OBJECT_TYPE, RECORD
from sample_resource_testkit.client.scenarios.requests_values import QUOTES, UNICODE
from sample_resource_testkit.client.scenarios.sending import drawn_number, drawn_text
from sample_resource_testkit.client.stage import Stage

FORM = "application/x-www-form-urlencoded"


def returns(stage: Stage, operation: str, arguments: dict[str, Any] | None = None, body: Any = None) -> None:
    """Call an operation; the result has to mean what the answer said."""
    stage.client().call(operation, arguments, body).expect_result()


@scenario("C-ans-1", "a resource is returned with all of its fields", "2.2-1 2.2-4 2.3-1 4.2-1")
def a_resource(stage: Stage) -> None:
    made = stage.make(OBJECT_TYPE, key="all-fields")
    stage.update(made, {"action": "changeSomeProperty", "someProperty": "any string"})
    returns(stage, "getResourceById", {"id": made["id"]})


@scenario("C-ans-2", "what a resource does not have is absent in the result", "2.2-9 2.3-2")
def an_empty_resource(stage: Stage) -> None:
    returns(stage, "getResourceById", {"id": stage.make()["id"]})


@scenario("C-ans-3", "a resource by its key is returned", "4.3-1")
def a_resource_by_key(stage: Stage) -> None:
    stage.make(OBJECT_TYPE, key="by-key")
    returns(stage, "getResourceByKey", {"key": "by-key"})


@scenario("C-ans-4", "POST returns the resource that it created (201), and that it updated (200)", "4.6-2 4.6-5")
def create_and_update(stage: Stage) -> None:
    client = stage.client()
    body = {"key": "written", "objectTypeProperty": OBJECT_TYPE}
    for _ in range(2):
        client.call("createOrUpdateResource", {}, body).expect_result()


@scenario("C-ans-5", "PUT returns the resource, created (201) or overwritten (200)", "4.8-9")
def overwritten(stage: Stage) -> None:
    client = stage.client()
    for version in (0, 1):
        body = {"key": "put", "objectTypeProperty": {"arrayOfIntExample": [version]}}
        client.call("createOrOverwriteResource", {}, body).expect_result()


@scenario("C-ans-6", "PATCH returns the resource", "4.7-2")
def patched(stage: Stage) -> None:
    made = stage.make(OBJECT_TYPE)
    body = {"id": made["id"], "version": made["version"], "objectTypeProperty": {"arrayOfStringExample": ["x"]}}
    returns(stage, "overwriteResource", {}, body)


@scenario("C-ans-7", "update by id returns the resource as it is then", "4.10-2 9-3")
def updated(stage: Stage) -> None:
    made = stage.make(OBJECT_TYPE)
    actions = [{"action": "changeSomeProperty", "someProperty": UNICODE}]
    returns(stage, "updateResourceById", {"id": made["id"]}, {"version": 1, "actions": actions})


@scenario("C-ans-8", "delete returns the deleted resource", "4.11-2")
def deleted(stage: Stage) -> None:
    returns(stage, "deleteResourceById", {"id": stage.make(OBJECT_TYPE)["id"], "version": 1})


@scenario("C-ans-9", "the list returns its page, with flat resources", "4.1-2 4.1-3")
def listed(stage: Stage) -> None:
    stage.make(OBJECT_TYPE, key="first-one")
    stage.make()
    returns(stage, "listResources")


@scenario("C-ans-10", "an empty page is returned as one", "4.1-2 2.1-3")
def an_empty_page(stage: Stage) -> None:
    returns(stage, "listResources", {"stringParameter": "nothing has this"})


@scenario("C-ans-11", "the sorted list returns its page, with whole resources", "4.12-2 4.12-3")
def listed_in_order(stage: Stage) -> None:
    for count in range(3):
        stage.make(OBJECT_TYPE, key=f"number-{count}")
    returns(stage, "listResourcesSorted", {"sort": ["key desc"], "limit": 2, "offset": 1})


@scenario("C-ans-12", "a page without total has none in the result", "4.12-8")
def without_total(stage: Stage) -> None:
    stage.make()
    returns(stage, "listResourcesSorted", {"withTotal": False})


@scenario("C-ans-13", "expanded references are returned with their obj", "4.12-19")
def expanded(stage: Stage) -> None:
    stage.make()
    returns(stage, "listResourcesSorted", {"expand": ["createdBy", "lastModifiedBy"]})


@scenario("C-ans-14", "a search returns its page, with hasStagedChanges and someProperty", "4.4-4 4.4-5 3-5")
def searched(stage: Stage) -> None:
    made = stage.make({"arrayOfStringExample": ["dog"]})
    stage.update(made, {"action": "changeSomeProperty", "someProperty": "dogs", "staged": True})
    returns(stage, "searchResources", {"text": {"en": "dog"}, "staged": True})


FACETS = {
    "C-ans-15": ("terms of texts", "S-30 S-31", ["arrayOfStringExample"]),
    "C-ans-16": ("terms of numbers", "S-30 S-55", ["arrayOfIntExample", "version as versions counting products"]),
    "C-ans-17": ("ranges", "S-36 S-38", ["arrayOfFloatExample:range(* to 0), (0 to *)"]),
    "C-ans-18": ("filters", "S-35", ['arrayOfStringExample:"dog","cat"']),
    "C-ans-19": ("terms of times", "S-33", ["createdAt"]),
    "C-ans-20": (
        "all three kinds under names of their own",
        "S-29",
        ["key as k", "version:1", "version:range(0 to 9) as r"],
    ),
}


def _faceted(number: str, what: str, of: str, facets: list[str]) -> None:
    @scenario(number, f"facets are returned as they were counted: {what}", of)
    def faceted(stage: Stage) -> None:
        stage.make(OBJECT_TYPE, key="with-all")
        stage.make({"arrayOfStringExample": ["dog"], "arrayOfIntExample": [2]})
        returns(stage, "searchResources", {"facet": facets})


for each, (what, of, facets) in FACETS.items():
    _faceted(each, what, of, facets)


@scenario("C-ans-21", "the search by a form returns its page", "4.14-2")
def searched_by_form(stage: Stage) -> None:
    stage.make({"arrayOfStringExample": ["dog"]})
    returns(stage, "searchProductProjections", {}, {"text": {"en": "dog"}, "facet": ["version"]})


@scenario("C-ans-22", "the existence check returns true for 200", "4.5-1")
def exists(stage: Stage) -> None:
    stage.make()
    stage.client().call("checkResources").expect_result(True)


@scenario("C-ans-23", "the existence check returns false for 404, and raises nothing", "4.5-2")
def exists_not(stage: Stage) -> None:
    stage.client().call("checkResources", {"stringParameter": "nothing has this"}).expect_result(False)


@scenario("C-ans-24", "304 returns null, and raises nothing", "H-2", level="should")
def not_modified(stage: Stage) -> None:
    made = stage.make(key="unchanged")
    client = stage.client()
    client.call("getResourceById", {"id": made["id"], "If-None-Match": '"1"'}).expect_result(None)
    client.call("getResourceByKey", {"key": "unchanged", "If-None-Match": "*"}).expect_result(None)


def _alternative(number: str, status: int, accept: str) -> None:
    kind = "as a form" if accept == FORM else "in JSON"

    @scenario(number, f"4.9 with {status} {kind} is returned", "4.9-9 4.9-10" if accept == FORM else "4.9-9")
    def alternative(stage: Stage) -> None:
        record = {**RECORD, "custom": 7, "version": 0.5}
        arguments = {"uriParameterOne": "a b", "uriParameterTwo": "é&c", "queryParameterOne": 2}
        client = stage.client()
        headers = {"Prefer": f"code={status}", "Accept": accept}
        done = client.call("postWithAllOptions", {**arguments, **headers}, record)
        if accept == FORM:
            done.expect_result(parse_qs(done.sent[-1].answer if done.sent else "", keep_blank_values=True))
        else:
            done.expect_result()


for count, (status, accept) in enumerate(
    (status, accept) for accept in ("application/json", FORM) for status in (200, 201, 203)
):
    _alternative(f"C-ans-{25 + count}", status, accept)


@scenario("C-ans-31", "4.13 with 200 returns the flat ObjectType", "4.13-2")
def with_links(stage: Stage) -> None:
    returns(stage, "postDescriptionWithLinks", {"queryParameterOne": 0.5, "queryParameterTwo": QUOTES}, RECORD)


@scenario("C-ans-32", "4.13 with 202 returns the date/time record", "4.13-3 2.5-1")
def with_times(stage: Stage) -> None:
    returns(stage, "postDescriptionWithLinks", {"Prefer": "code=202"}, {"lastModifiedAt": "2016-02-28T16:41:41.090Z"})


# Values that the service keeps

VALUES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "C-ans-33": (
        "0, negative numbers and the ends of int32",
        "2.3-10",
        {
            "arrayOfIntExample": [0, -1],
            "arrayOfObjectType": [
                {"integerExample": 0, "integerExampleInt32": -(2**31)},
                {"integerExampleInt32": 2**31 - 1},
            ],
        },
    ),
    "C-ans-34": ("integers up to 2^53", "2.3-5", {"arrayOfIntExample": [2**53 - 1, -(2**53) + 1, 2**32]}),
    "C-ans-35": ("2^53 + 1", "2.3-5", {"arrayOfIntExample": [2**53 + 1]}),
    "C-ans-36": ("the ends of int64", "2.3-5", {"arrayOfIntExample": [-(2**63), 2**63 - 1]}),
    "C-ans-37": (
        "fractions, with all of their digits",
        "2.3-6",
        {"arrayOfFloatExample": [0.1, 0.30000000000000004, 1e-7]},
    ),
    "C-ans-38": (
        "very large and very small numbers",
        "2.3-6",
        {"arrayOfFloatExample": [1e21, 5e-324, 1.7976931348623157e308]},
    ),
    "C-ans-39": (
        "Unicode beyond the BMP, and combining characters",
        "2.3-16",
        {"arrayOfStringExample": [UNICODE, "👩‍👩‍👧"]},
    ),
    "C-ans-40": (
        "quotes, controls and backslashes",
        "2.3-16",
        {"arrayOfStringExample": [QUOTES, "a\tb\r\nc\u0001\u2028", "\\u0041"]},
    ),
    "C-ans-41": ("the empty text", "2.3-16", {"arrayOfStringExample": [""]}),
    "C-ans-42": ("empty arrays, which are not absent", "2.3-4", {"arrayOfIntExample": [], "arrayOfStringExample": []}),
    "C-ans-43": (
        "the order of an array and its duplicates",
        "2.3-3",
        {"arrayOfIntExample": [3, 1, 2, 3, 3], "arrayOfStringExample": ["b", "a", "b"]},
    ),
    "C-ans-44": (
        "objects in arrays, with the members that they have",
        "2.3-20",
        {"arrayOfObjectType": [{"integerExample": 1}, {}, {"integerExampleInt32": 2}]},
    ),
    "C-ans-45": (
        "numbers with and without a fraction in one array",
        "2.3-5 2.3-6",
        {"arrayOfNumberNoDefaultsExample": [1, 1.5, 2.0, -3], "arrayOfTwonumbersExample": [7, 0.5]},
    ),
    "C-ans-46": ("an array of 10,000 items", "2.3-19", {"arrayOfIntExample": list(range(10_000))}),
    "C-ans-47": ("a text of 100,000 characters", "2.3-16", {"arrayOfStringExample": ["0123456789" * 10_000]}),
}


def _kept(number: str, what: str, of: str, value: dict[str, Any], needs: str) -> None:
    @scenario(number, f"values are returned as they are: {what}", of, needs=needs)
    def kept(stage: Stage) -> None:
        made = stage.make(value)
        stage.client().call("getResourceById", {"id": made["id"]}).expect_result(made)


for each, (what, of, value) in VALUES.items():
    _kept(each, what, of, value, "C-ans-35" if each == "C-ans-36" else "")


@scenario("C-ans-48", "a page of 500 resources is returned whole", "4.12-4")
def a_long_page(stage: Stage) -> None:
    stage.populate(500)
    done = stage.client().call("listResourcesSorted", {"limit": 500, "sort": ["id"]}).expect_success()
    done.expect_result(stage.read("/sorted-query-parameters?limit=500&sort=id"))


@scenario(
    "C-ans-74", "drawn numbers and texts are returned as they are", "2.3-6 2.3-16", needs="C-ans-37 C-ans-39 C-ans-40"
)
def drawn_values(stage: Stage) -> None:
    drawn = {
        "arrayOfFloatExample": [drawn_number(stage) for _ in range(50)],
        "arrayOfStringExample": [drawn_text(stage) for _ in range(20)],
    }
    made = stage.make(drawn)
    # the numbers as they were drawn: the answer may have 75484683669105800, which a client may read as a double
    wanted = {**made, "objectTypeProperty": {**made["objectTypeProperty"], **drawn}}
    stage.client().call("getResourceById", {"id": made["id"]}).expect_result(wanted)


@scenario("C-ans-49", "calls at the same time return their own answers", "4.2-1")
def at_once(stage: Stage) -> None:
    made = [stage.make({"arrayOfIntExample": [count]}) for count in range(8)]
    done = stage.client().at_once(*(Call("getResourceById", {"id": each["id"]}) for each in made))
    for each, wanted in zip(done, made, strict=True):
        # not expect_result: which of the requests is whose cannot be told
        each.expect(each.at("id") == wanted["id"], "the client returned the answer to another call")


HARD = 'the "Dog\\Cat" \\" '
"""A text that a predicate cannot have as it is: with quotes, and backslashes also before them."""

LITERAL = HARD.replace("\\", "\\\\").replace('"', '\\"')


def _found(number: str, how: str, of: str, arguments: dict[str, Any]) -> None:
    @scenario(number, f"a predicate with quotes and backslashes in {how} finds the text that has them", of)
    def found(stage: Stage) -> None:
        made = stage.make()
        stage.make()
        stage.update(made, {"action": "changeSomeProperty", "someProperty": HARD})
        done = stage.client().call("listResourcesSorted", arguments).expect_request().expect_result()
        ids = done.at("results", "id")
        done.expect(ids == [made["id"]], f"the page has {len(ids)} resources, and one has the text")


_found("C-ans-75", "a literal", "Q-21", {"where": [f'someProperty = "{LITERAL}"']})
_found("C-ans-76", "a variable", "Q-21", {"where": ["someProperty = :text"], "var": {"text": HARD}})
