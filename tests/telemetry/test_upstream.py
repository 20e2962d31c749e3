"""What sharing metrics relies on in prometheus_client, partly undocumented.

A failure means that an upgrade has changed it: compare ``Metrics.take_over`` in ``app/telemetry/metrics.py`` with
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
from app.telemetry.shared_folder import share_between_processes
from tests.support.samples import samples, value
from tests.support.server import ROOT

COUNT = """
import os, sys
from app.telemetry.metrics import metrics
if not os.fork():
    for ended in sys.argv[1:]:
        metrics.take_over(int(ended))
    metrics.count_request("GET", "/a-test", 200, 0.002, 0.001)
    metrics.ready.labels("database").set(1)
    print(os.getpid())
else:
    os.wait()
    for file in metrics._folder.glob(f"*_{os.getpid()}.db"):
        file.unlink()
"""
"""As gunicorn does it: the metrics are made before the fork. Of the master's files nothing is left."""


def count_in_a_process(folder: Path, *ended: int) -> int:
    """Count a request in a process that shares the folder, and give the id that it had.

    :param ended: processes whose counts it takes over.
    """
    done = subprocess.run(
        [sys.executable, "-c", COUNT, *map(str, ended)],
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
    found = samples(Metrics(tmp_path).exposition().decode())
    given.join()
    assert value(found, "http_requests_total", route="/a-test", status="200") == 1


def test_a_process_goes_on_counting_where_another_has_ended(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    first = count_in_a_process(tmp_path)
    metrics.mark_ended(first)
    assert names(tmp_path) == {f"counter_{first}.db", f"histogram_{first}.db"}
    assert metrics.next_ended() == first
    assert metrics.next_ended() is None
    second = count_in_a_process(tmp_path, first)
    metrics.mark_ended(second)
    assert names(tmp_path) == {f"counter_{second}.db", f"histogram_{second}.db"}
    count_in_a_process(tmp_path)
    found = samples(metrics.exposition().decode())
    assert value(found, "http_requests_total", route="/a-test", status="200") == 3
    assert value(found, "http_request_duration_seconds_count", route="/a-test") == 3
    assert value(found, "http_request_duration_seconds_bucket", route="/a-test", le="0.0025") == 3
    assert value(found, "http_request_sql_seconds_sum", route="/a-test") == pytest.approx(0.003)


def test_a_process_with_counts_of_its_number_takes_over_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = count_in_a_process(tmp_path), count_in_a_process(tmp_path)
    metrics = Metrics(tmp_path)
    monkeypatch.setattr(os, "getpid", lambda: second)
    metrics.take_over(first)
    assert value(samples(metrics.exposition().decode()), "http_requests_total", route="/a-test") == 2


def test_a_file_that_is_renamed_during_a_look_is_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = count_in_a_process(tmp_path)
    metrics = Metrics(tmp_path)
    read = MmapedDict.read_all_values_from_file

    def rename_and_read(path: str) -> Any:
        metrics.take_over(first)  # the files have been listed
        return read(path)

    monkeypatch.setattr(MmapedDict, "read_all_values_from_file", staticmethod(rename_and_read))
    assert value(samples(metrics.exposition().decode()), "http_requests_total", route="/a-test") == 1
    assert f"counter_{os.getpid()}.db" in names(tmp_path)


def test_sharing_is_refused_once_prometheus_client_has_chosen_its_mode() -> None:
    with pytest.raises(RuntimeError, match="prometheus_client was imported before"):
        share_between_processes()
