"""The token endpoint, introspection and revocation (profile ``identity``)."""

import base64
import re
import time
from collections.abc import Callable
from urllib.parse import quote_plus

from sample_resource_testkit.access import SCOPES, ProjectClient
from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import FORM
from sample_resource_testkit.checks.endpoints import ALL, Endpoint
from sample_resource_testkit.checks.identity_scopes import FORGERIES
from sample_resource_testkit.checks.refusals import errors_of
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

GRANT = "grant_type=client_credentials"

AS_FORM = {"Content-Type": FORM}


def refused_by_oauth(answer: Answer, status: int, code: str) -> Answer:
    """Expect a status and an OAuth code, as ``error`` (RFC 6749, section 5.2) or as the first entry of ``errors``."""
    answer.expect_status(status)
    entries = errors_of(answer)
    found = entries[0].get("code") if entries else answer.members.get("error")
    return answer.expect(found == code, f"the code {code}", found)


def text_of(answer: Answer) -> str:
    """The message of an error."""
    return str(answer.at("message"))


def scope(world: World, *names: str) -> str:
    """The scopes for the first project, separated by blanks."""
    return " ".join(f"{name}:{world.project}" for name in names)


def granted(answer: Answer) -> set[str]:
    """The scopes in the answer of the token endpoint."""
    answer.expect_status(200)
    found = answer.at("scope")
    answer.expect(isinstance(found, str), "scope as a text", found)
    return set(found.split())


def new_token(world: World, *names: str, client: ProjectClient | None = None) -> str:
    """Get a token that only this case has.

    :param names: the names of scopes for the first project; by default all.
    """
    asked = {"scope": scope(world, *names)} if names else {}
    answer = world.oauth({"grant_type": "client_credentials", **asked}, client=client)
    if answer.status != 200:
        world.not_reachable(f"the token endpoint answered {answer.status}")
    return str(answer.at("access_token"))


def credentials(client: ProjectClient) -> dict[str, str]:
    """The credentials of a client as form fields."""
    return {"client_id": client.client_id, "client_secret": client.client_secret}


@check("A-15")
def a_grant_has_its_members(world: World) -> None:
    answer = world.oauth().expect_status(200).expect_json("token_type", "Bearer")
    for member in ("access_token", "expires_in", "scope"):
        answer.at(member)


PARTS = [(name,) for name in SCOPES] + [SCOPES[:2], SCOPES[::2], SCOPES[1:]]


@check("A-18", needs=["A-15"], cases={" ".join(names): names for names in PARTS})
def a_part_of_the_scopes_is_granted(world: World, names: tuple[str, ...]) -> None:
    asked = scope(world, *names)
    answer = world.oauth({"grant_type": "client_credentials", "scope": asked})
    found = granted(answer)
    answer.expect(found == set(asked.split()), f"the scopes {asked}", sorted(found))


RAW_SCOPES: dict[str, Callable[[str], str]] = {
    "blanks and colons": lambda text: text,
    "a plus sign": lambda text: text.replace(" ", "+"),
    "all encoded": quote_plus,
}


@check("A-18", cases=list(RAW_SCOPES))
def scope_may_be_written_raw(world: World, way: str) -> None:
    asked = scope(world, "manage_test", "view_test")
    answer = world.oauth(body=f"{GRANT}&scope={RAW_SCOPES[way](asked)}", headers=AS_FORM)
    found = granted(answer)
    answer.expect(found == set(asked.split()), f"the scopes {asked}", sorted(found))


@check(
    "A-20",
    needs=["A-15"],
    cases=["refresh_token=false", "foo=", "Grant_Type=password"],
)
def unknown_form_fields_are_ignored(world: World, fields: str) -> None:
    world.oauth(f"{GRANT}&{fields}").expect_status(200)


@check("A-21", needs=["A-15"], cases={"all scopes": (), "one scope": ("view_test",)})
def credentials_may_be_form_fields(world: World, names: tuple[str, ...]) -> None:
    form = {"grant_type": "client_credentials", **credentials(world.client)}
    if names:
        form["scope"] = scope(world, *names)
    world.oauth(form, authorization=None).expect_status(200).at("access_token")


