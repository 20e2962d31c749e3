"""What sharing metrics relies on in prometheus_client, partly undocumented.

A failure means that an upgrade has changed it: compare ``Metrics.mark_ended`` in ``app/telemetry/metrics.py`` with
``multiprocess.py`` and ``values.py`` of prometheus_client.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.telemetry.metrics import Metrics
from tests.support.samples import samples, value
from tests.support.server import ROOT

COUNT = """
import os
from app.telemetry.metrics import metrics
if not os.fork():
    metrics.count_request("GET", "/a-test", 200, 0.002, 0.001)
    metrics.ready.labels("database").set(1)
    print(os.getpid())
else:
    os.wait()
    for file in metrics._folder.glob(f"*_{os.getpid()}.db"):
        file.unlink()
"""
"""As gunicorn does it: the metrics are made before the fork. Of the master's files nothing is left."""


def count_in_a_process(folder: Path) -> int:
    """Count a request in a process that shares the folder, and give the id that it had."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT],
        cwd=ROOT,
        env=os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_files_are_named_by_type_and_process(tmp_path: Path) -> None:
    pid = count_in_a_process(tmp_path)
    assert names(tmp_path) == {
        f"counter_{pid}.db",
        f"histogram_{pid}.db",
        f"gauge_livemostrecent_{pid}.db",
        f"gauge_livesum_{pid}.db",
    }


def test_the_counts_of_an_ended_process_stay_and_its_gauges_go(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    first = count_in_a_process(tmp_path)
    metrics.mark_ended(first)
    assert names(tmp_path) == {f"counter_{first}.db", f"histogram_{first}.db"}
    count_in_a_process(tmp_path)
    found = samples(metrics.exposition().decode())
    assert value(found, "http_requests_total", route="/a-test", status="200") == 2
    assert value(found, "http_request_duration_seconds_count", route="/a-test") == 2
    assert value(found, "http_request_sql_seconds_sum", route="/a-test") == pytest.approx(0.002)


def test_a_file_that_has_no_size_yet_is_read_when_it_has(tmp_path: Path) -> None:
    """A worker that starts makes its files so, while another one answers a scrape."""
    count_in_a_process(tmp_path)
    new = tmp_path / "counter_1.db"
    new.touch()
    given = threading.Timer(0.1, lambda: os.truncate(new, 4096))
    given.start()
    found = samples(Metrics(tmp_path).exposition().decode())
    given.join()
    assert value(found, "http_requests_total", route="/a-test", status="200") == 1
