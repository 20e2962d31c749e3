"""Which of the sandbox's answers pages of other origins may read."""

from tester import Service

from tests.http.test_cors import ORIGIN

PREFLIGHT = ORIGIN | {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization"}


def test_rules_leave_preflight_requests_alone_and_pages_read_what_they_made(sandbox: Service) -> None:
    project = sandbox.make()
    project.rules({"status": 503, "times": {"first": 1}})
    preflight = sandbox.send("OPTIONS", project.resources, headers=PREFLIGHT)
    assert (preflight.status, preflight.headers["Access-Control-Allow-Origin"]) == (200, "*")
    refused = project.send("GET", headers=ORIGIN)
    assert (refused.status, refused.headers["Access-Control-Allow-Origin"]) == (503, "*")