@check(
    "A-22", needs=["A-18"], cases={"grant_type": ("grant_type",), "scope": ("scope",), "both": ("grant_type", "scope")}
)
def grant_and_scope_may_be_in_the_query(world: World, names: tuple[str, ...]) -> None:
    asked = {"grant_type": "client_credentials", "scope": scope(world, "view_test")}
    form = {name: value for name, value in asked.items() if name not in names}
    answer = world.oauth(form, query={name: asked[name] for name in names})
    found = granted(answer)
    answer.expect(found == {asked["scope"]}, f"the scope {asked['scope']}", sorted(found))


def basic(pair: str) -> str:
    """The value of an Authorization header for HTTP Basic with a text in base64."""
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


WRONG_CREDENTIALS: dict[str, Callable[[ProjectClient], str | None]] = {
    "none": lambda _: None,
    "a wrong secret": lambda client: basic(f"{client.client_id}:{client.client_secret}x"),
    "an empty secret": lambda client: basic(f"{client.client_id}:"),
    "an unknown client": lambda client: basic(f"{client.client_id}x:{client.client_secret}"),
    "no colon": lambda client: basic(client.client_id),
    "no base64": lambda _: "Basic !!!",
    "another scheme": lambda _: "Bearer a.b.c",
}

CREDENTIALS_TEXT = "Please provide valid client credentials using HTTP Basic Authentication."


@check("A-23", cases=WRONG_CREDENTIALS)
def wrong_credentials_are_refused(world: World, header: Callable[[ProjectClient], str | None]) -> None:
    answer = refused_by_oauth(world.oauth(authorization=header(world.client)), 401, "invalid_client")
    answer.expect_header("WWW-Authenticate", re.compile(r"Basic\b.*", re.IGNORECASE))
    answer.expect_json("message", CREDENTIALS_TEXT)


@check("A-23", needs=["A-21"], cases=["client_id", "client_secret"])
def wrong_credentials_in_the_form_are_refused(world: World, name: str) -> None:
    form = {"grant_type": "client_credentials", **credentials(world.client), name: world.word()}
    refused_by_oauth(world.oauth(form, authorization=None), 401, "invalid_client")


@check("A-25", cases=["foo", "manage_test", "manage_test:", ":p", "foo:{p}", "Manage_test:{p}", "manage_test:{p}:x"])
def a_scope_that_is_none_is_refused(world: World, text: str) -> None:
    asked = text.replace("{p}", world.project)
    answer = world.oauth({"grant_type": "client_credentials", "scope": asked})
    refused_by_oauth(answer, 400, "invalid_scope")
    answer.expect_json("message", "Malformed parameter: scope: Invalid scope.")


EXCEEDED = "Permissions exceeded. Only the following permissions can be requested: "


@check("A-25", cases={name: (name,) for name in SCOPES} | {"beside one that it has": ("view_test", "")})
def a_scope_of_another_project_is_not_granted(world: World, names: tuple[str, ...]) -> None:
    other = f"{names[-1] or 'view_test'}:{world.key()}"
    asked = f"{scope(world, names[0])} {other}" if len(names) > 1 else other
    answer = refused_by_oauth(world.oauth({"grant_type": "client_credentials", "scope": asked}), 400, "invalid_scope")
    answer.expect(text_of(answer).startswith(EXCEEDED), f"a text that begins '{EXCEEDED}'", text_of(answer))


GRANTS = ["password", "refresh_token", "Client_Credentials", "ä\"'"]


@check("A-26", cases=GRANTS)
def another_grant_is_not_supported(world: World, grant: str) -> None:
    answer = refused_by_oauth(world.oauth({"grant_type": grant}), 400, "unsupported_grant_type")
    wanted = f"Invalid parameter: grant_type: Invalid grant type: '{grant}'"
    answer.expect_json("message", wanted)


@check(
    "A-26", cases={"an empty form": "", "a scope alone": "scope={s}", "another name": "granttype=client_credentials"}
)
def a_missing_grant_is_refused(world: World, form: str) -> None:
    text = form.replace("{s}", quote_plus(scope(world, "view_test")))
    answer = refused_by_oauth(world.oauth(body=text, headers=AS_FORM), 400, "invalid_request")
    answer.expect_json("message", "Missing required parameter: grant_type.")


