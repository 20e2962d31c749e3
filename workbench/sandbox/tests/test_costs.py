"""What a tester orders, or a client sends, is bounded by its cost, and no text of either is a 500."""

import json
from typing import Any

import journals
import pytest
from sample_resource_sandbox.api.answering import giving_way
from sample_resource_sandbox.rules.matching import Sent, fits
from tester import Project

from tests.support.effort import assert_under_50_ms


def sent(body: Any) -> Sent:
    data = json.dumps(body).encode()
    return Sent(journals.sent(0), lambda: data)


def test_json_is_compared_within_a_budget_of_all_rules() -> None:
    request = sent([0] * 21_800)
    assert request.is_in([0], request.json)
    assert not request.is_unread
    assert_under_50_ms(lambda: request.is_in([0] * 32_700, request.json), ValueError)
    assert request.is_unread
    assert not request.is_in([0], request.json), "the budget is spent"


@pytest.mark.parametrize(
    ("wanted", "text", "is_fitting"),
    [
        ("*", "", True),
        ("a*a", "a", False),
        ("*b*", "abc", True),
        ("a*b*c", "a\nb\nc", True),
        ("a*b*b*c", "abc", False),
        ("*ab*ba*", "aba", False),
    ],
)
def test_a_star_stands_for_any_characters(wanted: str, text: str, is_fitting: bool) -> None:
    assert fits(wanted, text) is is_fitting


@pytest.mark.parametrize("wanted", [f"*{'a' * 1000}b*", "*" + "a*" * 900 + "b", "*" + "ab" * 30 + "c*"])
def test_no_text_is_dear(wanted: str) -> None:
    assert_under_50_ms(lambda: [fits(wanted, "ab" * 30_000), fits(wanted, "a" * 60_000)], ValueError)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"rules": [{"body": {"text": "\\ud800"}}]}',
        b'{"rules": [{"body": {"json": 1e400}}]}',
        b'{"rules": ' + b"[" * 30_000,
        b'{"rules": [{"body": {"json": ' + b"[" * 900 + b"]" * 900 + b"}}]}",
    ],
)
def test_hostile_rules_are_refused(throwaway: Project, raw: bytes) -> None:
    path, headers = f"/sandbox/projects/{throwaway.key}/rules", {"Content-Type": "application/json"}
    assert throwaway.service.send("PUT", path, headers=headers, raw=raw).status == 400


def test_what_computes_for_long_gives_others_as_much_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    slept: list[float] = []
    monkeypatch.setattr("sample_resource_sandbox.api.answering.time.monotonic", lambda: clock[0])
    monkeypatch.setattr("sample_resource_sandbox.api.answering.time.sleep", slept.append)
    for spent in giving_way([0.001, 0.001, 0.002, 0.05, 0.0]):
        clock[0] += spent
    assert slept == [pytest.approx(0.004), pytest.approx(0.05)]
