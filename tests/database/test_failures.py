"""Errors of the driver as answers: which are temporary, and what they say."""

from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from app.database.connection import Connection
from app.database.failures import error_for


def raised(state: str, function: str | None = None) -> psycopg.Error:
    """An error as the driver makes it; Citus, which raises some of them, is not there."""

    class Raised(psycopg.Error):
        sqlstate = state

        @property
        def diag(self) -> Any:
            return SimpleNamespace(source_function=function)

    return Raised("a message that nobody reads")


@pytest.mark.parametrize(
    ("state", "function", "reason"),
    [
        ("57014", None, "statement_timeout"),
        ("25P04", None, "transaction_timeout"),
        ("08006", None, "away"),
        ("57P01", None, "away"),
        ("53300", None, "away"),
        ("CIINF", None, "collision"),
        ("XX000", "CheckRemoteTransactionsHealth", "away"),
        ("XX000", "MarkRemoteTransactionFailed", "away"),
        ("XX000", "ErrorIfPostCommitFailedShardPlacements", "away"),
        ("53100", None, "disk_full"),
        ("42P01", None, "not_migrated"),
        ("XX000", "LookupShardIdCacheEntry", "collision"),
    ],
)
def test_a_temporary_error_is_503_with_a_reason(state: str, function: str | None, reason: str) -> None:
    answer = error_for(raised(state, function))
    assert answer is not None
    assert (answer.status, answer.reason) == (503, reason)
    assert answer.headers["Retry-After"]


@pytest.mark.parametrize(("state", "function"), [("XX000", None), ("XX000", "ExecInsert"), ("42601", None)])
def test_any_other_error_is_a_bug(state: str, function: str | None) -> None:
    assert error_for(raised(state, function)) is None


def test_the_driver_names_the_function_that_raised_an_error(connection: Connection) -> None:
    with pytest.raises(psycopg.errors.InternalError_) as error:
        connection.execute("DO $$ BEGIN RAISE 'no' USING ERRCODE = 'XX000'; END $$")
    assert error.value.diag.source_function == "exec_stmt_raise"
    assert error_for(error.value) is None
