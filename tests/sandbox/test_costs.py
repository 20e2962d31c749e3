"""What a tester orders, or a client sends, is bounded by its cost, and no text of either is a 500."""

import json
from typing import Any

import pytest

from app.sandbox.rules.matching import Budget, Sent
from tests.support.effort import assert_under_50_ms
from tests.support.sandbox import Project, Service


def sent(body: Any, budget: Budget | None = None) -> Sent:
    data = json.dumps(body).encode()
    return Sent("listResources", "POST", "/resource", None, read=lambda: data, budget=budget)


def test_json_is_compared_within_a_budget_of_all_rules() -> None:
    budget = Budget(comparisons=1000)
    request = sent(list(range(900)), budget)
    assert request.is_in([899], request.json)
    assert not request.is_in([898], request.json), "the budget is spent"
    assert budget.is_spent
    large = sent([0] * 21_800)
    assert_under_50_ms(lambda: large.is_in([1] * 32_700, large.json), ValueError)


def test_a_pattern_is_searched_once_for_all_rules_and_within_a_budget() -> None:
    budget = Budget()
    request = sent("a" * 60_000, budget)
    before = budget.steps
    assert request.finds("b*a", in_body=True)
    spent = before - budget.steps
    for _ in range(100):
        assert request.finds("b*a", in_body=True)
    assert before - budget.steps == spent
    assert not sent("a" * 60_000, Budget(steps=1000)).finds("a", in_body=True)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/runs/%00/report"), ("DELETE", "/runs/%ff"), ("GET", "/projects/%00")]
)
def test_hostile_paths_are_not_found(sandbox: Service, method: str, path: str) -> None:
    assert sandbox.send(method, f"/sandbox{path}").status in (400, 404)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"rules": [{"body": {"text": "\\ud800"}}]}',
        b'{"rules": [{"body": {"json": {"a": "\\ud800"}}}]}',
        b'{"rules": [{"body": {"json": 1e400}}]}',
        b'{"rules": [{"status": 503, "match": {"body": [1e400]}}]}',
        b'{"rules": ' + b"[" * 30_000,
        b'{"rules": [{"body": {"json": ' + b"[" * 900 + b"]" * 900 + b"}}]}",
    ],
)
def test_hostile_rules_are_refused(throwaway: Project, raw: bytes) -> None:
    path, headers = f"/sandbox/projects/{throwaway.key}/rules", {"Content-Type": "application/json"}
    assert throwaway.service.send("PUT", path, headers=headers, raw=raw).status == 400


@pytest.mark.parametrize("own", [{"results": 5}, {"results": [5, {}]}, 5])
def test_unknown_fields_are_added_to_whatever_there_is(throwaway: Project, own: Any) -> None:
    throwaway.rules({"status": 200, "body": {"json": own}}, {"phase": "after", "body": "unknownFields"})
    assert throwaway.send("GET").status == 200
    throwaway.rules({"body": "unknownFields"})
    assert "sandboxUnknownField" in throwaway.send("GET").json


def test_a_page_of_another_site_is_refused(sandbox: Service) -> None:
    for site, status in (("cross-site", 403), ("same-origin", 200), ("none", 200)):
        assert sandbox.send("GET", "/sandbox/projects", headers={"Sec-Fetch-Site": site}).status == status
