"""The primary is lost and its standby takes over. ``DATABASE_URL`` names both, and libpq takes the one that writes."""

import time
from collections import Counter
from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.faults.history import Outcome, faults, figures
from tests.faults.load import Load
from tests.faults.noting_clients import NotingClients, sending_to
from tests.faults.postgres_pair import PostgresPair
from tests.faults.reports import Report
from tests.faults.service import Service

pytestmark = [pytest.mark.slow, pytest.mark.faults]

RECOVERED_WITHIN_S = 10.0


@pytest.fixture
def pair() -> Iterator[PostgresPair]:
    servers = PostgresPair()
    yield servers
    servers.remove()


def test_a_promoted_standby_has_every_acknowledged_write(pair: PostgresPair, report: Report) -> None:
    service = Service(DATABASE_URL=pair.url)
    try:
        with Load(service, updaters=8, creators=6, readers=2, interval_s=0.005) as load:
            time.sleep(5)
            pair.kill_primary()
            lost = time.monotonic()
            time.sleep(2)  # until somebody, or a program such as Patroni, decides
            assert load.answers[-1][1].is_unavailable
            assert service.request("GET", "/health/ready").is_unavailable
            assert service.request("GET", "/health/live").status == 200
            pair.promote(1)
            promoted = time.monotonic()
            seconds = load.recovered_after(promoted)
            time.sleep(3)
            load.stop()
            with pair.connect(1) as connection:
                assert connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,)
            report(f"PostgreSQL {pair.version}")
            report(load.audit())
            report(f"served again {seconds:.1f} s after the promotion, {promoted - lost:.1f} s after the loss")
            before = [answer for when, answer in load.answers if when < lost and answer.status in (200, 201)]
            after = [answer for when, answer in load.answers if when > promoted and answer.status in (200, 201)]
            assert len(before) > 100
            assert len(after) > 100
            assert seconds < RECOVERED_WITHIN_S
        assert load.without_answer() == [], "no connection is cut"
    finally:
        service.remove()


def test_a_history_over_switch_overs_is_one_of_calls_one_after_the_other(pair: PostgresPair, report: Report) -> None:
    """The steps of ``docs/high-availability.md``: a primary is lost and comes back, then the two change places."""
    service = Service(DATABASE_URL=pair.url)

    def until_served() -> None:
        """Another project, so that the history has nothing of it."""
        probe, body = service.token("manage_test:probe"), {"key": "probe", "objectTypeProperty": {}}
        service.wait_until(lambda: service.request("PUT", "/probe/resource", body, probe).status in (200, 201))

    clients = NotingClients(sending_to(service, f"p-{uuid4().hex[:20]}"), 24, pause_s=0.02)
    try:
        with clients.at_work():
            time.sleep(3)
            pair.kill_primary()
            time.sleep(1)
            pair.promote(1)
            until_served()
            pair.start_as_standby(0)  # it has its own end of the log, and takes no writes
            assert pair.is_standby(0)
            time.sleep(3)
            pair.rewind(0)
            pair.wait_for_standby(1)
            until_served()
            time.sleep(3)
            began = time.monotonic()
            pair.stop_for_switch_over(1)
            pair.promote(0)
            until_served()
            report(f"no write for {time.monotonic() - began:.1f} s of a switch-over")
            pair.start_as_standby(1)
            pair.wait_for_standby(0)
            until_served()
            time.sleep(3)
        report(figures(clients.history))
        assert [pair.is_standby(server) for server in (0, 1)] == [False, True]
        assert Counter(call.outcome for call in clients.history)[Outcome.DONE] > 1_000
        assert faults(clients.history) == []
    finally:
        service.remove()


def test_a_lost_primary_can_be_rewound_right_after_the_promotion(pair: PostgresPair) -> None:
    """With many changed pages: before PostgreSQL 16 the promotion's own checkpoint takes minutes, and ``pg_rewind``
    does not see the promotion until it is done.
    """
    with pair.connect(0) as connection:
        connection.execute("CREATE TABLE changed AS SELECT number FROM generate_series(1, 500000) number")
        pair.suspend_standby()
        connection.execute("SET synchronous_commit = local")
        connection.execute("INSERT INTO changed SELECT generate_series(1, 500000)")  # the primary's own end of the log
    pair.kill_primary()
    pair.resume_standby()
    pair.promote(1)
    pair.start_as_standby(0)
    pair.rewind(0)
    pair.wait_for_standby(1)
    assert [pair.is_standby(server) for server in (0, 1)] == [True, False]


def test_writes_are_503_while_the_standby_that_has_to_confirm_them_is_away(pair: PostgresPair, report: Report) -> None:
    """PostgreSQL has no limit for this wait. The service has one, and acknowledges nothing without confirmation."""
    service = Service(DATABASE_URL=pair.url)
    try:
        with Load(service, updaters=2, creators=2) as load:
            pair.suspend_standby()
            stopped = time.monotonic()
            load.service.wait_until(
                lambda: any(when > stopped and answer.is_unavailable for when, answer in load.answers)
            )
            acknowledged = [when for when, answer in load.answers if when > stopped + 1 and answer.status == 201]
            pair.resume_standby()
            seconds = load.recovered_after(time.monotonic())
            load.stop()
            report(load.audit())
            report(f"recovered after {seconds:.1f} s")
            assert acknowledged == []
    finally:
        service.remove()
