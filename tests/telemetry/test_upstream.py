"""What sharing metrics relies on in prometheus_client.

A failure means that an upgrade has changed it: compare ``app/telemetry/metrics.py`` with ``multiprocess.py`` and
``values.py`` of prometheus_client.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.multiprocess import mark_process_dead

from app.telemetry.metrics import Metrics
from app.telemetry.shared_folder import share_between_processes
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


def test_of_a_process_that_has_ended_the_counts_stay_and_the_gauges_go(tmp_path: Path) -> None:
    first, second = count_in_a_process(tmp_path), count_in_a_process(tmp_path)
    for ended in (first, second):
        mark_process_dead(ended, str(tmp_path))
    kept = {f"{kind}_{pid}.db" for kind in ("counter", "histogram") for pid in (first, second)}
    assert {path.name for path in tmp_path.iterdir()} == kept
    found = samples(Metrics(tmp_path).exposition().decode())
    assert value(found, "http_requests_total", route="/a-test", status="200") == 2
    assert value(found, "http_request_duration_seconds_bucket", route="/a-test", le="0.0025") == 2
    assert value(found, "http_request_sql_seconds_sum", route="/a-test") == pytest.approx(0.002)


def test_sharing_is_refused_once_prometheus_client_has_chosen_its_mode() -> None:
    with pytest.raises(RuntimeError, match="prometheus_client was imported before"):
        share_between_processes()
