"""Errors: answers that are no success. Each is an error of the kind ``http`` that shows what the answer says."""

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


# What the service refuses


@scenario("C-err-1", "a 400 is an error with its code and its message", "E-1 E-5")
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


@scenario("C-err-2", "a 400 with several entries shows all of them, in their order", "E-13 E-9")
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


@scenario("C-err-3", "a key that is taken is an error with the code DuplicateField", "2.2-11 E-12")
def a_taken_key(stage: Stage) -> None:
    stage.make(key="taken-key")
    other = stage.make()
    done = stage.client().call(
        "createOrUpdateResource", {}, {"id": other["id"], "key": "taken-key", "objectTypeProperty": {}}
    )
    done.expect_error("http", status=400, code="DuplicateField")


@scenario("C-err-4", "a token that is refused is a 401, with its code", "A-3 E-2")
def a_refused_token(stage: Stage) -> None:
    client = stage.client(token="no-token-of-this-service")  # noqa: S106 -- it is none
    client.call("getResourceById", {"id": ID}).expect_error("http", status=401, code="invalid_token")


@scenario("C-err-5", "a scope that is missing is a 403, with its code", "A-6")
def a_missing_scope(stage: Stage) -> None:
    token = stage.project.new_token("view_test")
    stage.client(token=token).call("createOrUpdateResource", {}, NEW.body).expect_error(
        "http", status=403, code="insufficient_scope"
    )


@scenario("C-err-6", "an id that does not exist is a 404, with code and message", "4.2-3")
def an_unknown_id(stage: Stage) -> None:
    message = f"The Resource with ID '{ID}' was not found."
    stage.client().call("getResourceById", {"id": ID}).expect_error(
        "http", status=404, code="ResourceNotFound", message=message
    )


@scenario("C-err-7", "a 404 is an error for writes and deletes too", "4.10-4 4.11-3")
def an_unknown_id_of_writes(stage: Stage) -> None:
    client = stage.client()
    client.call("deleteResourceById", {"id": ID}).expect_error("http", status=404)
    update = {"version": 1, "actions": []}
    client.call("updateResourceById", {"id": ID}, update).expect_error("http", status=404, code="ResourceNotFound")


@scenario("C-err-8", "a key that does not exist is a 404", "4.3-2")
def an_unknown_key(stage: Stage) -> None:
    stage.client().call("getResourceByKey", {"key": "nobody"}).expect_error("http", status=404, code="ResourceNotFound")


@scenario("C-err-9", "a 409 is an error that shows currentVersion", "9-5 9-6")
def a_conflict(stage: Stage) -> None:
    made = stage.make()
    stage.update(stage.update(made))
    update = {"version": 1, "actions": [{"action": "doSomeThing"}]}
    stage.client().call("updateResourceById", {"id": made["id"]}, update).expect_error(
        "http", status=409, code="ConcurrentModification", currentVersion=3
    )


@scenario("C-err-10", "a currentVersion beyond int32 is shown as it is", "9-6", needs="C-err-9")
def a_conflict_of_a_large_version(stage: Stage) -> None:
    entry = {"code": "ConcurrentModification", "message": "another version", "currentVersion": 2**31 + 5}
    stage.script(Reply(409, body(409, entry)))
    update = {"version": 1, "actions": [{"action": "doSomeThing"}]}
    stage.client().call("updateResourceById", {"id": ID}, update).expect_error(
        "http", status=409, currentVersion=2**31 + 5
    )


@scenario("C-err-11", "a precondition that fails is a 412", "H-5")
def a_failed_precondition(stage: Stage) -> None:
    made = stage.make()
    arguments = {"id": made["id"], "If-Match": '"7"'}
    stage.client().call("deleteResourceById", arguments).expect_error("http", status=412, code="PreconditionFailed")


