"""The benchmark's calculations: ratios, goals, costs, data and reports. No test runs a load."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import data, report, usage
from benchmarks.operations import EXAMPLE, GOALS, Operation
from benchmarks.results import Results, Run
from tests.support import api


def run(server: str, round_: int, requests_per_s: float, connections: int = 8) -> Run:
    return Run(server, "get-by-id", connections, round_, requests_per_s, 1.0, 2.0, 0.5, 0.1, 0.25, 100 << 20, 200 << 20)


def results(*runs: Run) -> Results:
    titles = {"service": "this service", "documented": "documented", "bare-flask": "bare Flask"}
    return Results("make bench", "now", "here", 3, 1.0, 2, 8, 1000, titles, runs, [])


def test_a_ratio_is_the_median_of_the_rounds_that_both_servers_ran() -> None:
    found = results(
        run("service", 0, 100),
        run("service", 1, 300),
        run("service", 2, 900),
        run("bare-flask", 2, 1000),
        run("bare-flask", 0, 200),
    )
    assert found.ratio("bare-flask", "get-by-id", 8, report.throughput) == pytest.approx((0.5 + 0.9) / 2)
    assert found.ratio("bare-flask", "get-by-id", 64, report.throughput) is None
    assert found.ratio("documented", "get-by-id", 8, report.throughput) is None


def test_the_report_says_whether_each_goal_is_met() -> None:
    slower = replace(run("service", 0, 119), processor_s_per_1000=0.4)
    found = results(slower, run("documented", 0, 100), run("bare-flask", 0, 238))
    assert cells(report.goals(found)) == [
        *("get by id", "8"),
        *("1.19x", "1.25x", "0.50x *", "1.25x", "1.2x", "**not met**"),
    ]


def test_ratios_that_processor_time_does_not_confirm_are_marked() -> None:
    for requests_per_s, marked in ((84, True), (90, True), (92, False), (109, False), (112, True)):
        text = report.goals(results(run("service", 0, requests_per_s), run("documented", 0, 100)))
        assert cells(text)[2].endswith(" *") == marked
        assert ("more than 10 %" in text) == marked


def cells(table: str) -> list[str]:
    (line,) = [line for line in table.splitlines() if line.startswith("| get by id ")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_every_operation_has_a_goal_and_create_sends_the_example_of_the_interface() -> None:
    assert (set(GOALS), api.EXAMPLE) == (set(Operation), EXAMPLE)


def test_the_data_sample_is_deterministic_and_the_filter_finds_the_stated_number() -> None:
    chosen = data.sample(3000)
    assert chosen == data.sample(3000)
    texts = [f'"{chosen.text}"' in resource.object_type for resource in data.resources(3000)]
    assert sum(texts) == data.FOUND, "texts of a new field in app/bulk/seed.py need words that no other field has"
    assert len({resource.id for resource in chosen.updated}) == len(chosen.updated)


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="reads Linux's /proc")
def test_usage_includes_child_processes_with_their_processor_time_and_memory() -> None:
    script = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "sum(range(20_000_000)); print(1, flush=True); input()"], text=True)
child.wait()
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"
    pids = usage.tree(process.pid)
    used = usage.processor_seconds(pids)
    memory = usage.memory(pids)
    process.communicate("\n")
    assert len(pids) == 2
    assert process.pid in pids
    assert sum(used.values()) > 0.1
    assert usage.used_between({process.pid: used[process.pid]}, used) == pytest.approx(
        sum(used.values()) - used[process.pid]
    )
    assert 1 << 20 < memory.distinct <= memory.resident
    assert usage.tree(process.pid) == set()