REPEATED = {
    "grant_type": f"{GRANT}&{GRANT}",
    "scope": f"{GRANT}&scope={{s}}&scope={{s}}",
    "another scope": f"{GRANT}&scope={{s}}&scope=foo",
}


@check("A-28", cases=REPEATED)
def a_repeated_parameter_is_refused(world: World, form: str) -> None:
    text = form.replace("{s}", quote_plus(scope(world, "view_test")))
    refused_by_oauth(world.oauth(body=text, headers=AS_FORM), 400, "invalid_request")


@check("A-28", needs=["A-22"], cases=["grant_type", "scope"])
def a_parameter_in_the_query_and_in_the_form_is_refused(world: World, name: str) -> None:
    form = {"grant_type": "client_credentials", "scope": scope(world, "view_test")}
    refused_by_oauth(world.oauth(form, query={name: form[name]}), 400, "invalid_request")


REVOKED_WITHIN_S = 5.0

PAUSE_S = 0.05
"""The pause between two requests, while waiting for a process to learn of a revocation."""


def introspected(world: World, token: str) -> Answer:
    """Introspect a token."""
    return world.oauth({"token": token}, endpoint="introspect").expect_status(200)


@check("A-34", needs=["A-15"], cases=["active", "scope", "exp"])
def introspection_of_a_valid_token_has_the_member(world: World, member: str) -> None:
    answer = introspected(world, new_token(world, "view_test"))
    answer.expect_json("active", True)
    answer.at(member)


@check("A-34", cases=FORGERIES)
def introspection_of_another_text_says_inactive(world: World, forge: Callable[[World], str]) -> None:
    introspected(world, forge(world)).expect_json({"active": False})


@check("A-35", needs=["A-34"])
def introspection_tells_the_end_in_seconds(world: World) -> None:
    answer = introspected(world, new_token(world))
    end = answer.at("exp")
    # A time in milliseconds would be more than this, and a lifetime instead of a time would be less.
    answer.expect(isinstance(end, int | float) and 1e9 < end < 1e11, "exp in seconds since 1970", end)


def revoke(world: World, token: str) -> Answer:
    """Revoke a token of the client."""
    return world.oauth({"token": token}, endpoint="revoke")


def refused_soon(world: World, ask: Callable[[], Answer], times: int = 1) -> None:
    """Repeat a request until it is answered 401, for at most the time that a revocation may take to reach all
    processes.

    :param times: how many 401 in a row are needed, because a server may have several processes.
    """
    deadline = time.monotonic() + REVOKED_WITHIN_S
    refused = 0
    while refused < times:
        answer = ask()
        refused = refused + 1 if answer.status == 401 else 0
        if not refused:
            if time.monotonic() > deadline:
                answer.expect_status(401)
            time.sleep(PAUSE_S)
        world.count()


@check("A-36", needs=["A-1", "A-15"], cases=ALL)
def a_revoked_token_is_refused_by_the_endpoint(world: World, endpoint: Endpoint) -> None:
    made = world.make()
    token = new_token(world)
    revoke(world, token).expect_status(200)
    refused_soon(world, lambda: endpoint.ask(world.bearer(token), made))


@check("A-37", needs=["A-34", "A-36"])
def introspection_knows_of_a_revocation_at_once(world: World) -> None:
    for _ in range(4):
        token = new_token(world)
        revoke(world, token).expect_status(200)
        introspected(world, token).expect_json({"active": False})


@check("A-36", cases=FORGERIES)
def revoking_what_is_not_valid_is_200(world: World, forge: Callable[[World], str]) -> None:
    revoke(world, forge(world)).expect_status(200)


@check("A-39", needs=["A-15"])
def a_token_of_another_client_is_not_revoked(world: World) -> None:
    second = world.second().client
    if second.client_id == world.client.client_id:
        world.skip("needs a second client: --sandbox")
    token = new_token(world)
    answer = world.oauth({"token": token}, endpoint="revoke", client=second)
    refused_by_oauth(answer, 400, "invalid_grant")
    world.bearer(token).get("?limit=1").expect_success()


@check("A-40", cases=[(name, form) for name in ("introspect", "revoke") for form in ("", "tokens=a.b.c")])
def without_a_token_it_is_refused(world: World, endpoint: str, form: str) -> None:
    refused_by_oauth(world.oauth(form, endpoint=endpoint), 400, "invalid_request")
