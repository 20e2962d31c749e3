"""What requests leave to be done after them."""

import logging
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from app import errors
from app.database import leisure
from app.database.connection import Connection
from app.database.leisure import Leisure, Work
from tests.support.waiting import wait_until


@contextmanager
def no_connection(_project: str) -> Generator[Any]:
    yield None


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leisure, "_DELAY_S", 0.0)
    monkeypatch.setattr(leisure, "_PAUSE_S", 0.0)


def work_of(left: list[int], done: list[str]) -> Work:
    def work(_connection: Connection, project: str) -> int:
        done.append(project)
        return left.pop(0) if left else 0

    return work


def test_work_is_repeated_until_nothing_is_left_and_projects_take_turns() -> None:
    done: list[str] = []
    own = Leisure(no_connection)
    work, other = work_of([3, 2, 1], done), work_of([2, 1], done)
    own.add("a", work)
    own.add("b", other)
    own.add("a", work)
    wait_until(lambda: len(done) == 7)
    assert done.count("a") == 4
    assert done.index("b") < 3
    own.close()
    assert len(done) == 7


def test_the_thread_ends_with_the_work_and_begins_again() -> None:
    done: list[str] = []
    own = Leisure(no_connection)
    work = work_of([], done)
    for number in range(1, 4):
        own.add("a", work)
        wait_until(lambda number=number: len(done) == number and not own.is_working)
    own.close()
    own.add("a", work)
    time.sleep(0.02)
    assert len(done) == 3, "closed"


@pytest.mark.parametrize("failure", [errors.over_capacity("The database is not available."), RecursionError("a fault")])
def test_work_that_fails_is_tried_again(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    failures = [failure]
    done: list[str] = []

    @contextmanager
    def connect(project: str) -> Generator[Any]:
        if failures:
            raise failures.pop()
        yield project

    monkeypatch.setattr(logging.getLogger("app"), "propagate", True)
    own = Leisure(connect)
    own.add("a", work_of([], done))
    wait_until(lambda: done == ["a"])
    own.add("b", work_of([], done))
    wait_until(lambda: done == ["a", "b"])
    own.close()
    assert "failed" in caplog.text
    assert type(failure).__name__ in caplog.text


def test_the_thread_rests_in_proportion_to_its_work_and_less_if_much_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    now = [0.0]

    def work_for_a_second(left: list[int]) -> Work:
        def work(_connection: Connection, _project: str) -> int:
            now[0] += 1
            return left.pop(0)

        return work

    monkeypatch.setattr(leisure, "monotonic", lambda: now[0])
    own = Leisure(no_connection)
    monkeypatch.setattr(own, "_closed", _Event(pauses))
    own.add("a", work_for_a_second([9_000, 10, 0]))
    wait_until(lambda: not own.is_working)
    assert pauses == [0.0, 1.0, 19.0, 19.0]


class _Event:
    """An event that is never set, and notes how long it was waited for."""

    def __init__(self, waits: list[float]) -> None:
        self._waits = waits

    def is_set(self) -> bool:
        return False

    def wait(self, seconds: float) -> bool:
        self._waits.append(seconds)
        return False
