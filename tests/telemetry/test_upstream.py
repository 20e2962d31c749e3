"""What sharing metrics relies on in prometheus_client, partly undocumented.

A failure means that an upgrade has changed it: compare ``Metrics.merge_exited`` in ``app/telemetry/metrics.py`` with
``mmap_dict.py``, ``multiprocess.py`` and ``values.py`` of prometheus_client.
"""

import os
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, cast

import pytest
from prometheus_client.mmap_dict import MmapedDict

from app.telemetry.metrics import Metrics
from app.telemetry.shared_folder import SharedFolder, share_between_processes
from tests.support.samples import samples, value
from tests.support.server import ROOT

COUNT = """
import os
from app.telemetry.metrics import metrics
metrics.count_request("GET", "/a-test", 200, 0.002, 0.001)
metrics.ready.labels("database").set(1)
metrics.flush()
print(os.getpid())
"""


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
    assert names(tmp_path) == {f"counter_{pid}.db", f"histogram_{pid}.db", f"gauge_livemostrecent_{pid}.db"}


def test_a_file_that_has_no_size_yet_is_read_when_it_has(tmp_path: Path) -> None:
    """A worker that begins makes its files so, while another one answers a scrape."""
    count_in_a_process(tmp_path)
    new = tmp_path / "counter_1.db"
    new.touch()
    with pytest.raises(struct.error):
        list(cast("Any", MmapedDict).read_all_values_from_file(str(new)))
    given = threading.Timer(0.1, lambda: os.truncate(new, 4096))
    given.start()
    found = samples(Metrics(SharedFolder(tmp_path)).exposition().decode())
    given.join()
    assert value(found, "http_requests_total", route="/a-test", status="200") == 1


def test_merging_keeps_counts_and_removes_the_files_of_a_process(tmp_path: Path) -> None:
    metrics = Metrics(SharedFolder(tmp_path))
    for _ in range(2):
        metrics.merge_exited(count_in_a_process(tmp_path))
    assert names(tmp_path) == {"counter_exited.db", "histogram_exited.db", "lock"}
    count_in_a_process(tmp_path)
    found = samples(metrics.exposition().decode())
    assert value(found, "http_requests_total", route="/a-test", status="200") == 3
    assert value(found, "http_request_duration_seconds_count", route="/a-test") == 3
    assert value(found, "http_request_duration_seconds_bucket", route="/a-test", le="0.0025") == 3
    assert value(found, "http_request_sql_seconds_sum", route="/a-test") == pytest.approx(0.003)


def test_files_hold_values_by_key(tmp_path: Path) -> None:
    file = str(tmp_path / "counter_1.db")
    written = MmapedDict(file)
    written.write_value("a key", 2.0, 7.0)
    assert written.read_value("a key") == (2.0, 7.0)
    assert written.read_value("another key") == (0.0, 0.0)
    written.close()
    read = [entry[:3] for entry in MmapedDict.read_all_values_from_file(file)]
    assert read == [("a key", 2.0, 7.0), ("another key", 0.0, 0.0)]


def test_sharing_is_refused_once_prometheus_client_has_chosen_its_mode() -> None:
    with pytest.raises(RuntimeError, match="prometheus_client was imported before"):
        share_between_processes()
