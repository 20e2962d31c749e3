"""Who gets the next free connection: the projects in turn, each up to its bound, with a lane for slow reads."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Thread

import pytest

from app.database import admission
from app.database.admission import Admission, Lane, ProjectBusy
from app.database.pooled_connection import count_sql

FAST, SLOW = Lane.FAST, Lane.SLOW


class Queue:
    """Requests that wait in threads, and the order in which they are admitted."""

    def __init__(self, connections: int) -> None:
        self.admission = Admission(connections)
        self.admitted: list[str] = []

    def enter(self, name: str, lane: Lane = FAST) -> Thread:
        """Let a request wait; its project is the first letter of its name. Returns when it waits or is admitted."""

        def wait() -> None:
            self.admission.enter(name[0], lane, 10)
            self.admitted.append(name)

        before = self.count()
        thread = Thread(target=wait)
        thread.start()
        until(lambda: self.count() > before)
        return thread

    def count(self) -> int:
        """Requests that wait or were admitted."""
        return len(self.admitted) + self.admission.stats()["requests_waiting"]

    def leave(self, name: str, lane: Lane = FAST) -> None:
        """Give a place back, and wait until those that are admitted for it go on."""
        count = self.count()
        self.admission.leave(name[0], lane)
        until(lambda: self.count() == count)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def is_free(queue: Admission, project: str, lane: Lane = FAST) -> bool:
    """Whether a request of a project would be admitted at once."""
    try:
        queue.enter(project, lane, 0)
    except ProjectBusy:
        return False
    queue.leave(project, lane)
    return True


@pytest.mark.parametrize(
    ("connections", "of_one"), [(1, 1), (2, 1), (3, 2), (4, 3), (7, 5), (8, 6), (11, 8), (20, 15), (256, 192)]
)
def test_a_project_holds_at_most_three_quarters(connections: int, of_one: int) -> None:
    queue = Admission(connections)
    for _ in range(of_one):
        queue.enter("a", FAST, 0)
    assert not is_free(queue, "a")
    assert not queue.is_exhausted
    for number in range(connections - of_one):
        queue.enter(f"another {number}", FAST, 0)
    assert not is_free(queue, "one more")


@pytest.mark.parametrize(("connections", "slow"), [(1, 1), (4, 1), (7, 1), (8, 2), (20, 5)])
def test_slow_requests_of_all_projects_hold_at_most_a_quarter(connections: int, slow: int) -> None:
    queue = Admission(connections)
    for number in range(slow):
        queue.enter(f"project {number}", SLOW, 0)
    assert not is_free(queue, "a", SLOW)
    assert is_free(queue, "a", FAST) == (connections > 1)
    queue.leave("project 0", SLOW)
    assert is_free(queue, "a", SLOW)


def test_projects_that_wait_get_connections_in_turn() -> None:
    queue = Queue(1)
    for name in ("a1", "a2", "a3", "a4", "b1", "c1", "b2"):
        queue.enter(name)
    for name in ("a", "a", "b", "c", "a", "b"):
        queue.leave(name)
    assert queue.admitted == ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]


def test_a_project_at_its_bound_is_passed_over() -> None:
    queue = Queue(4)
    for name in ("a1", "a2", "a3", "a4", "b1", "b2"):
        queue.enter(name)
    assert queue.admitted == ["a1", "a2", "a3", "b1"]
    queue.leave("b")
    assert queue.admitted[4:] == ["b2"]
    queue.leave("b")
    assert queue.admitted[5:] == []
    queue.leave("a")
    assert queue.admitted[5:] == ["a4"]


def test_a_fast_request_overtakes_slow_ones_that_wait_for_their_lane() -> None:
    queue = Queue(4)
    for number in range(3):
        queue.enter(f"a{number}", SLOW)
    for number in range(3, 6):
        queue.enter(f"a{number}")
    assert queue.admitted == ["a0", "a3", "a4"]
    queue.leave("a", FAST)
    assert queue.admitted[3:] == ["a5"]
    queue.leave("a", SLOW)
    assert queue.admitted[4:] == ["a1"]
    queue.leave("a", SLOW)
    assert queue.admitted[5:] == ["a2"]


def test_a_projects_queue_is_bounded_and_those_of_others_are_not_affected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "WAITING_AT_MOST", 3)
    queue = Queue(1)
    for name in ("a0", "a1", "a2", "a3"):
        queue.enter(name)
    for lane in Lane:
        with pytest.raises(ProjectBusy):
            queue.admission.enter("a", lane, 10)
    queue.enter("b0")
    for name in ("a", "a", "b", "a"):
        queue.leave(name)
    assert queue.admitted == ["a0", "a1", "b0", "a2", "a3"]


def test_places_are_neither_lost_nor_doubled_under_contention() -> None:
    queue, held, most = Admission(5), 0, 0

    def work(number: int) -> None:
        nonlocal held, most
        project, lane = f"project {number % 3}", SLOW if number % 4 == 0 else FAST
        for _ in range(200):
            try:
                queue.enter(project, lane, 0.002 if number % 5 == 0 else 10)
            except ProjectBusy:
                continue
            held += 1
            most = max(most, held)
            held -= 1
            queue.leave(project, lane)

    with ThreadPoolExecutor(24) as pool:
        for future in [pool.submit(work, number) for number in range(24)]:
            future.result()
    assert most <= 5
    for project in "aaabb":
        queue.enter(project, FAST, 0)
    assert not is_free(queue, "c")


@pytest.mark.parametrize("ends", ["admitted", "refused"])
def test_a_wait_is_noted_however_it_ends(ends: str) -> None:
    queue = Admission(1)
    queue.enter("a", FAST, 0)

    def wait() -> tuple[float, str]:
        usage = count_sql()
        with suppress(ProjectBusy):
            queue.enter("b", SLOW, 10 if ends == "admitted" else 0.01)
        return usage.waited_s, usage.lane

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait)
        if ends == "admitted":
            until(lambda: queue.stats()["requests_waiting"] == 1)
            queue.leave("a", FAST)
        waited_s, lane = waiting.result()
    assert waited_s > 0
    assert (lane, queue.stats()["requests_errors"]) == ("slow", ends == "refused")
