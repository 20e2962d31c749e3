"""The report: what it counts, and the text of it."""

from typing import Any

from sample_resource_sandbox.analysis.report import often
from steady_client import steady_client
from tester import Project


def reported(project: Project) -> dict[str, Any]:
    answer = project.order("GET", "/report")
    assert answer.status == 200, answer.text
    return answer.json


CARRIED_OUT = {"createOrUpdateResource": 2, "getResourceByKey": 1}


def test_what_was_carried_out_is_counted(throwaway: Project) -> None:
    """Not with a bad token, refused or answered on order; but what was not found, or lost after the commit."""
    throwaway.create(key="one")
    throwaway.send("GET", "/key=nobody")
    throwaway.send("GET", "?limit=-1")
    throwaway.send("GET", "?limit=1", headers={"Authorization": "Bearer nonsense"})
    throwaway.rules({"match": {"method": "GET"}, "status": 404}, {"phase": "after", "connection": "close"})
    throwaway.send("GET", "?limit=1")
    with steady_client(throwaway) as client:
        client.send("DELETE", "/key=one")
        client.send("POST", "", {"objectTypeProperty": {}})
    for keep in ("requests", "rules"):
        report = reported(throwaway)
        assert report["requests"] == 7
        assert {each["name"]: each["times"] for each in report["operations"]} == CARRIED_OUT
        assert throwaway.order("POST", "/reset", {"keep": [keep]}).status == 204
    assert reported(throwaway)["requests"] == 0


def test_it_tells_what_became_of_faults(throwaway: Project) -> None:
    throwaway.rules(
        {"match": {"method": "GET"}, "times": {"first": 1}, "status": 503},
        {"match": {"method": "HEAD"}, "times": {"first": 2}, "status": 429, "retryAfter": 60},
        {"match": {"method": "POST"}, "status": 503},
    )
    with steady_client(throwaway) as client:
        for method, path in (("GET", ""), ("GET", ""), ("HEAD", ""), ("HEAD", ""), ("POST", "/one"), ("POST", "/two")):
            client.send(method, path)
    report = reported(throwaway)
    assert report["recovered"] == {"503": 1}
    told = report["told"].splitlines()
    assert told[0] == f"Project {throwaway.key}: 6 requests."
    assert "gave up: 503, twice" in told
    assert "recovered: 503, once" in told
    (worse,) = (line for line in told if line.startswith("made it worse: 429, once: Request 3 was answered with Retry"))
    assert worse.endswith("s later.")
    assert told[-3].startswith("retryBeforeRetryAfter, once: A retry before Retry-After (E-26)")
    assert told[-1] == "  Wait for the seconds that `Retry-After` states."
    assert [often(each) for each in (1, 2, 3)] == ["once", "twice", "3 times"]
