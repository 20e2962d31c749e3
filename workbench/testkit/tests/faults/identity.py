"""Faults of tokens and scopes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from planted import Answer, Forward, Planted, Request, inside

from app.errors import ApiError
from app.identity import tokens
from app.identity.tokens import AccessToken
from app.identity.verification import TokenVerifier
from app.resource.writing import writes


class Held(tuple[str, ...]):
    """The scopes of a token, which has others too.

    :ivar also: gets a scope, and what looks for one among those that the token has; says whether it has that scope.
    """

    also: Callable[[str, Callable[[str], bool]], bool]

    def __contains__(self, scope: object) -> bool:
        return self.also(str(scope), super().__contains__)


def change_scopes(planted: Planted, also: Callable[[str, Callable[[str], bool]], bool]) -> None:
    """Change which scopes tokens have."""

    def verify(method: Any, verifier: Any, token: str) -> Any:
        verified = method(verifier, token)
        held = Held(verified.scopes)
        held.also = also
        return replace(verified, scopes=held)

    planted.wrap(TokenVerifier, "verify", verify)


@inside("A-8")
def a_scope_counts_for_all_projects(planted: Planted) -> None:
    def also(scope: str, has: Any) -> bool:
        return any(each.partition(":")[0] == scope.partition(":")[0] for each in has.__self__)

    change_scopes(planted, also)


@inside("A-2")
def a_request_without_a_token_is_served(planted: Planted) -> None:
    class Everything(tuple[str, ...]):
        def __contains__(self, scope: object) -> bool:
            return True

    def verify(method: Any, verifier: Any, token: str) -> Any:
        if token != "nobody":
            return method(verifier, token)
        return AccessToken(b"", "nobody", Everything(), 0.0, 2.0**40, is_revoked=False, is_client_revoked=False)

    def pass_on(request: Request, forward: Forward) -> Answer:
        has_token = "authorization" in request.headers
        return forward(request if has_token else request.header("authorization", "Bearer nobody"))

    planted.wrap(TokenVerifier, "verify", verify)
    planted.around = pass_on


@inside("A-10")
def who_may_read_may_write(planted: Planted) -> None:
    change_scopes(planted, lambda scope, has: has(scope) or has(scope.replace("manage_test", "view_test")))


@inside("A-36")
def revoking_does_nothing(planted: Planted) -> None:
    planted.wrap(tokens, "revoke_token", lambda method, *given: None)


def look_everywhere(planted: Planted) -> list[str]:
    """The projects of all requests, as they come."""
    projects: list[str] = []

    def note(request: Request, forward: Forward) -> Answer:
        if request.rest != "-" and request.project not in projects:
            projects.append(request.project)
        return forward(request)

    planted.around = note
    return projects


@inside("2.1-5")
def the_resource_of_another_project_is_deleted(planted: Planted) -> None:
    projects = look_everywhere(planted)

    def delete(method: Any, database: Any, caller: Any, *given: Any) -> Any:
        for project in projects:
            try:
                return method(database, replace(caller, project_key=project), *given)
            except ApiError:
                continue
        return method(database, caller, *given)

    planted.wrap(writes, "delete", delete)
