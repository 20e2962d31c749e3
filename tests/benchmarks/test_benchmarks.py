"""The benchmark's calculations: ratios, goals, costs, data and reports. No test runs a load."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import bench, capacity, data, plots, report, usage
from benchmarks.load import Load, Updates
from benchmarks.markdown import part
from benchmarks.operations import EXAMPLE, GOALS, Operation
from benchmarks.profile_get import ARGUMENTS, AUTH, FLASK, LOG, OTHER, ROUTING, SQL, stage_of
from benchmarks.results import Results, Run
from tests.support import api

LIBRARIES = "/somewhere/site-packages"


def run(server: str, round_: int, requests_per_s: float, connections: int = 8) -> Run:
    return Run(server, "get-by-id", connections, round_, requests_per_s, 1.0, 2.0, 0.5, 0.1, 0.25, 100 << 20, 200 << 20)


def results(*runs: Run) -> Results:
    titles = {"service": "this service", "bare-flask": "bare Flask", "kinto": "Kinto"}
    return Results("make bench", "now", "here", 3, 1.0, 2, 8, 1000, titles, runs, [], [1.0, 3.0, 1.5], None, 0)


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
    assert found.ratio("kinto", "get-by-id", 8, report.throughput) is None


def test_the_report_says_whether_each_goal_is_met() -> None:
    slower = replace(run("service", 0, 84), processor_s_per_1000=0.6)
    found = results(slower, run("bare-flask", 0, 100), run("kinto", 0, 14))
    assert cells(report.goals(found)) == [
        *("get by id", "8"),
        *("0.84x", "0.83x", "0.85x", "**not met**"),
        *("6.00x *", "0.83x", "6x", "met"),
    ]


def test_ratios_that_processor_time_does_not_confirm_are_marked() -> None:
    for requests_per_s, marked in ((84, True), (90, True), (92, False), (109, False), (112, True)):
        text = report.goals(results(run("service", 0, requests_per_s), run("bare-flask", 0, 100)))
        assert cells(text)[2].endswith(" *") == marked
        assert ("more than 10 %" in text) == marked


def cells(table: str) -> list[str]:
    (line,) = [line for line in table.splitlines() if line.startswith("| get by id ")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_report_compares_memory_and_start_time_with_their_goals() -> None:
    found = results(
        run("service", 0, 1),
        replace(run("service", 1, 1), memory_distinct=131 << 20),
        run("bare-flask", 0, 1),
        replace(run("kinto", 0, 1), memory_distinct=132 << 20),
    )
    text = report.memory_and_start(found)
    assert "| bare Flask | 100 | 200 | 1.31x |" in text
    assert "at most 1.3x bare Flask (**not met**) and less than Kinto (met)" in text
    assert "ready after 1.50 s" in text
    facets = replace(run("service", 0, 1), operation="facet", memory_distinct=500 << 20)
    text = report.memory_and_start(results(*found.runs, facets))
    assert "| this service | 500 | 200 | – |" in text
    assert "| bare Flask | 100 | 200 | 1.31x |" in text
    assert "Goal: under 1.2 s (**not met**)" in text


def test_every_operation_has_a_goal_and_create_sends_the_example_of_the_interface() -> None:
    assert set(GOALS) == set(Operation)
    assert api.EXAMPLE == EXAMPLE


def test_the_data_sample_is_deterministic_and_the_filter_finds_the_stated_number() -> None:
    chosen = data.sample(3000)
    assert chosen == data.sample(3000)
    texts = [f'"{chosen.text}"' in resource.object_type for resource in data.resources(3000)]
    assert sum(texts) == data.FOUND
    assert len({resource.id for resource in chosen.updated}) == len(chosen.updated)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [('{"a": 1}', '[[{"a": 1}]]'), ("a]]b", "[=[a]]b]=]"), ("a]", "[=[a]]=]"), ("]=]]", "[==[]=]]]==]")],
)
def test_lua_strings_are_quoted(text: str, quoted: str) -> None:
    assert f"body={quoted}," in Load("GET", ["/"], text).as_lua()
    assert f"body={quoted}," in Updates("GET", [], "/", text, {}).as_lua()


def test_url_of_converts_a_connection_string() -> None:
    url = data.url_of("host=/tmp/a-b port=5432 user=me dbname=run_this")
    assert url == "postgresql://me@/run_this?host=%2Ftmp%2Fa-b&port=5432"


@pytest.mark.parametrize(
    ("frames", "stage"),
    [
        ([("/repo/benchmarks/profile_get.py", "call")], OTHER),
        ([(f"{LIBRARIES}/flask/app.py", "wsgi_app"), ("/usr/lib/python3.11/contextlib.py", "__exit__")], FLASK),
        ([(f"{LIBRARIES}/flask/app.py", "wsgi_app"), (f"{LIBRARIES}/werkzeug/routing/map.py", "match")], ROUTING),
        ([("/repo/app/http/paths.py", "__call__")], ROUTING),
        ([("/repo/app/http/paths.py", "__call__"), (f"{LIBRARIES}/flask/app.py", "wsgi_app")], FLASK),
        (
            [
                (f"{LIBRARIES}/flask/app.py", "x"),
                ("/repo/app/identity/gate.py", "y"),
                (f"{LIBRARIES}/werkzeug/h.py", "z"),
            ],
            AUTH,
        ),
        ([(f"{LIBRARIES}/flask_smorest/arguments.py", "wrapper")], ARGUMENTS),
        ([("/repo/app/routes/resource.py", "get"), (f"{LIBRARIES}/psycopg_pool/pool.py", "getconn")], SQL),
        ([("/repo/app/http/request_log.py", "finish"), ("/usr/lib/python3.11/logging/__init__.py", "emit")], LOG),
    ],
)
def test_a_profile_sample_counts_for_its_innermost_stage(frames: list[tuple[str, str]], stage: str) -> None:
    assert stage_of(frames) == stage


def test_plots_are_well_formed_svg_and_to_scale() -> None:
    drawn = plots.bars("A & B", [plots.Group("<reads>", [plots.Bar("a", 50, "50"), plots.Bar("b", 100, "100")])], "ab")
    rectangles = [item for item in ElementTree.fromstring(drawn) if item.tag.endswith("rect")][1:]  # noqa: S314 -- ours
    widths = [float(item.attrib["width"]) for item in rectangles]
    assert widths[1] == 2 * widths[0]


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


def test_capacity_in_docs_scaling_is_computed_from_the_benchmark_figures() -> None:
    of = capacity.costs(capacity.FIGURES.read_text())
    assert set(of) <= set(Operation)
    assert {Operation.GET_BY_ID, Operation.PAGE_20, Operation.UPDATE, Operation.CREATE} <= set(of)
    _, told, _ = part(capacity.PART, capacity.PAGE.read_text())
    assert told.strip() == capacity.markdown(of), "run python -m benchmarks.capacity"


def test_capacity_uses_the_costs_at_the_fewest_connections() -> None:
    def run_of(operation: Operation, connections: int, processor: float, postgres: float) -> Run:
        measured = replace(run("service", 0, 1, connections), operation=operation.value)
        return replace(measured, processor_s_per_1000=processor, postgres_s_per_1000=postgres)

    figures = report.markdown(
        results(
            run_of(Operation.GET_BY_ID, 64, 9, 8),
            run_of(Operation.GET_BY_ID, 8, 1.0, 0.25),
            run_of(Operation.CREATE, 8, 2.5, 0.5),
            replace(run_of(Operation.CREATE, 8, 7, 7), server="kinto"),
        )
    )
    of = capacity.costs(figures)
    assert of == {Operation.GET_BY_ID: capacity.Cost(0.75, 0.25), Operation.CREATE: capacity.Cost(2.0, 0.5)}
    mixed = capacity.of_mix(capacity.Mix("", {Operation.GET_BY_ID: 3, Operation.CREATE: 1}), of)
    assert mixed is not None
    assert (mixed.service, mixed.postgres) == (4.25 / 4, 1.25 / 4)
    assert capacity.of_mix(capacity.MIXES[0], of) is None
    assert "| reads: 60 % get by id," in capacity.markdown(of)


@pytest.mark.parametrize("mix", capacity.MIXES, ids=lambda mix: mix.title)
def test_the_parts_of_a_request_mix_sum_up_to_100(mix: capacity.Mix) -> None:
    assert sum(mix.parts.values()) == 100


def test_operations_that_a_goal_compares_are_measured_in_the_same_rounds() -> None:
    assert bench.compared(list(Operation)) == [
        [Operation.PAGE_20, Operation.PAGE_TOTAL] if operation is Operation.PAGE_20 else [operation]
        for operation in Operation
        if operation is not Operation.PAGE_TOTAL
    ]
    assert bench.compared([Operation.PAGE_TOTAL]) == [[Operation.PAGE_TOTAL]]


def test_a_goal_against_an_own_operation_is_the_median_of_the_rounds() -> None:
    def page(operation: Operation, round_: int, requests_per_s: float) -> Run:
        return replace(run("service", round_, requests_per_s), operation=operation.value)

    found = results(
        *[page(Operation.PAGE_20, round_, speed) for round_, speed in enumerate((100, 1000, 10))],
        *[page(Operation.PAGE_TOTAL, round_, speed) for round_, speed in enumerate((90, 700, 8))],
    )
    assert "| page of 20 with its total against page of 20 | 8 | 0.80x | 0.8x | met |" in report.own_goals(found)
