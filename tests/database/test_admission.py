"""Who gets the next free connection: by project, then by arrival, with a lane for what may be slow."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from types import SimpleNamespace

import pytest

from app.database import admission
from app.database.admission import Admission, Lane, QueueClosed, QueueFull, QueueTimeout

FAST, SLOW = Lane.FAST, Lane.SLOW


class Queue:
    """Requests that wait in threads, and the order in which they are admitted."""

    def __init__(self, connections: int) -> None:
        self.admission = Admission(connections, connections)
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


@pytest.mark.parametrize(
    ("connections", "kept"), [(1, 0), (2, 1), (3, 1), (4, 1), (7, 1), (8, 2), (11, 2), (12, 3), (20, 5), (256, 64)]
)
def test_connections_are_kept_for_projects_that_hold_none(connections: int, kept: int) -> None:
    queue = Admission(connections, 1)
    for _ in range(connections - kept):
        assert queue.enter("a", FAST, 1) == 0.0
    assert not is_free(queue, "a", FAST)
    assert not queue.is_exhausted
    for number in range(kept):
        assert queue.enter(f"another {number}", FAST, 1) == 0.0
        assert not is_free(queue, f"another {number}", FAST)
    assert not is_free(queue, "one more", FAST)


def test_a_kept_connection_that_is_given_back_is_kept_again() -> None:
    queue = Queue(4)
    for name in ("a1", "a2", "a3", "a4", "b1", "b2"):
        queue.enter(name)
    assert queue.admitted == ["a1", "a2", "a3", "b1"]
    queue.leave("b")
    assert queue.admitted[4:] == ["b2"]
    queue.leave("b")
    assert is_free(queue.admission, "c", SLOW)
    assert queue.admitted[5:] == []
    queue.leave("a")
    assert queue.admitted[5:] == ["a4"]


def test_the_next_place_goes_to_the_project_that_holds_the_fewest_then_to_the_first() -> None:
    queue = Queue(5)
    for name in ("a1", "a2", "a3", "a4", "b1"):
        queue.enter(name)
    for name in ("a5", "a6", "b2", "c1", "b3"):
        queue.enter(name)
    assert queue.admitted == ["a1", "a2", "a3", "a4", "b1"]
    for name, admitted in (("a", ["c1"]), ("c", []), ("a", ["b2"]), ("a", ["a5"]), ("b", ["b3"]), ("b", ["a6"])):
        before = len(queue.admitted)
        queue.leave(name)
        assert queue.admitted[before:] == admitted


def test_within_a_project_the_first_comes_first() -> None:
    queue = Queue(1)
    for number in range(6):
        queue.enter(f"a{number}")
    for _ in range(5):
        queue.leave("a")
    assert queue.admitted == [f"a{number}" for number in range(6)]


@pytest.mark.parametrize(
    ("connections", "kept", "slow"), [(1, 0, 1), (2, 1, 1), (3, 1, 1), (4, 1, 2), (8, 2, 5), (20, 5, 12)]
)
def test_slow_requests_never_hold_the_last_quarter_of_what_their_project_may(
    connections: int, kept: int, slow: int
) -> None:
    queue = Admission(connections, connections)
    for _ in range(slow):
        assert queue.enter("a", SLOW, 1) == 0.0
    for lane in (SLOW, *([FAST] if connections == slow else [])):
        with pytest.raises(QueueTimeout):
            queue.enter("b", lane, 0.01)
    for _ in range(connections - kept - slow):
        assert queue.enter("a", FAST, 1) == 0.0


def test_slow_requests_hold_no_more_than_their_number() -> None:
    queue = Admission(8, 2)
    assert [queue.enter("a", SLOW, 1) for _ in range(2)] == [0.0] * 2
    with pytest.raises(QueueTimeout):
        queue.enter("b", SLOW, 0.01)
    assert [queue.enter("a", FAST, 1) for _ in range(4)] == [0.0] * 4


def test_a_fast_request_overtakes_slow_ones_that_wait_for_their_lane() -> None:
    queue = Queue(4)
    for number in range(4):
        queue.enter(f"a{number}", SLOW)
    queue.enter("a4")
    queue.enter("a5")
    assert queue.admitted == ["a0", "a1", "a4"]
    queue.leave("a", SLOW)
    assert queue.admitted[3:] == ["a2"]
    queue.leave("a", FAST)
    assert queue.admitted[4:] == ["a5"]
    queue.leave("a", SLOW)
    assert queue.admitted[5:] == ["a3"]


def test_a_projects_queue_is_bounded_and_those_of_others_are_not_affected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "QUEUE_LENGTH", 3)
    queue = Queue(1)
    waiting = [queue.enter(name) for name in ("a0", "a1", "a2", "a3")]
    with pytest.raises(QueueFull):
        queue.admission.enter("a", FAST, 1)
    with pytest.raises(QueueFull):
        queue.admission.enter("a", SLOW, 1)
    waiting.append(queue.enter("b0"))
    for name in ("a", "a", "a", "a"):
        queue.leave(name)
    assert queue.admitted == ["a0", "a1", "a2", "a3", "b0"]


def test_one_that_gives_up_is_not_admitted_later() -> None:
    queue = Admission(1, 1)
    queue.enter("a", FAST, 1)
    with pytest.raises(QueueTimeout):
        queue.enter("b", FAST, 0.01)
    queue.leave("a", FAST)
    assert queue.enter("c", FAST, 0.01) == 0.0


def test_all_that_wait_are_sent_away() -> None:
    queue = Admission(1, 1)
    queue.enter("a", FAST, 1)
    with ThreadPoolExecutor(8) as pool:
        waiting: list[Future[float]] = [pool.submit(queue.enter, str(number % 3), FAST, 10) for number in range(8)]
        until(lambda: queue.stats()["requests_waiting"] == 8)
        queue.send_away()
        assert [type(future.exception()) for future in waiting] == [QueueClosed] * 8
    assert not queue.is_exhausted


def test_places_are_neither_lost_nor_doubled_under_contention() -> None:
    queue, held, most = Admission(5, 5), 0, 0

    def work(number: int) -> None:
        nonlocal held, most
        project, lane = f"project {number % 3}", SLOW if number % 4 == 0 else FAST
        for _ in range(200):
            try:
                queue.enter(project, lane, 0.002 if number % 5 == 0 else 10)
            except QueueTimeout:
                continue
            held += 1
            most = max(most, held)
            held -= 1
            queue.leave(project, lane)

    with ThreadPoolExecutor(24) as pool:
        for future in [pool.submit(work, number) for number in range(24)]:
            future.result()
    assert most <= 5
    assert [queue.enter(project, FAST, 0.01) for project in "aaaab"] == [0.0] * 5
    with pytest.raises(QueueTimeout):
        queue.enter("a", FAST, 0.01)


# The rest after a slow request


class Clock:
    """A clock that is set by hand, and the timers that wait for it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self._timers: list[tuple[float, Callable[..., None], tuple[str, ...]]] = []
        monkeypatch.setattr(admission, "monotonic", lambda: self.now)
        monkeypatch.setattr(admission, "Timer", self._timer)

    def _timer(self, seconds: float, function: Callable[..., None], arguments: tuple[str, ...]) -> SimpleNamespace:
        return SimpleNamespace(start=lambda: self._timers.append((self.now + seconds, function, arguments)))

    def advance(self, seconds: float) -> None:
        """Let time pass, with the timers that end meanwhile."""
        until_ = self.now + seconds
        for timer in sorted(self._timers, key=lambda timer: timer[0]):
            self.now, function, arguments = timer
            if self.now > until_ + 1e-9:
                break
            self._timers.remove(timer)
            function(*arguments)
        self.now = until_

    @property
    def rests(self) -> list[float]:
        """The seconds after which each timer ends."""
        return [round(end - self.now, 3) for end, *_ in self._timers]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def is_free(queue: Admission, project: str, lane: Lane) -> bool:
    try:
        queue.enter(project, lane, 0.01)
    except QueueTimeout:
        return False
    queue.leave(project, lane)
    return True