@scenario("C-err-12", "a page beyond the largest offset is a 400, or the client refuses it itself", "4.12-5")
def a_refused_page(stage: Stage) -> None:
    done = stage.client().call("listResources", {"offset": 10_001})
    # the OpenAPI document has the limit, so some clients see what is wrong before they send it
    if done.sent:
        done.expect_error("http", status=400, code="InvalidInput")
    else:
        done.expect_error("other")


@scenario("C-err-13", "a refused existence check is an error, and not false", "4.5-5")
def a_refused_existence_check(stage: Stage) -> None:
    client = stage.client()
    client.call("checkResources", {"where": ["("]}).expect_error("http", status=400)
    stage.rules({"status": 500})
    client.call("checkResources").expect_error("http", status=500)


# What servers and proxies may answer

BY_RULE = {
    "C-err-14": (413, "ContentTooLarge", "E-22"),
    "C-err-15": (415, "UnsupportedMediaType", "H-17"),
    "C-err-16": (414, "InvalidInput", "E-24"),
    "C-err-17": (500, "General", "E-1"),
    "C-err-18": (405, "MethodNotAllowed", "E-21 E-33"),
}


def _by_rule(number: str, status: int, code: str, of: str) -> None:
    @scenario(number, f"a {status} is an error with its status and its code", of)
    def by_rule(stage: Stage) -> None:
        stage.rules({"status": status, "code": code, "message": "as it was ordered"})
        stage.client().call("createOrUpdateResource", {}, NEW.body).expect_error(
            "http", status=status, code=code, message="as it was ordered"
        )


for each, (ordered, code, of) in BY_RULE.items():
    _by_rule(each, ordered, code, of)


@scenario("C-err-19", "a 429 shows the seconds of Retry-After", "E-1")
def too_many(stage: Stage) -> None:
    stage.rules({"status": 429, "retryAfter": 17})
    stage.client().call("createOrUpdateResource", {}, NEW.body).expect_error("http", status=429, retryAfterSeconds=17)


@scenario("C-err-20", "a 503 shows the seconds of Retry-After", "E-26")
def overloaded(stage: Stage) -> None:
    stage.rules({"status": 503, "code": "OverCapacity", "retryAfter": 23})
    stage.client().call("createOrUpdateResource", {}, NEW.body).expect_error(
        "http", status=503, code="OverCapacity", retryAfterSeconds=23
    )


@scenario("C-err-21", "a proxy's HTML page for a 502 is a 502, and no error of a parser", "E-3")
def a_page_of_html(stage: Stage) -> None:
    stage.rules({"status": 502, "body": "html"})
    stage.client().call("createOrUpdateResource", {}, NEW.body).expect_error("http", status=502)


def refused(number: str, text: str, of: str, reply: Reply, call: Call = NEW, **members: Any) -> None:
    """Register a scenario: a server answers so, and the client raises an error of the kind ``http``."""

    @scenario(number, text, of)
    def play(stage: Stage) -> None:
        stage.script(reply)
        done = stage.client().call(call.operation, call.arguments, call.body)
        done.expect_error("http", status=reply.status, **members)


