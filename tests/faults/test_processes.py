"""Processes killed and stopped, connections exhausted, queries that do not end: under a constant load of writes."""

import http.client
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import psutil
import psycopg
import pytest

from app.serving.embedded import EmbeddedPostgres
from tests.faults.load import Load
from tests.faults.reports import Report
from tests.faults.service import Service
from tests.support.folders import open_folder

pytestmark = [pytest.mark.slow, pytest.mark.faults]

RECOVERED_WITHIN_S = 10.0


def assert_recovered(load: Load, moment: float, report: Report) -> None:
    seconds = load.recovered_after(moment)
    load.stop()
    report(load.audit())
    report(f"recovered after {seconds:.1f} s")
    assert seconds < RECOVERED_WITHIN_S


def test_recovery_from_a_killed_worker(service: Service, report: Report) -> None:
    with Load(service) as load:
        for _ in range(2):
            victim = service.workers[0]
            victim.kill()
            moment = time.monotonic()
            service.wait_until(lambda gone=victim: gone not in service.workers and len(service.workers) == 2)
        assert_recovered(load, moment, report)
    assert all(answer.body != b"it hangs" for answer in load.without_answer())


def test_recovery_from_a_killed_master(service: Service, report: Report) -> None:
    with Load(service) as load:
        service.master.kill()
        assert_recovered(load, time.monotonic(), report)
    assert all(answer.body != b"it hangs" for answer in load.without_answer())


def test_a_master_killed_while_the_database_is_away_is_replaced() -> None:
    with open_folder() as folder, EmbeddedPostgres(folder / "data") as database:
        service = Service(DATABASE_URL=database.conninfo())

        def is_live_again() -> bool:
            with suppress(OSError, http.client.HTTPException):
                return not killed.is_running() and service.request("GET", "/health/live").status == 200
            return False

        try:
            time.sleep(1)  # the supervisor, too, has to see an answer
            killed = service.master
            database.stop()
            killed.kill()
            service.wait_until(is_live_again)
            assert service.request("GET", "/health/ready").status == 503
        finally:
            service.remove()


def test_recovery_from_a_killed_postmaster(service: Service, report: Report) -> None:
    with Load(service) as load:
        service.postmaster.kill()
        assert_recovered(load, time.monotonic(), report)
    assert load.without_answer() == []


def test_recovery_from_a_postgresql_suspended_for_ten_seconds(service: Service, report: Report) -> None:
    with Load(service) as load:
        family = [service.postmaster, *service.postmaster.children(recursive=True)]
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.suspend()
        time.sleep(5)
        began = time.monotonic()
        assert service.request("GET", "/health/ready").is_unavailable
        assert time.monotonic() - began < 5
        assert service.request("GET", "/health/live").status == 200
        time.sleep(max(0.0, 5 - (time.monotonic() - began)))
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.resume()
        assert_recovered(load, time.monotonic(), report)
    assert load.without_answer() == []
    assert any(answer.is_unavailable for _, answer in load.answers)


def test_recovery_from_exhausted_connections(service: Service, report: Report) -> None:
    with Load(service) as load, ExitStack() as held:
        url = service.master.environ()["DATABASE_URL"]

        def take_all() -> None:
            with suppress(psycopg.OperationalError):
                while True:
                    held.enter_context(psycopg.connect(url, autocommit=True))

        with psycopg.connect(url, autocommit=True) as ours:
            take_all()
            deadline = time.monotonic() + 4
            while time.monotonic() < deadline:
                ours.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sample-resource'"
                )
                take_all()
        assert load.answers[-1][1].is_unavailable
        assert service.request("GET", "/health/ready").is_unavailable
        held.close()
        assert_recovered(load, time.monotonic(), report)
    assert load.without_answer() == []


def test_recovery_from_a_pool_full_of_endless_queries(service: Service, report: Report) -> None:
    with Load(service) as load:
        with service.database() as connection, connection.transaction():
            connection.execute("LOCK TABLE resource IN ACCESS EXCLUSIVE MODE")
            impatient = Load(service, updaters=0, creators=0)
            # More requests than the pools have connections: some wait for the lock, the others for a connection.
            with ThreadPoolExecutor(64) as threads:
                list(threads.map(lambda _: impatient.request("GET", ""), range(64)))
            assert all(answer.is_unavailable for _, answer in impatient.answers)
            for each in (impatient, load):
                # Longest wait for a connection, then for the lock; a second for the way.
                assert max(answer.seconds for _, answer in each.answers) < 5 + 4.25 + 1
                # The shorter limit is for answers that need not wait for others of their project, as these do.
                each.violations = [violation for violation in each.violations if " took " not in violation]
                assert each.violations == []
            assert service.request("GET", "/health/live").status == 200
        assert_recovered(load, time.monotonic(), report)
    assert load.without_answer() == []


def test_a_stop_lets_requests_in_flight_finish_and_loses_nothing(report: Report) -> None:
    service = Service()
    try:
        with Load(service) as load:
            slow = Load(service, updaters=0, creators=0)
            ids = [slow.request("POST", "", {"objectTypeProperty": {}}).json()["id"] for _ in range(8)]
            slow.answers.clear()
            body = {"version": 1, "actions": [{"action": "doSomeThing"}]}
            threads = [threading.Thread(target=slow.request, args=("POST", f"/{one}", body)) for one in ids]
            with service.database() as connection, connection.transaction():
                connection.execute("SELECT FROM resource WHERE project_key = %s FOR UPDATE", (slow.project,))
                for thread in threads:
                    thread.start()
                time.sleep(0.5)
                service.process.send_signal(signal.SIGTERM)
                time.sleep(1.0)
            for thread in threads:
                thread.join()
            assert [answer.status for _, answer in slow.answers] == [200] * 8
            assert service.process.wait(15) == 0
            cut = len(load.without_answer())
            load.stop()
            service.start()
            report(load.audit())
        # Connections that the kernel had accepted, but no worker; none of these requests was processed.
        assert cut <= 8
    finally:
        service.remove()


def test_totals_are_those_of_the_rows_after_workers_were_killed(service: Service) -> None:
    token = service.token("manage_test:killed")
    for _ in range(4):
        over = threading.Event()

        def write(over: threading.Event = over) -> None:
            while not over.is_set():
                answer = service.request("POST", "/killed/resource", {"objectTypeProperty": {}}, token)
                if answer.status == 201 and int((made := answer.json())["id"][-1], 16) < 4:
                    service.request("DELETE", f"/killed/resource/{made['id']}?version=1", None, token)

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(1)
        killed = service.workers[0]
        killed.kill()
        time.sleep(1)
        over.set()
        for thread in threads:
            thread.join()
        service.wait_until(lambda gone=killed: gone not in service.workers and len(service.workers) == 2)
        path = "/killed/resource/sorted-query-parameters?limit=1&withTotal=true"
        total = service.request("GET", path, token=token).json()["total"]
        with service.database() as connection:
            rows = connection.execute("SELECT count(*) FROM resource WHERE project_key = 'killed'").fetchone()
        assert rows == (total,)
        assert total > 0