def hold(queue: Admission, clock: Clock, project: str, lane: Lane, seconds: float) -> None:
    queue.enter(project, lane, 1)
    clock.advance(seconds)
    queue.leave(project, lane)


def test_a_project_that_is_alone_does_not_rest(clock: Clock) -> None:
    queue = Admission(8, 1)
    hold(queue, clock, "b", FAST, 1.0)
    queue.enter("a", SLOW, 1)
    hold(queue, clock, "a", FAST, 1.0)
    queue.leave("a", SLOW)
    assert clock.rests == []
    assert is_free(queue, "a", SLOW)


def test_a_project_rests_as_long_as_others_have_used_connections_meanwhile(clock: Clock) -> None:
    queue = Admission(8, 1)
    queue.enter("a", SLOW, 1)
    hold(queue, clock, "b", FAST, 0.5)
    clock.advance(3.5)
    queue.leave("a", SLOW)
    assert clock.rests == [0.5]
    assert not is_free(queue, "a", SLOW)
    assert is_free(queue, "a", FAST)
    assert is_free(queue, "c", SLOW)
    clock.advance(0.4)
    assert not is_free(queue, "a", SLOW)
    clock.advance(0.1)
    assert is_free(queue, "a", SLOW)


def test_a_project_rests_no_longer_than_it_has_worked(clock: Clock) -> None:
    queue = Admission(8, 1)
    queue.enter("a", SLOW, 1)
    for project in ("b", "b", "c"):
        queue.enter(project, FAST, 1)
    clock.advance(2.0)
    queue.leave("a", SLOW)
    assert clock.rests == [2.0]


def test_slow_requests_of_others_need_no_rest(clock: Clock) -> None:
    queue = Admission(8, 2)
    queue.enter("a", SLOW, 1)
    hold(queue, clock, "b", SLOW, 2.0)
    queue.leave("a", SLOW)
    assert clock.rests == []


def test_each_place_of_a_project_rests_by_itself(clock: Clock) -> None:
    queue = Admission(8, 2)
    queue.enter("b", FAST, 1)
    queue.enter("a", SLOW, 1)
    clock.advance(1.0)
    queue.enter("a", SLOW, 1)
    queue.leave("a", SLOW)
    assert clock.rests == [1.0]
    assert not is_free(queue, "a", SLOW)  # one place works, the other rests
    clock.advance(1.0)
    assert queue.enter("a", SLOW, 1) == 0.0
    assert not is_free(queue, "a", SLOW)


def test_the_end_of_a_rest_admits_who_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(8)
    queue.admission = Admission(8, 1)
    clock = Clock(monkeypatch)
    queue.enter("b0")
    queue.enter("a0", SLOW)
    clock.advance(1.0)
    queue.leave("a", SLOW)
    queue.enter("a1", SLOW)
    queue.enter("c0", SLOW)
    assert queue.admitted == ["b0", "a0", "c0"]
    queue.leave("c", SLOW)
    assert queue.admitted == ["b0", "a0", "c0"]
    assert clock.rests == [1.0]
    clock.advance(1.0)
    until(lambda: queue.admitted == ["b0", "a0", "c0", "a1"])