refused("C-err-22", "a 404 of HTML is a 404", "E-3", Reply(404, HTML, {"Content-Type": "text/html"}), GET)
refused("C-err-23", "a 504 without a body is a 504", "E-1", Reply(504))
refused("C-err-24", "a 500 that says JSON and is none is a 500", "E-1", Reply(500, '{"statusCode": 500, "mess'))
refused("C-err-25", "a 400 whose body is an array is a 400", "E-1", Reply(400, [1, "x"]))
refused("C-err-26", "a 400 whose body is null is a 400", "E-1", Reply(400, "null"))
refused(
    "C-err-27",
    "an error body without errors is shown with its message",
    "E-1",
    Reply(400, {"statusCode": 400, "message": "the only text"}),
    message="the only text",
)
refused(
    "C-err-28",
    "an error body with an empty list of errors is shown with its message",
    "E-1",
    Reply(400, body(400, message="the only text")),
    message="the only text",
)
refused(
    "C-err-29",
    "a code that nobody knows is shown as it is",
    "E-4",
    Reply(400, body(400, {"code": "CodeOfTomorrow", "message": "m"})),
    code="CodeOfTomorrow",
)
refused(
    "C-err-30",
    "members of an error that nobody knows do not break it",
    "E-1",
    Reply(409, body(409, {"code": "ConcurrentModification", "message": "m", "currentVersion": 4, "new": {}}, hint=[1])),
    code="ConcurrentModification",
    currentVersion=4,
)
refused(
    "C-err-31",
    "Unicode in a message is shown as it is",
    "E-1",
    Reply(400, body(400, {"code": "InvalidInput", "message": UNICODE})),
    message=UNICODE,
)
refused("C-err-32", "a status that nobody knows is shown as it is", "E-1", Reply(499, body(499)))
refused(
    "C-err-33",
    "a 400 to a GET is an error",
    "E-1",
    Reply(400, body(400, {"code": "InvalidInput", "message": "m"})),
    GET,
    code="InvalidInput",
)
refused(
    "C-err-34",
    "an error in the form of OAuth alone is shown",
    "E-2",
    Reply(401, {"error": "invalid_token", "error_description": "gone"}),
)


@scenario("C-err-35", "after an error the same client goes on", "H-20", needs="C-err-6")
def goes_on(stage: Stage) -> None:
    made = stage.make()
    client = stage.client()
    client.call("getResourceById", {"id": ID}).expect_error("http", status=404)
    client.call("getResourceById", {"id": made["id"]}).expect_result()


@scenario("C-err-36", "a resource in the body of a 500 is no success", "E-1")
def a_resource_that_is_none(stage: Stage) -> None:
    stage.script(Reply(500, RESOURCE))
    stage.client().call("createOrUpdateResource", {}, NEW.body).expect_error("http", status=500)


# The token endpoint

TOKENS: dict[str, tuple[str, str, dict[str, Any], str, dict[str, Any]]] = {
    "C-err-61": (
        "a 401 of the token endpoint is an error of the call",
        "A-23",
        {"status": 401, "code": "invalid_client"},
        "http",
        {"status": 401},
    ),
    "C-err-62": (
        "a 400 of the token endpoint is an error of the call",
        "A-25",
        {"status": 400, "code": "invalid_scope"},
        "http",
        {"status": 400},
    ),
    "C-err-63": (
        "an HTML page of the token endpoint is an error of the call",
        "A-15",
        {"status": 502, "body": "html"},
        "http",
        {"status": 502},
    ),
    "C-err-64": (
        "a token endpoint that answers no JSON is an error of the call",
        "A-15",
        {"status": 200, "body": {"text": "token=1", "contentType": "application/json"}},
        "decoding",
        {},
    ),
    "C-err-65": (
        "a token endpoint that hangs up is an error of the call",
        "A-15",
        {"connection": "close"},
        "network",
        {},
    ),
    "C-err-67": (
        "a token endpoint that says nothing ends the call at its time limit",
        "A-15",
        {"delayMs": 20_000},
        "timeout",
        {},
    ),
    "C-err-68": (
        "a 503 of the token endpoint is an error of the call",
        "A-15 E-26",
        {"status": 503},
        "http timeout",
        {},
    ),
}
"""What is ordered for the token endpoint, and the error that the call raises."""


def _of_token(number: str, text: str, of: str, rule: dict[str, Any], kind: str, members: dict[str, Any]) -> None:
    @scenario(number, text, of)
    def of_token(stage: Stage) -> None:
        stage.rules({"match": {"operationId": "getToken"}, **rule})
        done = stage.client(own_token=True, timeout_ms=3000).call("getResourceById", {"id": ID})
        done.expect_error(kind, **members).expect_requests(0).expect_in_time(3)


for each, found in TOKENS.items():
    _of_token(each, *found)
