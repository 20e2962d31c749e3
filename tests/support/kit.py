"""Checks of the testkit, run in projects of the sandbox, whose journals then show what they have sent."""

from collections.abc import Collection
from contextlib import closing
from dataclasses import replace

from sample_resource_testkit.access import ProjectClient, SandboxAccess, Vault, token_transport
from sample_resource_testkit.clauses import clauses
from sample_resource_testkit.registry import load_checks
from sample_resource_testkit.runner import plan, run
from sample_resource_testkit.wire import Origin, Transport
from sample_resource_testkit.world import Server

from tests.support.sandbox import Project, Service


class _Access(SandboxAccess):
    """The projects of a run, which it remembers."""

    def __init__(self, service: Service) -> None:
        url = f"http://127.0.0.1:{service.port}"
        transport = Transport(Origin.of(url), timeout_s=60)
        super().__init__(*token_transport(f"{url}/oauth/token", transport), Vault(), transport)
        self.transport_of_checks = transport
        self.projects: list[ProjectClient] = []

    def use(self, first: ProjectClient, second: ProjectClient | None) -> None:
        super().use(first, second)
        self.projects += [first] if second is None else [first, second]

    def new_project(self) -> ProjectClient:
        self.projects.append(super().new_project())
        return self.projects[-1]


def exercised_by_checks(service: Service, numbers: Collection[str], *, once: bool) -> set[str]:
    """The clauses that reports show as exercised by the checks of some clauses.

    :param once: run one case of one check of each clause only.
    """
    checks = [replace(check, needs=()) for check in load_checks()]
    if once:
        first = {check.clause: check for check in reversed(checks)}
        checks = [replace(check, cases=check.cases[:1]) for check in first.values()]
    with closing(_Access(service)) as access:
        access.begin()
        run(Server(access.transport_of_checks, access, tag="coverage"), plan(clauses(), checks, numbers), jobs=8)
        reports = [made_by(Project(service, {"projectKey": project.key})) for project in access.projects]
    return {number for report in reports for number, requests in report.items() if requests}


def made_by(project: Project) -> dict[str, list[int]]:
    """What the report says of each clause: the requests that have exercised it."""
    found = project.order("GET", "/report").json["specification"]["clauses"]
    return {each["number"]: each["requests"] for each in found}
