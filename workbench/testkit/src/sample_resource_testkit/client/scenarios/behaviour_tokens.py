"""Behaviour: how a client deals with tokens."""

import base64
from urllib.parse import parse_qs, unquote

from sample_resource_testkit.client.messages import Sent
from sample_resource_testkit.client.operations import Call
from sample_resource_testkit.client.registry import scenario
from sample_resource_testkit.client.scenarios.answers_scripted import RESOURCE, page
from sample_resource_testkit.client.scenarios.behaviour_retries import waited
from sample_resource_testkit.client.scripted import Reply
from sample_resource_testkit.client.stage import Stage

FORM = "application/x-www-form-urlencoded"


def _form_of(sent: Sent) -> dict[str, list[str]]:
    """The parameters in the query and in the form of a request."""
    return {**parse_qs(sent.target.partition("?")[2]), **parse_qs(sent.body.decode("utf-8", "replace"))}


@scenario("C-do-1")
def asks_for_a_token(stage: Stage) -> None:
    made = stage.make()
    done = stage.client(own_token=True).call("getResourceById", {"id": made["id"]}).expect_success()
    tokens = stage.tokens()
    done.expect(len(tokens) >= 1, "no token was asked for")
    sent = tokens[0]
    types = sent.header("Content-Type")
    if len(types) != 1 or types[0].partition(";")[0].strip().lower() != FORM:
        raise done.wrong(
            f"the Content-Type of the request for a token is {types or 'missing'}, and not {FORM}", sent=sent
        )
    grant = _form_of(sent).get("grant_type")
    if sent.method != "POST" or grant != ["client_credentials"]:
        raise done.wrong(f"the request for a token is a {sent.method} with grant_type {grant}", sent=sent)


@scenario("C-do-2")
def asks_for_its_scope(stage: Stage) -> None:
    scope = f"view_test:{stage.project.key}"
    done = stage.client(own_token=True, scope=scope).read().expect_success()
    sent = stage.tokens()[0]
    found = _form_of(sent).get("scope", [""])[0].split()
    if found != [scope]:
        raise done.wrong(f"the scope that is asked for is {found}, and not {scope}", wanted=f"scope={scope}", sent=sent)


@scenario("C-do-3")
def keeps_its_secret(stage: Stage) -> None:
    # With a script, because the journal of the sandbox contains no secrets.
    stage.script(Reply(body={**RESOURCE, **page()}))
    client = stage.client(own_token=True)
    for call in (stage.reading(), Call("createOrUpdateResource", {}, {"objectTypeProperty": {}})):
        done = client.call(call.operation, call.arguments, call.body)
        done.expect(bool(done.sent), "no request was sent")
    for sent in stage.all_requests():
        text = "\n".join(
            (sent.target, *(f"{name}: {value}" for name, value in sent.headers), sent.body.decode("utf-8", "replace"))
        )
        shown = sent.target if sent.operation == "getToken" else text
        # If the sandbox answers, its journal has (secret) instead of the secret.
        if any(each in unquote(shown) for each in ("(secret)", *spellings(stage.project.client_secret))):
            raise done.wrong("the secret of the client stands where it can be read", sent=sent)


def spellings(secret: str) -> list[str]:
    """A secret, and the texts by which it appears in base64 after any text."""
    encoded = [base64.b64encode(b"\0" * before + secret.encode()).decode().rstrip("=") for before in range(3)]
    # The first and the last characters depend on the text around the secret.
    return [secret, *(text[first:-1] for text, first in zip(encoded, (0, 2, 3), strict=True))]


@scenario("C-do-4")
def keeps_its_token(stage: Stage) -> None:
    client = stage.client(own_token=True)
    done = [client.read(1).expect_success() for _ in range(5)]
    count = len(stage.tokens())
    done[-1].expect(count == 1, f"{count} tokens were asked for, and one is good for two days")


@scenario("C-do-5")
def shares_its_token(stage: Stage) -> None:
    client = stage.client(own_token=True)
    done = client.at_once(*map(stage.reading, range(1, 9)))
    for each in done:
        each.expect_success()
    count = len(stage.tokens())
    done[-1].expect(count == 1, f"{count} tokens were asked for by calls at the same time, and one would do")


@scenario("C-do-6")
def uses_the_given_token(stage: Stage) -> None:
    made = stage.make()
    client = stage.client()
    done = [client.call("getResourceById", {"id": made["id"]}).expect_success() for _ in range(2)]
    done[-1].expect(not stage.tokens(), "a token was asked for, though one was given")


