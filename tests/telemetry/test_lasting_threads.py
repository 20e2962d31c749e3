"""Threads that have to live: an error is told, counted, and does not end them."""

import logging
import threading

import pytest

from app.telemetry.lasting_threads import keep_running
from app.telemetry.metrics import metrics


def test_a_thread_that_fails_begins_anew_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    tries: list[int] = []
    done = threading.Event()

    def work() -> None:
        tries.append(len(tries))
        if len(tries) < 3:
            raise RecursionError("too deep")
        done.set()

    with caplog.at_level(logging.ERROR, logger="app.telemetry"):
        thread = keep_running("test-of-failures", work, pause_s=0)
        assert done.wait(10)
        thread.join(10)
    assert tries == [0, 1, 2]
    assert not thread.is_alive()  # the work has returned
    assert [record.exc_info is not None for record in caplog.records] == [True, True]
    assert metrics.registry.get_sample_value(
        "sample_resource_thread_failures_total", {"thread": "test-of-failures"}
    ) == (2.0)
