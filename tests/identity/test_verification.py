"""What a process remembers of tokens, by a clock of the test, and what it asks the database."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import monotonic

import psycopg
import pytest

from app import errors
from app.clock_and_ids import REAL_CLOCK_AND_IDS, ClockAndIds, RealClockAndIds, RealClocks
from app.database.connection import Connection
from app.identity import clients, tokens, verification
from app.identity.tokens import AccessToken, digest_of
from app.identity.verification import REMEMBERED_FOR_S, InvalidToken, TokenVerifier
from app.telemetry.metrics import metrics
from tests.support.fixtures import TokenFor
from tests.support.waiting import wait_until


class _Clocks(RealClocks):
    """The clocks of all clients: the real one, until a test sets another."""

    def __init__(self) -> None:
        self.clock: ClockAndIds = REAL_CLOCK_AND_IDS

    def of_client(self, client_id: str) -> ClockAndIds:  # noqa: ARG002 -- signature of Clocks
        return self.clock


class Process:
    """A verifier of tokens, its clock, and the statements that it sends."""

    def __init__(self, connect: Callable[[], Iterator[Connection]], monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = monotonic()
        self.lookups: list[set[bytes]] = []
        self.before_lookup: Callable[[], None] = lambda: None
        self.clocks = _Clocks()
        self.verifier = TokenVerifier(contextmanager(connect), self.clocks)
        find_tokens = tokens.find_tokens

        def find(connection: Connection, digests: dict[bytes, object]) -> dict[bytes, AccessToken]:
            self.lookups.append(set(digests))
            self.before_lookup()
            return find_tokens(connection, digests)

        monkeypatch.setattr(verification, "monotonic", lambda: self.now)
        monkeypatch.setattr(verification, "find_tokens", find)

    def hold_lookups(self) -> tuple[threading.Event, threading.Event]:
        """Hold every lookup. Return the event that one has begun, and the event that lets all of them go on."""
        is_looking, may_go_on = threading.Event(), threading.Event()

        def hold() -> None:
            is_looking.set()
            assert may_go_on.wait(60)

        self.before_lookup = hold
        return is_looking, may_go_on

    def accepts(self, token: str, after_s: float = 0) -> bool:
        self.now += after_s
        try:
            self.verifier.verify(token)
        except InvalidToken:
            return False
        return True


@pytest.fixture
def process(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Process:
    def connect() -> Iterator[Connection]:
        with psycopg.connect(database_url, autocommit=True) as connection:
            yield connection

    return Process(connect, monkeypatch)


def test_a_token_is_looked_up_once_in_four_seconds(process: Process, token_for: TokenFor) -> None:
    token = token_for("view_test:p")
    for _ in range(3):
        for _ in range(10):
            assert process.accepts(token)
        assert process.accepts(token, REMEMBERED_FOR_S - 0.01)
        process.now += 0.01
    assert process.lookups == [{digest_of(token)}] * 3


def test_a_revocation_is_in_force_in_every_process_when_it_looks_again(
    process: Process, token_for: TokenFor, connection: Connection
) -> None:
    token = token_for("view_test:p")
    assert process.accepts(token)
    tokens.revoke_token(connection, digest_of(token))
    assert process.accepts(token, REMEMBERED_FOR_S - 0.01)
    assert not process.accepts(token, 0.01)


def test_the_time_of_a_lookup_is_that_before_its_statement(process: Process, token_for: TokenFor) -> None:
    """What is revoked while the answer is on its way is refused as early as if it had come at once."""
    token = token_for("view_test:p")

    def take_long() -> None:
        process.now += 3

    process.before_lookup = take_long
    assert process.accepts(token)
    assert process.accepts(token, REMEMBERED_FOR_S - 3.01)
    assert len(process.lookups) == 1
    assert process.accepts(token, 0.01)
    assert len(process.lookups) == 2


def test_the_end_of_a_client_is_in_force_when_a_process_looks_again(process: Process, connection: Connection) -> None:
    made = [clients.create_client(connection, "a client", ("view_test:p",)) for _ in range(2)]
    given = [tokens.issue_token(connection, client.client_id, client.scopes) for client in made]
    assert [process.accepts(token) for token in given] == [True, True]
    clients.revoke_client(connection, made[0].client_id)
    clients.remove_client(connection, made[1].client_id)
    process.now += REMEMBERED_FOR_S
    assert [process.accepts(token) for token in given] == [False, False]


def test_a_token_that_is_issued_beside_the_end_of_its_client_is_refused(
    process: Process, connection: Connection
) -> None:
    """The client was authenticated just before."""
    for end in (clients.revoke_client, clients.remove_client):
        client = clients.create_client(connection, "a client", ("view_test:p",))
        end(connection, client.client_id)
        assert not process.accepts(tokens.issue_token(connection, client.client_id, client.scopes))


class _Ahead(RealClockAndIds):
    def time(self) -> float:
        return super().time() + 7200


def test_a_token_expires_while_it_is_remembered(
    process: Process, token_for: TokenFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = token_for("view_test:p", lifetime_s=3600)
    assert process.accepts(token)
    ahead = _Ahead()
    monkeypatch.setattr(verification, "REAL_CLOCK_AND_IDS", ahead)
    process.clocks.clock = ahead
    assert not process.accepts(token)
    assert len(process.lookups) == 1


def test_tokens_of_clients_with_a_clock_of_their_own_are_not_remembered(process: Process, token_for: TokenFor) -> None:
    process.clocks.clock = RealClockAndIds()
    token = token_for("view_test:p")
    assert ([process.accepts(token) for _ in range(3)], len(process.lookups)) == ([True] * 3, 3)


def test_what_is_no_token_costs_no_statement_and_what_is_invented_one(
    process: Process, token_for: TokenFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And displaces no valid token."""
    monkeypatch.setattr(verification, "REMEMBERED_AT_MOST", 2)
    valid = token_for("view_test:p")
    assert process.accepts(valid)
    for number in range(20):
        assert not process.accepts(f"{number:->42}")
        assert not process.accepts(f"{number:->43}")
    assert process.accepts(valid)
    assert len(process.lookups) == 21


