"""How many machines of the service one database supports: computed from ``docs/benchmarks.md`` for ``docs/scaling.md``.

``make bench ARGS=--save`` rewrites that part of the page; ``python -m benchmarks.capacity`` does so from the current
figures, without a benchmark.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.markdown import part, table
from benchmarks.operations import Operation

DOCS = Path(__file__).resolve().parent.parent / "docs"
FIGURES = DOCS / "benchmarks.md"
PAGE = DOCS / "scaling.md"
PART = "capacity"

SERVICE = "this service"

DATABASE_CORES = 16
SERVICE_CORES = 4
"""Cores, and so processes, of each machine of the service."""

POOL_SIZE = 8
"""Connections of each process: the default of POOL_SIZE."""

LOAD = 0.7
"""The planned utilisation of processors. Above it waits grow faster than the load."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor time of one request, in milliseconds."""

    service: float
    postgres: float

    @property
    def cores(self) -> float:
        """Cores of the service that keep one core of PostgreSQL busy."""
        return self.service / self.postgres


@dataclass(frozen=True, slots=True)
class Mix:
    """A mix of requests: the number of each operation in 100 requests."""

    title: str
    parts: Mapping[Operation, int]


MIXES = (
    Mix(
        "reads",
        {
            Operation.GET_BY_ID: 60,
            Operation.GET_BY_KEY: 20,
            Operation.PAGE_20: 15,
            Operation.UPDATE: 4,
            Operation.CREATE: 1,
        },
    ),
    Mix(
        "lists",
        {Operation.GET_BY_ID: 30, Operation.PAGE_20: 40, Operation.FILTER: 10, Operation.PAGE_500: 5}
        | {Operation.UPDATE: 10, Operation.CREATE: 5},
    ),
    Mix("writes", {Operation.GET_BY_ID: 20, Operation.PAGE_20: 5, Operation.UPDATE: 40, Operation.CREATE: 35}),
)


def costs(figures: str) -> dict[Operation, Cost]:
    """The cost of each operation, read from the tables of ``docs/benchmarks.md``.

    The figures of the fewest connections are used, at which requests seldom wait for each other.
    """
    sections = re.findall(r"^### All figures, (\d+) connections\n(.*?)(?=^###|\Z)", figures, re.DOTALL | re.MULTILINE)
    if not sections:
        raise ValueError("there are no figures")
    _, table = min(sections, key=lambda section: int(section[0]))
    titles = {operation.title: operation for operation in Operation}
    found: dict[Operation, Cost] = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 8 and cells[1] == SERVICE:
            both, postgres = float(cells[5]), float(cells[6])
            found[titles[cells[0]]] = Cost(both - postgres, postgres)
    return found


def of_mix(mix: Mix, of: Mapping[Operation, Cost]) -> Cost | None:
    """The mean cost of a request of a mix; None if an operation of it was not measured."""
    if not mix.parts.keys() <= of.keys():
        return None
    total = sum(mix.parts.values())
    return Cost(
        sum(part * of[operation].service for operation, part in mix.parts.items()) / total,
        sum(part * of[operation].postgres for operation, part in mix.parts.items()) / total,
    )


def markdown(of: Mapping[Operation, Cost]) -> str:
    """The tables of the costs and the mixes, in Markdown."""
    operations = [
        [operation.title, f"{cost.service:.2f}", f"{cost.postgres:.2f}", f"{cost.cores:.1f}"]
        for operation, cost in of.items()
    ]
    mixes: list[list[str]] = []
    for mix in MIXES:
        parts = ", ".join(f"{part} % {operation.title}" for operation, part in mix.parts.items())
        cost = of_mix(mix, of)
        if cost is None:
            mixes.append([f"{mix.title}: {parts}", *["–"] * 6])
            continue
        machines = math.ceil(DATABASE_CORES * cost.cores / SERVICE_CORES)
        requests = 1000 * LOAD * DATABASE_CORES / cost.postgres
        mixes.append(
            [
                f"{mix.title}: {parts}",
                f"{cost.service:.2f}",
                f"{cost.postgres:.2f}",
                f"{cost.cores:.1f}",
                f"{_about(requests):,}",
                str(machines),
                f"{machines * SERVICE_CORES * POOL_SIZE:,}",
            ]
        )
    return "\n\n".join(
        (
            "Milliseconds of processor time for a request, and how many cores of the service one of PostgreSQL feeds:",
            table(["", "service", "PostgreSQL", "cores for one"], operations),
            f"And for mixes of them, with a database of {DATABASE_CORES} cores and machines of {SERVICE_CORES} cores"
            f" for the service, all used to {LOAD:.0%}, and {SERVICE_CORES} processes of {POOL_SIZE} connections on"
            " each machine:",
            table(
                ["", "service", "PostgreSQL", "cores for one", "requests/s", "machines", "connections"],
                mixes,
            ),
        )
    )


def _about(number: float) -> int:
    """A number rounded to two significant digits."""
    return int(round(number, 1 - math.floor(math.log10(number))))


def save() -> None:
    """Write the tables into ``docs/scaling.md``."""
    before, _, after = part(PART, PAGE.read_text())
    PAGE.write_text(f"{before}\n{markdown(costs(FIGURES.read_text()))}\n\n{after}")


if __name__ == "__main__":
    save()
