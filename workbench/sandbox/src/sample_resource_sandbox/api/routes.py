"""The routes below ``/sandbox``: throwaway projects, faults on demand, the journal, runs and reports."""

from typing import Any

from flask import Flask, Response, request

from app.http.answers import json_answer
from app.http.arguments import Endpoint
from app.resource.params import ListQuery, SortedListSchema
from app.routes.resource import sorted_list
from sample_resource_sandbox.api import journal_routes, orders, page
from sample_resource_sandbox.api.answering import PROJECT, base_url, blueprint, done, json_of, project_of
from sample_resource_sandbox.api.parts import Parts, parts
from sample_resource_sandbox.api.rules import RulesSchema
from sample_resource_sandbox.rules.matching import TOKEN_PATH

_RULES_EXAMPLE = {"rules": [{"name": "503 twice", "times": {"first": 2}, "status": 503, "retryAfter": 1}]}


@blueprint.before_request
def _check_caller() -> None:  # pyright: ignore[reportUnusedFunction] -- Flask calls it
    parts().guard.check(is_public=request.endpoint in _PUBLIC)


@blueprint.after_request
def _forbid_caching(answer: Response) -> Response:  # pyright: ignore[reportUnusedFunction] -- Flask calls it
    answer.headers.setdefault("Cache-Control", "no-store")
    return answer


def _token_url() -> str:
    return f"{base_url()}{TOKEN_PATH}"


@blueprint.at("")
class Page(Endpoint):
    """The page for people."""

    def get(self) -> Response:
        """Answer the page."""
        return page.document(needs_token=parts().guard.token is not None)


@blueprint.at("/page/<segment:asset>")
class Assets(Endpoint):
    """What the page loads."""

    def get(self, asset: str) -> Response:
        """Answer a style sheet, script or icon."""
        return page.asset(asset)


_PUBLIC = frozenset(f"{blueprint.name}.{view}" for view in ("Page", "Assets"))
"""The views that need no token, because the page asks for it."""


@blueprint.at("/openapi.json")
class OpenApi(Endpoint):
    """The document of these routes."""

    def get(self) -> Response:
        """Answer the OpenAPI document."""
        return json_answer(parts().document(base_url()))


@blueprint.at("/projects")
class AllProjects(Endpoint):
    """All sandbox projects."""

    @blueprint.operation("listProjects", "Projects", "ProjectList")
    def get(self) -> Response:
        """List projects

        All, oldest first.
        """
        return json_of({"results": parts().projects.described()})

    @blueprint.operation("makeProject", "Projects", "MadeProject", 201)
    @blueprint.takes(orders.NewProjectSchema(), {"resources": 100})
    def post(self, order: Any) -> Response:
        """Make a project

        A project with a client and a token, ready for requests.
        """
        made = parts().projects.make(order, _token_url())
        answer = json_of(made, 201)
        answer.headers["Location"] = f"{request.script_root}/sandbox/projects/{made['projectKey']}"
        return answer


@blueprint.at(PROJECT)
class OneProject(Endpoint):
    """One sandbox project."""

    @blueprint.operation("getProject", "Projects", "Project")
    def get(self, projectKey: str) -> Response:
        """Describe a project

        With its counts.
        """
        return json_of(parts().projects.described_one(projectKey))

    @blueprint.operation("removeProject", "Projects")
    def delete(self, projectKey: str) -> Response:
        """Remove a project

        With everything of it. Its tokens are refused from then on.
        """
        project_of(projectKey)
        parts().projects.remove(projectKey)
        return done()


@blueprint.at(f"{PROJECT}/tokens")
class Tokens(Endpoint):
    """Tokens of the project's client."""

    @blueprint.operation("issueToken", "Projects", "IssuedToken", 201)
    @blueprint.takes(orders.TokenOrderSchema(), {})
    def post(self, order: Any, projectKey: str) -> Response:  # noqa: ARG002 -- it says nothing
        """Issue a token

        For a tester who does not have the secret of the project's client, with all of its scopes. The journal does not
        show it.
        """
        return json_of(parts().projects.issue_token(project_of(projectKey), _token_url()), 201)


