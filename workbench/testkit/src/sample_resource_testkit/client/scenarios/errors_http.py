"""Errors: answers without success. The client raises an error of the kind ``http`` with the values of the answer."""

from collections.abc import Mapping
from functools import partial
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
    wanted = {"status": 404, "code": "ResourceNotFound", "message": f"The Resource with ID '{ID}' was not found."}
    calls = (GET, Call("updateResourceById", {"id": ID}, {"version": 1, "actions": []}))
    stage.each(calls, lambda done: done.expect_error("http", **wanted))


@scenario("C-err-7")
def an_unknown_id_of_a_delete(stage: Stage) -> None:
    stage.client().call("deleteResourceById", {"id": ID}).expect_error("http", status=404)


@scenario("C-err-8")
def an_unknown_key(stage: Stage) -> None:
    stage.client().call("getResourceByKey", {"key": "nobody"}).expect_error("http", status=404, code="ResourceNotFound")


@scenario("C-err-9")
def a_conflict(stage: Stage) -> None:
    made = stage.make()
    stage.update(stage.update(made))
    update = {"version": 1, "actions": [{"action": "doSomeThing"}]}

    def of_the_service() -> None:
        done = stage.client().call("updateResourceById", {"id": made["id"]}, update)
        done.expect_error("http", status=409, code="ConcurrentModification", currentVersion=3)

    def of_a_large_version() -> None:
        entry = {"code": "ConcurrentModification", "message": "another version", "currentVersion": 2**31 + 5}
        stage.script(Reply(409, body(409, entry)))
        done = stage.client().call("updateResourceById", {"id": ID}, update)
        done.expect_error("http", status=409, currentVersion=2**31 + 5)

    stage.all_of((of_the_service, of_a_large_version))


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


ORDERED: dict[str, list[dict[str, Any]]] = {
    "C-err-14": [
        {"status": status, "code": code, "message": "as it was ordered"}
        for status, code in (
            *((413, "ContentTooLarge"), (415, "UnsupportedMediaType"), (414, "InvalidInput"), (500, "General")),
            (405, "MethodNotAllowed"),
        )
    ],
    "C-err-19": [
        {"status": 429, "retryAfterSeconds": 17},
        {"status": 503, "code": "OverCapacity", "retryAfterSeconds": 23},
    ],
    "C-err-21": [{"status": 502}],
}
"""Errors that the sandbox is told to answer, by what the client has to show of each."""


@scenario({number: (errors,) for number, errors in ORDERED.items()})
def by_rule(stage: Stage, errors: list[dict[str, Any]]) -> None:
    client = stage.client()

    def one(shown: dict[str, Any]) -> None:
        rule = {("retryAfter" if name == "retryAfterSeconds" else name): value for name, value in shown.items()}
        stage.rules({**rule, "body": "html"} if shown == {"status": 502} else rule)
        client.call("createOrUpdateResource", {}, NEW.body).expect_error("http", **shown)

    stage.all_of(partial(one, each) for each in errors)


def refused(number: str, *given: tuple[Reply, dict[str, Any]]) -> None:
    """Register a scenario: a server sends replies, and for each the client raises an error of the kind ``http``.

    :param given: a reply, and what the error has to show beside its status.
    """

    @scenario(number)
    def play(stage: Stage) -> None:
        def one(reply: Reply, members: dict[str, Any]) -> None:
            stage.script(reply)
            done = stage.client().call(NEW.operation, NEW.arguments, NEW.body)
            done.expect_error("http", status=reply.status, **members)

        stage.all_of(partial(one, *each) for each in given)


refused(
    "C-err-22",
    *(
        (reply, {})
        for reply in (
            Reply(404, HTML, {"Content-Type": "text/html"}),
            Reply(504),
            Reply(500, '{"statusCode": 500, "mess'),
            Reply(400, [1, "x"]),
            Reply(400, "null"),
            Reply(499, body(499)),
            Reply(500, RESOURCE),
        )
    ),
)
refused(
    "C-err-27",
    (Reply(400, {"statusCode": 400, "message": "the only text"}), {"message": "the only text"}),
    (Reply(400, body(400, message="the only text")), {"message": "the only text"}),
    (Reply(401, {"error": "invalid_token", "error_description": "gone"}), {}),
)
FUTURE = {"code": "ConcurrentModification", "message": "m", "currentVersion": 4, "new": {}}
refused(
    "C-err-29",
    (Reply(400, body(400, {"code": "CodeOfTomorrow", "message": "m"})), {"code": "CodeOfTomorrow"}),
    (Reply(409, body(409, FUTURE, hint=[1])), {"code": "ConcurrentModification", "currentVersion": 4}),
    (Reply(400, body(400, {"code": "InvalidInput", "message": UNICODE})), {"message": UNICODE}),
)


@scenario("C-err-35")
def goes_on(stage: Stage) -> None:
    made = stage.make()
    client = stage.client()
    client.call("getResourceById", {"id": ID}).expect_error("http", status=404)
    client.call("getResourceById", {"id": made["id"]}).expect_result()


# The token endpoint

NO_TOKEN = {"status": 200, "body": {"text": "token=1", "contentType": "application/json"}}


OF_TOKENS: dict[str, list[tuple[dict[str, Any], str, dict[str, Any]]]] = {
    "C-err-61": [
        ({"status": 401, "code": "invalid_client"}, "http", {"status": 401}),
        ({"status": 400, "code": "invalid_scope"}, "http", {"status": 400}),
    ],
    "C-err-63": [({"status": 502, "body": "html"}, "http", {"status": 502}), (NO_TOKEN, "decoding", {})],
    "C-err-65": [({"connection": "close"}, "network", {})],
    "C-err-67": [({"delayMs": 20_000}, "timeout", {})],
    "C-err-68": [({"status": 503}, "http timeout", {})],
}


@scenario({number: (rules,) for number, rules in OF_TOKENS.items()})
def of_token(stage: Stage, rules: list[tuple[dict[str, Any], str, dict[str, Any]]]) -> None:
    """Let requests to the token endpoint fail by rules, and expect that each call raises its error."""

    def one(rule: dict[str, Any], kind: str, members: dict[str, Any]) -> None:
        stage.rules({"match": {"operationId": "getToken"}, **rule})
        done = stage.client(own_token=True, timeout_ms=3000).call("getResourceById", {"id": ID})
        done.expect_error(kind, **members).expect_requests(0).expect_in_time(3)

    stage.all_of(partial(one, *each) for each in rules)
