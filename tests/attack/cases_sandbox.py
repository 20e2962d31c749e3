"""Attacks on the sandbox: its projects, rules and journal."""

from tests.attack.table import Tally, case
from tests.faults.service import Service

GROUP = "sandbox"


def new_project(service: Service, **order: object) -> dict[str, str]:
    """A project of the sandbox: its key, the credentials of its client and a token."""
    answer = service.request("POST", "/sandbox/projects", order)
    assert answer.status == 201, answer
    project: dict[str, str] = answer.json()
    return project


@case(GROUP, "projects that the sandbox did not make, read by its endpoints: 404")
def foreign_projects(service: Service, tally: Tally) -> None:
    for path in ("", "/requests", "/har", "/report", "/snapshots", "/rules"):
        answer = service.request("GET", f"/sandbox/projects/demo{path}")
        tally.expect(answer.status in (404, 405), (path, answer))
