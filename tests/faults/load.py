"""Steady writers that keep a journal of what was acknowledged, and the audit of that journal against the database."""

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tests.faults.service import Answer, Service

ANSWERED_WITHIN_S = 5.0


@dataclass
class Counter:
    """A resource that one writer updates, by versions that it knows."""

    id: str
    version: int = 1
    text: str | None = None
    """``someProperty`` as of that version."""
    doubtful: set[str] = field(default_factory=set[str])
    """Texts whose writing was not acknowledged; one of them may have been written all the same."""
    acknowledged: int = 0
    settled: int = 0
    """Writes that were not acknowledged and turned out to have happened."""


class Load(AbstractContextManager["Load"]):
    """Writers, and a reader that notices when the service is away, on a project of their own."""

    def __init__(self, service: Service, updaters: int = 4, creators: int = 3, pause_s: float = 0.01) -> None:
        self.service = service
        self.project = f"p-{uuid4().hex[:20]}"
        self.token = service.token(f"manage_test:{self.project}")
        self.violations: list[str] = []
        self.answers: list[tuple[float, Answer]] = []
        """When each answer came, by the monotonic clock."""
        self.counters: list[Counter] = []
        self.created: dict[str, int] = {}
        self.doubtful_keys: set[str] = set()
        self.reads: list[tuple[float, bool]] = []
        """When the reader had an answer, and whether it was a 200."""
        self._pause_s = pause_s
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._update) for _ in range(updaters)]
        self._threads += [threading.Thread(target=self._create, args=(number,)) for number in range(creators)]
        self._threads.append(threading.Thread(target=self._read))

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        self.service.wait_until(lambda: len(self.answers) > 50, within_s=30)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Let the writers finish what they are about."""
        self._stopped.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def request(self, method: str, path: str, body: Any = None) -> Answer:
        """A request to the project's resources; what is wrong with its answer is a violation."""
        answer = self.service.request(method, f"/{self.project}/resource{path}", body, self.token)
        self.answers.append((time.monotonic(), answer))
        if answer.seconds > ANSWERED_WITHIN_S:
            self.violations.append(f"{method} took {answer.seconds:.1f} s: {answer}")
        if answer.status is not None and answer.status >= 500 and not answer.is_unavailable:
            self.violations.append(f"{method}: {answer}")
        return answer

    def _update(self) -> None:
        created = self._until(lambda: self.request("POST", "", {"objectTypeProperty": {}}), 201)
        if created is None:
            return
        counter = Counter(created.json()["id"])
        self.counters.append(counter)
        while not self._stopped.wait(self._pause_s):
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
        """Compare what is with what may be: the last known version, or one doubtful write on top of it."""
        if current["version"] == counter.version and current.get("someProperty") == counter.text:
            return
        if current["version"] == counter.version + 1 and current.get("someProperty") in counter.doubtful:
            counter.settled += 1
            _advance(counter, current)
            return
        self.violations.append(f"{counter} became {current}")

    def _create(self, number: int) -> None:
        count = 0
        while not self._stopped.wait(self._pause_s):
            count += 1
            key = f"{number}-{count}"
            answer = self.request("POST", "", {"key": key, "objectTypeProperty": {"arrayOfIntExample": [count]}})
            if answer.status == 201:
                self.created[key] = count
            elif not answer.refused:
                self.doubtful_keys.add(key)

    def _read(self) -> None:
        while not self._stopped.wait(0.02):
            answer = self.request("GET", "?limit=1")
            self.reads.append((time.monotonic(), answer.status == 200))

    def _until(self, send: Callable[[], Answer], status: int) -> Answer | None:
        """Repeat a request until it is answered so; None if the load is stopped meanwhile."""
        while True:
            answer = send()
            if answer.status == status:
                return answer
            if self._stopped.wait(0.1):
                return None

    def recovered_after(self, moment: float) -> float:
        """Seconds from a moment until reads were answered again, and writes, and nothing was refused any more."""
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
        """Requests that were sent and whose connection ended without an answer."""
        return [answer for _, answer in self.answers if answer.status is None and not answer.refused]

    def audit(self) -> str:
        """Hold the journal against the database; returns what it saw, for people.

        :raises AssertionError: if an acknowledged write is lost, if any was applied twice, or if an answer was wrong.
        """
        assert self.violations == []
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
        assert self.violations == []
        stored = {row[1]: row for row in rows if row[1] is not None}
        assert stored.keys() >= self.created.keys()
        assert stored.keys() <= self.created.keys() | self.doubtful_keys
        for key, count in self.created.items():
            assert (stored[key][2], stored[key][4]) == (1, f'{{"arrayOfIntExample":[{count}]}}')
        acknowledged = len(self.created) + sum(counter.acknowledged for counter in self.counters)
        refused = sum(1 for _, answer in self.answers if answer.status == 503)
        slowest = max(answer.seconds for _, answer in self.answers)
        return (
            f"{acknowledged} writes acknowledged, {refused} answers 503,"
            f" {len(self.without_answer())} connections cut, slowest answer {slowest:.2f} s"
        )


def _advance(counter: Counter, current: dict[str, Any]) -> None:
    counter.version, counter.text = current["version"], current["someProperty"]
    counter.doubtful.clear()