@blueprint.at(f"{PROJECT}/reset")
class Reset(Endpoint):
    """The project as it was when it was made."""

    @blueprint.operation("resetProject", "Projects")
    @blueprint.takes(orders.ResetOrderSchema(), {"keep": ["rules"]})
    def post(self, order: dict[str, Any], projectKey: str) -> Response:
        """Reset a project

        It becomes what it was when it was made: resources, clock and ids. Rules and the journal stay only if `keep`
        names them.
        """
        kept = order.get("keep", ())
        parts().projects.reset(projectKey, keep_rules="rules" in kept, keep_requests="requests" in kept)
        return done()


@blueprint.at(f"{PROJECT}/clock")
class Clock(Endpoint):
    """The project's clock."""

    @blueprint.operation("setClock", "Projects")
    @blueprint.takes(orders.ClockOrderSchema(), {"now": "2030-01-01T00:00:00.000Z", "runs": True})
    def put(self, order: dict[str, Any], projectKey: str) -> Response:
        """Set the clock

        It dates what is written, and decides whether a token has expired.
        """
        parts().projects.set_clock(projectKey, order)
        return done()

    @blueprint.operation("endClock", "Projects")
    def delete(self, projectKey: str) -> Response:
        """Return to real time

        As an empty order does.
        """
        parts().projects.set_clock(projectKey, {})
        return done()


@blueprint.at(f"{PROJECT}/ids")
class Ids(Endpoint):
    """Where the project's ids come from."""

    @blueprint.operation("setIds", "Projects")
    @blueprint.takes(orders.IdsOrderSchema(), {"seed": 7})
    def put(self, order: dict[str, Any], projectKey: str) -> Response:
        """Seed the ids

        Resources that are made one after the other get the ids of a reproducible sequence.
        """
        parts().projects.set_ids(projectKey, order)
        return done()

    @blueprint.operation("endIds", "Projects")
    def delete(self, projectKey: str) -> Response:
        """Return to chance

        As an empty order does.
        """
        parts().projects.set_ids(projectKey, {})
        return done()


@blueprint.at(f"{PROJECT}/rules")
class Rules(Endpoint):
    """The project's rules."""

    @blueprint.operation("listRules", "Faults", "RuleList")
    def get(self, projectKey: str) -> Response:
        """Show the rules

        In their order, with how often each has matched and acted.
        """
        rules = project_of(projectKey).rules
        return json_of(
            {"rules": [{**each.rule.source, "matched": each.matched, "acted": each.acted} for each in rules]}
        )

    @blueprint.operation("setRules", "Faults")
    @blueprint.takes(RulesSchema(), _RULES_EXAMPLE, optional=False)
    def put(self, order: dict[str, Any], projectKey: str) -> Response:
        """Replace the rules

        All that match a request and are due act on it in their order, until one gives an answer. A rule that cannot
        be is refused with its place, and none of the list is taken.
        """
        parts().projects.set_rules(projectKey, order["rules"])
        return done()

    @blueprint.operation("endRules", "Faults")
    def delete(self, projectKey: str) -> Response:
        """End all rules

        As an empty list does.
        """
        parts().projects.set_rules(projectKey, ())
        return done()


@blueprint.at(f"{PROJECT}/resources")
class Resources(Endpoint):
    """What the project holds, for the page: the journal does not show that it is read, and no rule acts."""

    @blueprint.arguments(SortedListSchema(), location="query")
    def get(self, query: ListQuery, projectKey: str) -> Response:
        """Answer a page of resources, as the service's own list does."""
        return sorted_list(project_of(projectKey).key, query)


def install(app: Flask, made: Parts) -> None:
    """Register all routes, including those of :mod:`.journal_routes`, and make their OpenAPI document."""
    made.install(app, journal_routes.blueprint)
