"""A constant load of writes with a journal of those that were acknowledged, and its comparison with the database."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tests.faults.service import Answer, Service

ANSWERED_WITHIN_S = 10.25


@dataclass
class Counter:
    """A resource that one writer updates, and what that writer knows of it."""

    id: str
    version: int = 1
    text: str | None = None
    """``someProperty`` as of that version."""
    doubtful: set[str] = field(default_factory=set[str])
    """Texts of writes that were not acknowledged; one of these writes may have happened nevertheless."""
    acknowledged: int = 0
    settled: int = 0
    """Number of writes that were not acknowledged, but happened."""


LIST = "?limit=1"


class Load(AbstractContextManager["Load"]):
    """Writers and readers on a project of their own.

    :param updaters: each updates a resource of its own, with the expected version.
    :param creators: each creates resources with keys of its own, and deletes every fifth.
    :param readers: each requests the paths in ``reads`` one after the other.
    :param interval_s: from the beginning of a thread's request to that of its next one, if it is answered by then.
    :param reads: paths, in which ``{id}`` stands for a resource that is updated.
    """

    def __init__(
        self,
        service: Service,
        updaters: int = 4,
        creators: int = 3,
        readers: int = 1,
        interval_s: float = 0.02,
        reads: Sequence[str] = (LIST,),
    ) -> None:
        self.service = service
        self.project = f"p-{uuid4().hex[:20]}"
        self.token = service.token(f"manage_test:{self.project}")
        self.violations: list[str] = []
        self.answers: list[tuple[float, Answer]] = []
        """Each answer with its time, by the monotonic clock."""
        self.counters: list[Counter] = []
        self.created: dict[str, int] = {}
        self.deleted: set[str] = set()
        self.doubtful_keys: set[str] = set()
        self.interval_s = interval_s
        self._reads = tuple(reads)
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._update) for _ in range(updaters)]
        self._threads += [threading.Thread(target=self._create, args=(number,)) for number in range(creators)]
        self._threads += [threading.Thread(target=self._read) for _ in range(readers)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        self.service.wait_until(lambda: len(self.answers) > 50, within_s=30)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop after the requests in flight."""
        self._stopped.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def request(self, method: str, path: str, body: Any = None) -> Answer:
        """Send a request to the project's resources; a slow answer or an unexpected error is a violation."""
        answer = self.service.request(method, f"/{self.project}/resource{path}", body, self.token)
        self.answers.append((time.monotonic(), answer))
        if answer.seconds > ANSWERED_WITHIN_S:
            self.violations.append(f"{method} took {answer.seconds:.1f} s: {answer}")
        if answer.status is not None and answer.status >= 500 and not answer.is_unavailable:
            self.violations.append(f"{method}: {answer}")
        return answer

    def _turns(self) -> Iterator[int]:
        """Numbers from 1, one for each request of a thread, at the load's interval, until the load is stopped."""
        number, due = 0, time.monotonic()
        while not self._stopped.wait(max(0.0, due - time.monotonic())):
            due = max(due + self.interval_s, time.monotonic())
            number += 1
            yield number

    def _update(self) -> None:
        created = self._until(lambda: self.request("POST", "", {"objectTypeProperty": {}}), 201)
        if created is None:
            return
        counter = Counter(created.json()["id"])
        self.counters.append(counter)
        for _ in self._turns():
            text = uuid4().hex
            action = {"action": "changeSomeProperty", "someProperty": text}
            answer = self.request("POST", f"/{counter.id}", {"version": counter.version, "actions": [action]})
            if answer.status == 200:
                if answer.json()["version"] != counter.version + 1:
                    self.violations.append(f"version {counter.version} was followed by {answer}")
                counter.acknowledged += 1
                _advance(counter, answer.json())
                continue
            if not answer.refused and answer.status != 409:
                counter.doubtful.add(text)
            current = self._until(lambda: self.request("GET", f"/{counter.id}"), 200)
            if current is None:
                return
            self._settle(counter, current.json())

    def _settle(self, counter: Counter, current: dict[str, Any]) -> None:
        """Note a violation unless the resource has its last known version, or one write more that is in doubt."""
        if current["version"] == counter.version and current.get("someProperty") == counter.text:
            return
        if current["version"] == counter.version + 1 and current.get("someProperty") in counter.doubtful:
            counter.settled += 1
            _advance(counter, current)
            return
        self.violations.append(f"{counter} became {current}")

    def _create(self, number: int) -> None:
        for count in self._turns():
            key = f"{number}-{count}"
            answer = self.request("POST", "", {"key": key, "objectTypeProperty": {"arrayOfIntExample": [count]}})
            if answer.status != 201:
                if not answer.refused:
                    self.doubtful_keys.add(key)
                continue
            self.created[key] = count
            if count % 5 == 0:
                answer = self.request("DELETE", f"/{answer.json()['id']}?version=1")
                del self.created[key]
                (self.deleted if answer.status == 200 else self.doubtful_keys).add(key)

    def _read(self) -> None:
        for number in self._turns():
            path = self._reads[number % len(self._reads)]
            counter = self.counters[number % len(self.counters)] if self.counters else None
            if "{id}" not in path or counter is not None:
                self.request("GET", path.format(id=counter and counter.id))

    def _until(self, send: Callable[[], Answer], status: int) -> Answer | None:
        """Repeat a request until its answer has this status; None if the load is stopped meanwhile."""
        while True:
            answer = send()
            if answer.status == status:
                return answer
            if self._stopped.wait(0.1):
                return None

    def recovered_after(self, moment: float) -> float:
        """Seconds from a moment until the last request that failed; at least 50 have to succeed after it."""
        began = time.monotonic()
        while time.monotonic() - began < 15:
            time.sleep(0.1)
            later = [(when, answer.status) for when, answer in list(self.answers) if when > moment]
            bad = [when for when, status in later if status not in (200, 201)]
            last_bad = max(bad, default=moment)
            good_since = [when for when, status in later if when > last_bad]
            if len(good_since) > 50 and time.monotonic() - last_bad > 1.0:
                return max(0.0, last_bad - moment)
        raise AssertionError(f"the service did not recover: {self.service.complaints()}")

    def without_answer(self) -> list[Answer]:
        """The answers of requests that were sent and not answered before the connection ended."""
        return [answer for _, answer in self.answers if answer.status is None and not answer.refused]

    def audit(self) -> str:
        """Compare the journal with the database, and return a summary.

        :raises AssertionError: if an acknowledged write is lost, any write was applied twice, or an answer was wrong.
        """
        assert self.violations == [], self.violations[:5]
        with self.service.database() as connection:
            rows = connection.execute(
                "SELECT id::text, key, version, some_property, object_type FROM resource WHERE project_key = %s",
                (self.project,),
            ).fetchall()
        by_id = {row[0]: row for row in rows}
        for counter in self.counters:
            _, _, version, text, _ = by_id[counter.id]
            self._settle(counter, {"version": version, "someProperty": text})
            assert counter.version == 1 + counter.acknowledged + counter.settled
        assert self.violations == [], self.violations[:5]
        stored = {row[1]: row for row in rows if row[1] is not None}
        assert stored.keys() >= self.created.keys()
        assert not stored.keys() & self.deleted
        assert stored.keys() <= self.created.keys() | self.doubtful_keys
        for key, count in self.created.items():
            assert (stored[key][2], stored[key][4]) == (1, f'{{"arrayOfIntExample":[{count}]}}')
        acknowledged = (
            len(self.created) + 2 * len(self.deleted) + sum(counter.acknowledged for counter in self.counters)
        )
        refused = sum(1 for _, answer in self.answers if answer.status == 503)
        slowest = max(answer.seconds for _, answer in self.answers)
        return (
            f"{acknowledged} writes acknowledged, {refused} answers 503,"
            f" {len(self.without_answer())} connections cut, slowest answer {slowest:.2f} s"
        )


def _advance(counter: Counter, current: dict[str, Any]) -> None:
    counter.version, counter.text = current["version"], current["someProperty"]
    counter.doubtful.clear()
