"""The results of a benchmark as tables in Markdown.

``python -m benchmarks.report`` writes them again from the latest results.
"""

import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.operations import GOALS, Operation
from benchmarks.results import Results, Run

LATEST = Path(__file__).resolve().parent / ".peers" / "results.json"
DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "benchmarks.md"

SERVICE = "service"
PEERS = {"documented": "the same frameworks as documented", "bare-flask": "bare Flask, the floor"}

_MIB = 1024 * 1024


def throughput(run: Run) -> float:
    """Requests per second."""
    return run.requests_per_s


def processor(run: Run) -> float:
    """Processor seconds per 1,000 requests."""
    return run.processor_s_per_1000


def requests_per_processor_s(run: Run) -> float:
    """Requests per second of processor time. Other work on the machine hardly changes this figure."""
    return 1000 / run.processor_s_per_1000


def markdown(results: Results) -> str:
    """All tables, with the conditions of the measurement."""
    others = statistics.median(run.others for run in results.runs)
    parts = [
        f"Measured with `{results.command}` at {results.began} on {results.machine}: {results.rounds} rounds of"
        f" {results.seconds:g} s, {results.workers} processes of {results.threads} threads each,"
        f" {results.count:,} resources. Other work took {others:.0%} of the machine's processor time, the median of all"
        " runs.",
        "### Goals",
        goals(results),
        own_goals(results),
        "### Memory",
        memory(results),
    ]
    for connections in results.connections():
        parts += [f"### This service, {connections} connections", figures(results, connections)]
    if results.invalid:
        parts += ["### Runs that did not count", "\n".join(f"- {line}" for line in results.invalid)]
    return "\n\n".join(parts) + "\n"


def goals(results: Results) -> str:
    """The ratios to the peers, beside the goals."""
    head = ["", "connections"]
    for title in PEERS.values():
        head += [f"requests/s against {title}", f"per processor second against {title}"]
    is_busy = False
    rows: list[list[str]] = []
    for operation in map(Operation, results.operations()):
        wanted = GOALS[operation].against_documented
        for connections in results.connections():
            row = [operation.title, str(connections)]
            for peer in PEERS:
                ratio = results.ratio(peer, operation.value, connections, throughput)
                by_processor = results.ratio(peer, operation.value, connections, requests_per_processor_s)
                differs = _differ(ratio, by_processor)
                is_busy |= differs
                row += [_times(ratio) + (" *" if differs else ""), _times(by_processor)]
            if wanted is not None:
                ratio = results.ratio("documented", operation.value, connections, throughput)
                rows.append([*row, f"{wanted:g}x", _verdict(ratio, wanted)])
    return table([*head, "goal", ""], rows) + (f"\n\n{_BUSY}" if is_busy else "")


_BUSY = (
    "\\* Differs from the ratio per processor second by more than 10 %: a server waited for something else than its own"
    " work, or others used the machine in some turns."
)


def _differ(ratio: float | None, by_processor: float | None) -> bool:
    """Whether the two ways to compare servers give ratios that are more than 10 % apart."""
    return ratio is not None and by_processor is not None and not 1 / 1.1 <= ratio / by_processor <= 1.1


def own_goals(results: Results) -> str:
    """The goals that compare the service with itself."""
    rows: list[list[str]] = []
    for operation in map(Operation, results.operations()):
        goal = GOALS[operation]
        for connections in results.connections():
            cell = (SERVICE, operation.value, connections)
            if goal.against_own is not None:
                other, wanted = goal.against_own
                ratio = results.ratio(*cell, throughput, peer_operation=other.value)
                what = f"{operation.title} against {other.title}"
                rows.append([what, str(connections), _times(ratio), f"{wanted:g}x", _verdict(ratio, wanted)])
    return table(["", "connections", "", "goal", ""], rows)


def _times(ratio: float | None) -> str:
    if ratio is None:
        return "–"
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.1f}x"


def _verdict(ratio: float | None, wanted: float) -> str:
    if ratio is None:
        return "–"
    return "met" if ratio >= wanted else "**not met**"


def _memory_ratio(results: Results, peer: str) -> float | None:
    """The service's memory divided by a peer's, after the operations that both have."""
    own = results.peak(SERVICE, lambda run: run.memory_distinct, peer)
    of_peer = results.peak(peer, lambda run: run.memory_distinct)
    return None if own is None or of_peer is None else own / of_peer


def memory(results: Results) -> str:
    """The memory of each server with all its processes."""
    rows: list[list[str]] = []
    for name, title in results.titles.items():
        distinct = results.peak(name, lambda run: run.memory_distinct)
        resident = results.peak(name, lambda run: run.memory_resident)
        if distinct is not None and resident is not None:
            ratio = None if name == SERVICE else _memory_ratio(results, name)
            rows.append([title, f"{distinct / _MIB:.0f}", f"{resident / _MIB:.0f}", _times(ratio)])
    return table(
        ["", "MiB, each page once", "MiB, sum of resident sets", "this service is"],
        rows,
    )


def figures(results: Results, connections: int) -> str:
    """The medians of this service, for one number of connections."""
    values: list[tuple[Callable[[Run], float], str]] = [
        (throughput, ",.0f"),
        (lambda run: run.p50_ms, ".2f"),
        (lambda run: run.p99_ms, ".2f"),
        (processor, ".3f"),
        (lambda run: run.postgres_s_per_1000, ".3f"),
        (lambda run: run.memory_distinct / _MIB, ".0f"),
    ]
    rows: list[list[str]] = []
    for operation in map(Operation, results.operations()):
        cell = (SERVICE, operation.value, connections)
        if results.chosen(*cell):
            numbers = [format(results.median(*cell, value) or 0.0, pattern) for value, pattern in values]
            rows.append([operation.title, *numbers])
    return table(
        ["", "requests/s", "p50 ms", "p99 ms", "processor s per 1,000 requests", "of it PostgreSQL", "MiB"], rows
    )


def save(results: Results) -> None:
    """Write the tables into ``docs/benchmarks.md``, between the marks of the part ``results``."""
    before, begin, rest = PAGE.read_text().partition("<!-- results: begin -->\n")
    _, end, after = rest.partition("<!-- results: end -->\n")
    PAGE.write_text(f"{before}{begin}\n{markdown(results)}\n{end}{after}")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown. All columns but the first are right-aligned, since they contain numbers."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def latest() -> Results:
    """The results of the last benchmark."""
    found: dict[str, Any] = json.loads(LATEST.read_text())
    found["runs"] = [Run(**run) for run in found["runs"]]
    return Results(**found)


if __name__ == "__main__":
    save(latest())
