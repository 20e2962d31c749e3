"""Threads that have to live: an error is told, counted, and does not end them."""

import logging
import subprocess
import sys
import threading

import pytest

from app.telemetry.lasting_threads import keep_running
from app.telemetry.metrics import metrics
from tests.support.server import ROOT


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


SAMPLED_AFTER_AN_ERROR = """
import time
from app.telemetry import lasting_threads
from app.telemetry.metrics import metrics

failures = [RecursionError("too deep")]

def statistics():
    if failures:
        raise failures.pop()
    return {"pool_max": 3}

metrics.watch_pool(statistics)
lasting_threads.keep_running("pool-metrics", metrics.sample_pools_periodically, pause_s=0)
while metrics.registry.get_sample_value("sample_resource_pool_connections_max", {"pool": "a-test"}) != 3:
    time.sleep(0.01)
print(metrics.registry.get_sample_value("sample_resource_thread_failures_total", {"thread": "pool-metrics"}))
"""


def test_pools_are_watched_on_after_an_error() -> None:
    """In a process of its own, since the thread lives as long as its process."""
    done = subprocess.run(
        [sys.executable, "-c", SAMPLED_AFTER_AN_ERROR],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "1.0\n"
