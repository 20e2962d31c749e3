"""What clients see while processes are killed, frozen and restarted is what some order of their calls would show."""

import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

import psutil
import pytest

from app.resource.reading import reads
from app.resource.writing import store
from tests.faults.history import Outcome, faults, figures
from tests.faults.noting_clients import Answered, NotingClients, sending_to
from tests.faults.reports import Report
from tests.faults.service import Service
from tests.support.api import Api

pytestmark = [pytest.mark.slow, pytest.mark.faults]

CLIENTS = 24
LASTS_S = 60.0
PAUSE_S = 2.0
"""Between one fault and the next, after the service has answered again."""

FROZEN_S = 1.5
STALE_S = 0.02


def test_a_history_under_faults_is_one_of_calls_one_after_the_other(service: Service, report: Report) -> None:
    clients = NotingClients(sending_to(service, f"p-{uuid4().hex[:20]}"), CLIENTS, pause_s=0.02)
    with clients.at_work():
        ends = time.monotonic() + LASTS_S
        # All of them, and then again from the beginning.
        for number in range(len(FAULTS) * 100):
            if time.monotonic() > ends and number >= len(FAULTS):
                break
            FAULTS[number % len(FAULTS)](service)
            service.wait_until(lambda: service.request("GET", "/health/ready").status == 200, within_s=30)
            time.sleep(PAUSE_S)
    report(figures(clients.history))
    outcomes = Counter(call.outcome for call in clients.history)
    assert outcomes[Outcome.DONE] > 2_000
    assert outcomes[Outcome.UNKNOWN] > 20
    assert faults(clients.history) == []


def kill_a_worker(service: Service) -> None:
    service.workers[0].kill()


def freeze_a_worker(service: Service) -> None:
    freeze([service.workers[-1]])


def reload_gunicorn(service: Service) -> None:
    service.master.send_signal(signal.SIGHUP)


def end_the_sessions(service: Service) -> None:
    with service.database() as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sample-resource'"
        )


def kill_a_backend(service: Service) -> None:
    """PostgreSQL ends all others too, and recovers."""
    backends(service)[0].kill()


def freeze_backends(service: Service) -> None:
    """Those that have begun a statement go on with it afterwards, when their clients have their 503 already."""
    freeze(backends(service)[::2])


def kill_the_postmaster(service: Service) -> None:
    service.postmaster.kill()


def freeze_postgresql(service: Service) -> None:
    freeze([service.postmaster, *service.postmaster.children(recursive=True)], 5.0)


FAULTS: tuple[Callable[[Service], None], ...] = (
    kill_a_worker,
    freeze_backends,
    reload_gunicorn,
    kill_a_backend,
    freeze_a_worker,
    end_the_sessions,
    freeze_postgresql,
    kill_the_postmaster,
)


def backends(service: Service) -> list[psutil.Process]:
    """The processes of PostgreSQL that serve the service's connections."""
    with service.database() as connection:
        rows = connection.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'sample-resource'")
        return [psutil.Process(pid) for (pid,) in rows.fetchall()]


def freeze(processes: Sequence[psutil.Process], seconds: float = FROZEN_S) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    time.sleep(seconds)
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.resume()


# That the check can fail: the same clients, and a service with a fault in it


def without_the_version_in_the_where_clause(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(store, "_THIS_VERSION", "r.project_key = %(project_key)s AND r.id = %(id)s")
    patch.setattr(store, "_update", store._update.__wrapped__)  # without its cache


def with_answers_by_key_that_may_be_old(patch: pytest.MonkeyPatch) -> None:
    kept: dict[tuple[str, str], tuple[float, Any]] = {}
    read = reads.get_by_key

    def get_by_key(connection: Any, project_key: str, key: str) -> Any:
        until, found = kept.get((project_key, key), (0.0, None))
        if time.monotonic() > until:
            found = read(connection, project_key, key)
            kept[project_key, key] = time.monotonic() + STALE_S, found
        return found

    patch.setattr(reads, "get_by_key", get_by_key)


@pytest.mark.parametrize(
    ("plant", "says"),
    [
        (lambda _: None, None),
        (without_the_version_in_the_where_clause, "acknowledged twice"),
        (with_answers_by_key_that_may_be_old, "no order of the calls fits"),
    ],
    ids=["as it is", "without the version in the WHERE clause", "with answers by key that may be 20 ms old"],
)
def test_the_check_finds_what_is_planted_and_nothing_else(
    api: Api,
    monkeypatch: pytest.MonkeyPatch,
    report: Report,
    plant: Callable[[pytest.MonkeyPatch], None],
    says: str | None,
) -> None:
    def send(method: str, path: str, body: Any, headers: dict[str, str]) -> Answered:
        answer = api.request(method, path, json=body, headers=headers)
        return answer.status_code, answer.get_json()

    plant(monkeypatch)
    clients = NotingClients(send, CLIENTS, pause_s=0.005)
    with clients.at_work():
        time.sleep(5)
    found = faults(clients.history)
    report(f"{figures(clients.history)}; {len(found)} faults")
    if says is None:
        assert found == []
    else:
        assert any(says in fault for fault in found), found