@scenario("C-do-7")
def does_not_replace_the_given_token(stage: Stage) -> None:
    token = stage.project.new_token("view_test")
    client = stage.client(token=token)
    client.read().expect_success()
    stage.rules({"expireTokens": True, "times": {"first": 1}, "match": {"operationId": stage.reading().operation}})
    before = len(stage.tokens())
    done = client.read().expect_error("http", status=401)
    done.expect(len(stage.tokens()) == before, "a token was asked for, though one was given")


@scenario("C-do-8")
def replaces_a_refused_token(stage: Stage) -> None:
    made = stage.make()
    client = stage.client(own_token=True)
    client.call("getResourceById", {"id": made["id"]}).expect_success().expect_requests(1)
    stage.rules({"expireTokens": True, "times": {"first": 1}})
    done = client.call("getResourceById", {"id": made["id"]}).expect_success()
    count = len(stage.tokens())
    done.expect(count == 2, f"{count} tokens were asked for in all, and two would do").expect_requests(2)


@scenario("C-do-9")
def replaces_an_expired_token(stage: Stage) -> None:
    client = stage.client(own_token=True)
    client.read().expect_success()
    stage.project.clock(offset_seconds=172_860)
    client.read().expect_success()


@scenario("C-do-10")
def gives_up(stage: Stage) -> None:
    stage.rules({"status": 401, "code": "invalid_token"})
    done = stage.client(own_token=True).read().expect_error("http", status=401)
    count = len(stage.tokens())
    done.expect(count <= 2, f"{count} tokens were asked for by one call")
    done.expect(len(done.sent) <= 2, f"the call was sent {len(done.sent)} times with refused tokens")


@scenario("C-do-11")
def shares_the_new_token(stage: Stage) -> None:
    client = stage.client(own_token=True)
    client.read().expect_success()
    stage.project.clock(offset_seconds=172_860)
    done = client.at_once(*map(stage.reading, range(1, 7)))
    for each in done:
        each.expect_success()
    count = len(stage.tokens())
    done[-1].expect(count == 2, f"{count - 1} new tokens were asked for by calls at the same time, and one would do")


@scenario("C-do-12")
def writes_again(stage: Stage) -> None:
    client = stage.client(own_token=True)
    client.read().expect_success()
    stage.rules({"expireTokens": True, "times": {"first": 1}})
    body = {"key": "once", "objectTypeProperty": {"arrayOfIntExample": [7]}}
    client.call("createOrUpdateResource", {}, body).expect_result()


@scenario("C-do-13")
def does_not_renew_for_a_scope(stage: Stage) -> None:
    client = stage.client(own_token=True, scope=f"view_test:{stage.project.key}")
    done = client.call("createOrUpdateResource", {}, {"objectTypeProperty": {}}).expect_error("http", status=403)
    count = len(stage.tokens())
    done.expect(count == 1 and len(done.sent) == 1, f"{count} tokens and {len(done.sent)} requests for a 403")


@scenario("C-do-14")
def two_projects(stage: Stage) -> None:
    second = stage.second_project()
    made = stage.make()
    first, other = stage.client(), stage.client(project=second)
    first.call("getResourceById", {"id": made["id"]}).expect_success()
    other.call("getResourceById", {"id": made["id"]}).expect_error("http", status=404)
    first.call("getResourceById", {"id": made["id"]}).expect_success()


# A token endpoint in trouble

OF_TOKENS = {"match": {"operationId": "getToken"}}


@scenario("C-do-54")
def waits_for_a_slow_token(stage: Stage) -> None:
    stage.rules({**OF_TOKENS, "delayMs": 1200})
    done = stage.client(own_token=True).read().expect_success()
    count = len(stage.tokens())
    done.expect(count == 1, f"{count} tokens were asked for, and one would do")


@scenario("C-do-55")
def asks_again_for_a_token(stage: Stage) -> None:
    stage.rules({**OF_TOKENS, "times": {"first": 1}, "status": 503, "retryAfter": 1})
    done = stage.client(own_token=True, timeout_ms=15_000).read().expect_success()
    waited(done, stage.tokens())


@scenario("C-do-56")
def forgets_a_token_that_never_came(stage: Stage) -> None:
    stage.rules({**OF_TOKENS, "times": {"first": 1}, "delayMs": 20_000})
    client = stage.client(own_token=True, timeout_ms=3000)
    client.read().expect_error()
    client.read().expect_success()