def test_the_most_tokens_are_remembered_that_were_looked_up_last(
    process: Process, token_for: TokenFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "REMEMBERED_AT_MOST", 3)
    given = [token_for("view_test:p") for _ in range(4)]
    for token in given[:3]:
        assert process.accepts(token)
    assert process.accepts(given[0], REMEMBERED_FOR_S)  # looked up again, so the oldest is the second
    assert process.accepts(given[3])
    process.lookups.clear()
    assert process.accepts(given[0])
    assert process.accepts(given[3])
    assert (process.lookups, len(process.verifier._remembered)) == ([], 3)


def test_lookups_that_wait_share_one_statement(process: Process, token_for: TokenFor) -> None:
    """So many requests with one token, or with many invented ones, wait for two statements at most."""
    first, valid = token_for("view_test:p"), token_for("view_test:p")
    invented = [f"{number:x>43}" for number in range(20)]
    may_go_on = threading.Semaphore(0)
    process.before_lookup = lambda: None if may_go_on.acquire(timeout=60) else pytest.fail("held")
    with ThreadPoolExecutor(60) as threads:
        before = threads.submit(process.accepts, first)
        wait_until(lambda: len(process.lookups) == 1)
        together = [threads.submit(process.accepts, token) for token in (*invented, *[valid] * 20, first)]
        wait_until(lambda: len(process.verifier._waiting) == 22)
        may_go_on.release()
        wait_until(lambda: len(process.lookups) == 2)
        later = threads.submit(process.accepts, "y" * 43)
        wait_until(lambda: bool(process.verifier._waiting))
        may_go_on.release()
        assert [each.result(60) for each in (before, *together)] == [True] + [False] * 20 + [True] * 21
        may_go_on.release()  # only now: those before do not wait for this statement
        assert not later.result()
    assert [len(lookup) for lookup in process.lookups] == [1, 22, 1]


def test_a_remembered_token_does_not_wait_for_a_lookup(process: Process, token_for: TokenFor) -> None:
    remembered, invented = token_for("view_test:p"), "x" * 43
    assert process.accepts(remembered)
    is_looking, may_go_on = process.hold_lookups()
    with ThreadPoolExecutor(1) as threads:
        looking = threads.submit(process.accepts, invented)
        assert is_looking.wait(60)
        assert process.accepts(remembered)
        may_go_on.set()
        assert not looking.result()


def test_while_the_database_is_away_remembered_tokens_are_accepted_for_seconds_and_others_are_503(
    database_url: str, token_for: TokenFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_away = False

    def connect() -> Iterator[Connection]:
        if is_away:
            raise errors.over_capacity("away")
        with psycopg.connect(database_url, autocommit=True) as connection:
            yield connection

    process = Process(connect, monkeypatch)
    remembered, other = token_for("view_test:p"), token_for("view_test:p")
    assert process.accepts(remembered)
    is_away = True
    assert process.accepts(remembered, REMEMBERED_FOR_S - 0.01)
    process.now += 0.01
    for token in (remembered, other, remembered):
        with pytest.raises(errors.ApiError) as raised:
            process.accepts(token)
        assert raised.value.status == 503
    is_away = False
    assert process.accepts(remembered)
    assert process.accepts(other)


def test_a_lookup_that_fails_fails_all_that_wait_and_none_after_it(process: Process, token_for: TokenFor) -> None:
    token = token_for("view_test:p")
    is_looking, may_go_on = threading.Event(), threading.Event()

    def fail() -> None:
        is_looking.set()
        assert may_go_on.wait(60)
        raise errors.over_capacity("away")

    def outcome() -> object:
        try:
            return process.accepts(token)
        except errors.ApiError as error:
            return error.status

    process.before_lookup = fail
    with ThreadPoolExecutor(20) as threads:
        first = threads.submit(outcome)
        assert is_looking.wait(60)
        others = [threads.submit(outcome) for _ in range(10)]
        wait_until(lambda: bool(process.verifier._waiting))
        may_go_on.set()
        assert [each.result() for each in (first, *others)] == [503] * 11
    process.before_lookup = lambda: None
    assert process.accepts(token)


def test_results_are_counted(process: Process, token_for: TokenFor) -> None:
    def counted(result: str) -> float:
        return metrics.registry.get_sample_value("sample_resource_token_checks_total", {"result": result}) or 0.0

    results = ("verified", "cached", "refused")
    before = [counted(result) for result in results]
    token = token_for("view_test:p")
    for text in (token, token, token, "x" * 43, "y"):
        process.accepts(text)
    assert [counted(result) - value for result, value in zip(results, before, strict=True)] == [1, 2, 2]
