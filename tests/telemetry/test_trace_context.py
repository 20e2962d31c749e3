"""``traceparent``: what is accepted, the trace id in the log line, and the comment of statements."""

import logging
from typing import Any
from uuid import uuid4

import pytest

from app.database.connection import Connection
from app.telemetry.trace_context import TraceContext, parse_traceparent
from tests.support.api import Api
from tests.support.statements import Statement, recorded

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED, NOT_SAMPLED = f"00-{TRACE}-{SPAN}-01", f"00-{TRACE}-{SPAN}-00"
COMMENT = f"/*traceparent='{SAMPLED}'*/ "

MALFORMED = [
    "",
    TRACE,
    SAMPLED.upper(),
    f"00-{TRACE}-{SPAN}",
    f"00-{TRACE}-{SPAN}-1",
    f"00-{TRACE}-{SPAN}-01-more",
    f"00-{'0' * 32}-{SPAN}-01",
    f"00-{TRACE}-{'0' * 16}-01",
    f"ff-{TRACE}-{SPAN}-01",
    f"01-{TRACE}-{SPAN}-01more",
    f"00-{TRACE[:-1]}g-{SPAN}-01",
    f"00-{TRACE}-{SPAN}-01\n",
    f"{SAMPLED},{SAMPLED}",
    f"00-{TRACE}-{SPAN[:-2]}*/-01",
]


@pytest.mark.parametrize("header", MALFORMED)
def test_a_malformed_header_is_no_trace_context(header: str) -> None:
    assert parse_traceparent(header) is None


@pytest.mark.parametrize(
    ("header", "sampled"),
    [
        (SAMPLED, True),
        (NOT_SAMPLED, False),
        (f"00-{TRACE}-{SPAN}-ff", True),
        (f"00-{TRACE}-{SPAN}-02", False),
        (f"cc-{TRACE}-{SPAN}-01", True),
        (f"cc-{TRACE}-{SPAN}-01-what-the-future-brings", True),
    ],
)
def test_the_flag_sampled_is_the_last_bit_and_a_later_version_may_have_more(header: str, sampled: bool) -> None:
    assert parse_traceparent(header) == TraceContext(TRACE, SPAN, sampled)


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """Captures the log lines of requests."""
    monkeypatch.setattr(logging.getLogger("app"), "propagate", True)
    caplog.set_level(logging.INFO, "app.request")
    return caplog


def sent(api: Api, lines: pytest.LogCaptureFixture, traceparent: str | None) -> tuple[dict[str, Any], list[Statement]]:
    """The fields of the log line of a read, and its statements."""
    created = api.create()
    lines.clear()
    headers = {} if traceparent is None else {"traceparent": traceparent}
    with recorded() as statements:
        assert api.get(f"/{created['id']}", headers=headers).status_code == 200
    return lines.records[-1].__dict__["fields"], statements


@pytest.mark.parametrize("traceparent", [None, "made-up", f"00-{TRACE}-{'0' * 16}-01", f"{SAMPLED}'*/ DROP"])
def test_without_a_valid_header_neither_log_line_nor_statements_name_a_trace(
    api: Api, lines: pytest.LogCaptureFixture, traceparent: str | None
) -> None:
    fields, statements = sent(api, lines, traceparent)
    assert "trace_id" not in fields
    assert statements
    assert not any("/*" in statement.text for statement in statements)


def test_the_log_line_of_a_trace_that_is_not_sampled_names_it_and_its_statements_do_not(
    api: Api, lines: pytest.LogCaptureFixture
) -> None:
    fields, statements = sent(api, lines, NOT_SAMPLED)
    assert fields["trace_id"] == TRACE
    assert statements
    assert not any("/*" in statement.text for statement in statements)


def test_the_statements_of_a_sampled_trace_begin_with_its_comment(api: Api, lines: pytest.LogCaptureFixture) -> None:
    fields, statements = sent(api, lines, SAMPLED)
    assert fields["trace_id"] == TRACE
    assert statements
    assert {statement.text[: len(COMMENT)] for statement in statements} == {COMMENT}


def test_postgresql_shows_the_comment_of_a_write(api: Api, connection: Connection) -> None:
    created = api.create()
    trace = uuid4().hex
    body = {"version": 1, "actions": [{"action": "changeSomeProperty", "someProperty": "new"}]}
    answer = api.post(f"/{created['id']}", json=body, headers={"traceparent": f"00-{trace}-{SPAN}-01"})
    assert (answer.status_code, answer.get_json()["version"]) == (200, 2)
    row = connection.execute(
        "SELECT query FROM pg_stat_activity WHERE application_name = 'sample-resource' AND starts_with(query, %s)",
        (f"/*traceparent='00-{trace}-{SPAN}-01'*/ ",),
    ).fetchone()
    assert row is not None
    assert "UPDATE" in row[0]


def test_statements_with_a_comment_are_not_prepared(api: Api) -> None:
    """A prepared text that is sent once would only fill the memory of the session."""
    database = api.app.extensions["database"]
    created = api.create()

    def prepared() -> int:
        with database.connection() as connection:
            (count,) = connection.execute(
                "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '/*traceparent%'"
            ).fetchone()
        return count

    for _ in range(20):
        assert api.get(f"/{created['id']}", headers={"traceparent": SAMPLED}).status_code == 200
    assert [prepared() for _ in range(16)] == [0] * 16
