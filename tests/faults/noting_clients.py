"""Clients that write and read a few keys at the same time, and note each call for :mod:`tests.faults.history`."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from tests.faults.history import Call, Outcome, State
from tests.faults.service import Service

KEYS = ("key-a", "key-b", "key-c", "key-d")

LIST = "/sorted-query-parameters?sort=key"

Answered = tuple[int | None, Any]
"""The status and the value of the body of an answer; ``None, None`` if there was no answer."""

Send = Callable[[str, str, Any, dict[str, str]], Answered]
"""Sends a request: its method, the path below the collection, the value of its body, more headers."""

NOT_SENT: Answered = (0, None)
"""In place of an answer: nobody has received the request."""

_LAST_ROUNDS = 100

_OUTCOMES = {
    200: Outcome.DONE,
    201: Outcome.DONE,
    404: Outcome.ABSENT,
    409: Outcome.REFUSED,
    412: Outcome.REFUSED,
    0: Outcome.REFUSED,
    503: Outcome.UNKNOWN,
    None: Outcome.UNKNOWN,
}


def sending_to(service: Service, project: str) -> Send:
    """Sends requests to a project of a service, with a token of their own."""
    token = service.token(f"manage_test:{project}")

    def send(method: str, path: str, body: Any, headers: dict[str, str]) -> Answered:
        answer = service.request(method, f"/{project}/resource{path}", body, token, headers=headers)
        if answer.refused:
            return NOT_SENT
        return answer.status, answer.json() if answer.status is not None else None

    return send


class NotingClients:
    """Clients of one project, each a thread.

    :param pause_s: the longest wait of a client between two calls.
    """

    def __init__(self, send: Send, clients: int, pause_s: float) -> None:
        self._send = send
        self._clients = clients
        self._pause_s = pause_s
        self._numbers = count(1)
        self._latest: dict[str, State] = {}
        """What some client has seen last of each key: so the versions that they expect are often the right ones."""
        self._stopped = threading.Event()
        self.history: list[Call] = []

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Have them send during the ``with``. At the end each key is read once more.

        :raises AssertionError: if an answer has a status that none of these calls has.
        """
        failures: list[BaseException] = []

        def work(seed: int) -> None:
            chance = random.Random(seed)  # noqa: S311 -- no secret
            try:
                while not self._stopped.wait(chance.uniform(0, self._pause_s)):
                    self._call(chance)
            except BaseException as error:
                failures.append(error)
                raise

        threads = [threading.Thread(target=work, args=(number,)) for number in range(self._clients)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            for thread in threads:
                thread.join()
        assert not failures, failures
        for _ in range(_LAST_ROUNDS):
            last = [*(self._read(key) for key in KEYS), self._list()]
            if all(call.outcome is not Outcome.UNKNOWN for call in last):
                return
            time.sleep(0.1)
        raise AssertionError(f"the last reads are not answered: {last}")

    def _call(self, chance: random.Random) -> None:
        """One call of some kind."""
        key = chance.choice(KEYS)
        seen = self._latest.get(key)
        kind = chance.choices(
            ("put", "patch", "put if match", "update", "delete", "get", "get by id", "list"), (5, 5, 4, 5, 1, 6, 4, 3)
        )[0]
        if seen is None or kind == "put":
            self._put(key)
        elif kind == "patch":
            body = {"id": seen.id, "version": seen.version}
            self._write("PATCH", "", body, next(self._numbers), id=seen.id, expected=seen.version)
        elif kind == "put if match":
            self._put(key, seen.version)
        elif kind == "update":
            text = f"text {next(self._numbers)}"
            actions = [{"action": "changeSomeProperty", "someProperty": text}]
            body = {"version": seen.version, "actions": actions}
            self._note("POST", f"/{seen.id}", body, id=seen.id, sent=text, expected=seen.version)
        elif kind == "delete":
            self._note("DELETE", f"/{seen.id}", id=seen.id)
        elif kind == "get":
            self._read(key)
        elif kind == "get by id":
            self._note("GET", f"/{seen.id}", id=seen.id)
        else:
            self._list()

    def _put(self, key: str, expected: int | None = None) -> None:
        headers = {} if expected is None else {"If-Match": f'"{expected}"'}
        self._write("PUT", "", {"key": key}, next(self._numbers), headers, key=key, expected=expected)

    def _write(
        self, method: str, path: str, body: Any, number: int, headers: dict[str, str] | None = None, **noted: Any
    ) -> Call:
        content = {"objectTypeProperty": {"arrayOfIntExample": [number]}}
        return self._note(method, path, {**body, **content}, headers, sent=number, **noted)

    def _read(self, key: str) -> Call:
        return self._note("GET", f"/key={key}", key=key)

    def _list(self) -> Call:
        return self._note("GET", LIST, keys=KEYS)

    def _note(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, **noted: Any
    ) -> Call:
        began = time.monotonic()
        status, value = self._send(method, path, body, headers or {})
        ended = time.monotonic()
        outcome = _OUTCOMES[status]
        found = () if outcome is not Outcome.DONE else value.get("results", (value,))
        states = tuple(_state(each) for each in found)
        current = value["errors"][0]["currentVersion"] if status == 409 else None
        call = Call(method, began, ended, outcome, states=states, current=current, **noted)
        self.history.append(call)
        for state in states:
            self._latest[state.key] = state
        return call


def _state(resource: dict[str, Any]) -> State:
    return State(
        resource["id"],
        resource["key"],
        resource["version"],
        resource["objectTypeProperty"]["arrayOfIntExample"][0],
        resource.get("someProperty"),
        resource["lastModifiedAt"],
    )
