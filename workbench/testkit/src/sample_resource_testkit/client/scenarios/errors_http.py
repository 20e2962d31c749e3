"""Errors: answers without success. The client raises an error of the kind ``http`` with the values of the answer."""

from collections.abc import Mapping
from typing import Any

from sample_resource_testkit.client.operations import Call
from sample_resource_testkit.client.registry import scenario
from sample_resource_testkit.client.scenarios.answers_scripted import RESOURCE
from sample_resource_testkit.client.scenarios.requests_values import UNICODE
from sample_resource_testkit.client.scenarios.sending import ID, creating
from sample_resource_testkit.client.scripted import Reply
from sample_resource_testkit.client.stage import Stage

NEW = creating({})
"""A call that no client repeats by itself: a POST without id, key and version."""

HTML = "<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>"

GET = Call("getResourceById", {"id": ID})


def body(status: int, *entries: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    """An error body of the platform."""
    return {"statusCode": status, "message": entries[0]["message"] if entries else "m", "errors": entries, **members}


# Answers of the service


@scenario("C-err-1")
def a_bad_parameter(stage: Stage) -> None:
    message = "Malformed parameter: where: Syntax error while parsing 'where'."
    done = stage.client().call("listResourcesSorted", {"where": ["no predicate ("]})
    done.expect_request().expect_error("http", status=400, code="InvalidInput")
    shown = (done.returned.error or {}).get("message")
    done.expect(
        isinstance(shown, str) and shown.startswith("Malformed parameter: where"),
        "message of the error is another one",
        message,
    )


@scenario("C-err-2")
def several_entries(stage: Stage) -> None:
    entries = [
        {
            "code": "InvalidJsonInput",
            "message": "Request body does not contain valid JSON.",
            "detailedErrorMessage": "a: Unknown field",
        },
        {
            "code": "InvalidField",
            "message": "The value '[1]' is not valid.",
            "field": "objectTypeProperty",
            "invalidValue": [1],
        },
        {"code": "DuplicateField", "message": "A duplicate value", "field": "key", "duplicateValue": "taken-key"},
    ]
    stage.script(Reply(400, body(400, *entries)))
    stage.client().call("createOrUpdateResource", {}, NEW.body).expect_error("http", status=400, errors=entries)


@scenario("C-err-3")
def a_taken_key(stage: Stage) -> None:
    stage.make(key="taken-key")
    other = stage.make()
    done = stage.client().call(
        "createOrUpdateResource", {}, {"id": other["id"], "key": "taken-key", "objectTypeProperty": {}}
    )
    done.expect_error("http", status=400, code="DuplicateField")


@scenario("C-err-4")
def a_refused_token(stage: Stage) -> None:
    client = stage.client(token="no-token-of-this-service")  # noqa: S106 -- it is none
    client.call("getResourceById", {"id": ID}).expect_error("http", status=401, code="invalid_token")


@scenario("C-err-5")
def a_missing_scope(stage: Stage) -> None:
    token = stage.project.new_token("view_test")
    stage.client(token=token).call("createOrUpdateResource", {}, NEW.body).expect_error(
        "http", status=403, code="insufficient_scope"
    )


@scenario("C-err-6")
def an_unknown_id(stage: Stage) -> None:
    message = f"The Resource with ID '{ID}' was not found."
    stage.client().call("getResourceById", {"id": ID}).expect_error(
        "http", status=404, code="ResourceNotFound", message=message
    )


@scenario("C-err-7")
def an_unknown_id_of_writes(stage: Stage) -> None:
    client = stage.client()
    client.call("deleteResourceById", {"id": ID}).expect_error("http", status=404)
    update = {"version": 1, "actions": []}
    client.call("updateResourceById", {"id": ID}, update).expect_error("http", status=404, code="ResourceNotFound")


@scenario("C-err-8")
def an_unknown_key(stage: Stage) -> None:
    stage.client().call("getResourceByKey", {"key": "nobody"}).expect_error("http", status=404, code="ResourceNotFound")


@scenario("C-err-9")
def a_conflict(stage: Stage) -> None:
    made = stage.make()
    stage.update(stage.update(made))
    update = {"version": 1, "actions": [{"action": "doSomeThing"}]}
    stage.client().call("updateResourceById", {"id": made["id"]}, update).expect_error(
        "http", status=409, code="ConcurrentModification", currentVersion=3
    )


@scenario("C-err-10")
def a_conflict_of_a_large_version(stage: Stage) -> None:
    entry = {"code": "ConcurrentModification", "message": "another version", "currentVersion": 2**31 + 5}
    stage.script(Reply(409, body(409, entry)))
    update = {"version": 1, "actions": [{"action": "doSomeThing"}]}
    stage.client().call("updateResourceById", {"id": ID}, update).expect_error(
        "http", status=409, currentVersion=2**31 + 5
    )


@scenario("C-err-11")
def a_failed_precondition(stage: Stage) -> None:
    made = stage.make()
    arguments = {"id": made["id"], "If-Match": '"7"'}
    stage.client().call("deleteResourceById", arguments).expect_error("http", status=412, code="PreconditionFailed")


@scenario("C-err-12")
def a_refused_page(stage: Stage) -> None:
    done = stage.client().call("listResources", {"offset": 10_001})
    # the OpenAPI document has the limit, so some clients refuse the value themselves
    if done.sent:
        done.expect_error("http", status=400, code="InvalidInput")
    else:
        done.expect_error("other")


@scenario("C-err-13")
def a_refused_existence_check(stage: Stage) -> None:
    client = stage.client()
    client.call("checkResources", {"where": ["("]}).expect_error("http", status=400)
    stage.rules({"status": 500})
    client.call("checkResources").expect_error("http", status=500)


# Answers of other servers and of proxies


@scenario(
    {
        "C-err-14": (413, "ContentTooLarge"),
        "C-err-15": (415, "UnsupportedMediaType"),
        "C-err-16": (414, "InvalidInput"),
        "C-err-17": (500, "General"),
        "C-err-18": (405, "MethodNotAllowed"),
    }
)
def by_rule(stage: Stage, status: int, code: str) -> None:
    told = {"status": status, "code": code, "message": "as it was ordered"}
    stage.rules(told)
    stage.client().call("createOrUpdateResource", {}, NEW.body).expect_error("http", **told)


@scenario("C-err-19")
def too_many(stage: Stage) -> None:
    stage.rules({"status": 429, "retryAfter": 17})
    stage.client().call("createOrUpdateResource", {}, NEW.body).expect_error("http", status=429, retryAfterSeconds=17)


@scenario("C-err-20")
def overloaded(stage: Stage) -> None:
    stage.rules({"status": 503, "code": "OverCapacity", "retryAfter": 23})
    stage.client().call("createOrUpdateResource", {}, NEW.body).expect_error(
        "http", status=503, code="OverCapacity", retryAfterSeconds=23
    )


@scenario("C-err-21")
def a_page_of_html(stage: Stage) -> None:
    stage.rules({"status": 502, "body": "html"})
    stage.client().call("createOrUpdateResource", {}, NEW.body).expect_error("http", status=502)


def refused(number: str, reply: Reply, call: Call = NEW, **members: Any) -> None:
    """Register a scenario: a server sends a reply, and the client raises an error of the kind ``http``."""

    @scenario(number)
    def play(stage: Stage) -> None:
        stage.script(reply)
        done = stage.client().call(call.operation, call.arguments, call.body)
        done.expect_error("http", status=reply.status, **members)


refused("C-err-22", Reply(404, HTML, {"Content-Type": "text/html"}), GET)
refused("C-err-23", Reply(504))
refused("C-err-24", Reply(500, '{"statusCode": 500, "mess'))
refused("C-err-25", Reply(400, [1, "x"]))
refused("C-err-26", Reply(400, "null"))
refused("C-err-27", Reply(400, {"statusCode": 400, "message": "the only text"}), message="the only text")
refused("C-err-28", Reply(400, body(400, message="the only text")), message="the only text")
refused("C-err-29", Reply(400, body(400, {"code": "CodeOfTomorrow", "message": "m"})), code="CodeOfTomorrow")
refused(
    "C-err-30",
    Reply(409, body(409, {"code": "ConcurrentModification", "message": "m", "currentVersion": 4, "new": {}}, hint=[1])),
    code="ConcurrentModification",
    currentVersion=4,
)
refused("C-err-31", Reply(400, body(400, {"code": "InvalidInput", "message": UNICODE})), message=UNICODE)
refused("C-err-32", Reply(499, body(499)))
refused("C-err-33", Reply(400, body(400, {"code": "InvalidInput", "message": "m"})), GET, code="InvalidInput")
refused("C-err-34", Reply(401, {"error": "invalid_token", "error_description": "gone"}))


@scenario("C-err-35")
def goes_on(stage: Stage) -> None:
    made = stage.make()
    client = stage.client()
    client.call("getResourceById", {"id": ID}).expect_error("http", status=404)
    client.call("getResourceById", {"id": made["id"]}).expect_result()


@scenario("C-err-36")
def a_resource_that_is_none(stage: Stage) -> None:
    stage.script(Reply(500, RESOURCE))
    stage.client().call("createOrUpdateResource", {}, NEW.body).expect_error("http", status=500)


# The token endpoint

NO_TOKEN = {"status": 200, "body": {"text": "token=1", "contentType": "application/json"}}


@scenario(
    {
        "C-err-61": ({"status": 401, "code": "invalid_client"}, "http", {"status": 401}),
        "C-err-62": ({"status": 400, "code": "invalid_scope"}, "http", {"status": 400}),
        "C-err-63": ({"status": 502, "body": "html"}, "http", {"status": 502}),
        "C-err-64": (NO_TOKEN, "decoding", {}),
        "C-err-65": ({"connection": "close"}, "network", {}),
        "C-err-67": ({"delayMs": 20_000}, "timeout", {}),
        "C-err-68": ({"status": 503}, "http timeout", {}),
    }
)
def of_token(stage: Stage, rule: dict[str, Any], kind: str, members: dict[str, Any]) -> None:
    """Let requests to the token endpoint fail by a rule, and expect that the call raises the error."""
    stage.rules({"match": {"operationId": "getToken"}, **rule})
    done = stage.client(own_token=True, timeout_ms=3000).call("getResourceById", {"id": ID})
    done.expect_error(kind, **members).expect_requests(0).expect_in_time(3)
