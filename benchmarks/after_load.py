"""Times searches, facets and ranges right after a load, before any ANALYZE, and after one.

Run it with ``python -m benchmarks.after_load`` in the repository's folder. Each size has a new database on an embedded
PostgreSQL with the durability of the service. Resources are loaded as ``import`` loads them, and autovacuum is off, so
nothing is analysed behind its back. ``--save`` writes the table into ``docs/benchmarks.md``.

A cell is the median in ms, and in parentheses how many times a get by id in the same state. Operations take turns.
"""

import statistics

import click

from app.database import migrate
from app.query.fields import SORTABLE
from app.resource.model import Paging, SortTerm
from app.resource.reading import store
from benchmarks import report
from benchmarks.markdown import table
from benchmarks.scale import (
    COMMON_WORD,
    Operation,
    Project,
    RecordingConnection,
    database,
    page,
    search,
    seconds,
    seeded,
)

GET = Operation("get by id", lambda c, p: store.get_by_id(c, p.key, str(next(p.ids))), 15)

MEASURED = [
    GET,
    Operation("search for a rare word", search(lambda p: p.word), 15),
    Operation("fuzzy search for it, misspelt", search(lambda p: p.misspelt, 2), 15),
    Operation("search for a common word", search(lambda _: "dog"), 7),
    Operation("the same, sorted by id", search(lambda _: "dog", paging=Paging(sort=(SortTerm(SORTABLE["id"]),))), 7),
    Operation("list of a rare word", page(contains=lambda p: {"arrayOfStringExample": [p.text]}), 15),
    Operation("list of a common word", page(contains=lambda _: COMMON_WORD), 7),
    Operation(
        "list of 50 rare numbers",
        page(where=lambda p: f"arrayOfFloatExample contains any ({', '.join(str(p.number + n) for n in range(50))})"),
        7,
    ),
    Operation("range on an array", page(where=lambda _: "arrayOfIntExample > 990"), 5),
    Operation("filter by a range on an array", search(filters=lambda _: ["arrayOfIntExample:range(990 to *)"]), 5),
    Operation("facet by term", search(facets=("arrayOfStringExample",)), 5),
    Operation("facet by range", search(facets=("arrayOfFloatExample:range(50 to *)",)), 5),
]

STATES = ("just loaded", "analysed")


def milliseconds(connection: RecordingConnection, project: Project) -> dict[str, float]:
    """The median of each operation, which take turns."""
    times: dict[str, list[float]] = {operation.name: [] for operation in MEASURED}
    for round_ in range(max(operation.rounds for operation in MEASURED)):
        for operation in MEASURED:
            if round_ < operation.rounds:
                times[operation.name].append(seconds(operation.call, connection, project))
    return {name: statistics.median(measured) * 1000 for name, measured in times.items()}


def measured(size: int) -> list[dict[str, float]]:
    """The medians in each state, with a database of its own."""
    with database(settings={"autovacuum": "off"}) as url:
        migrate.upgrade(url)
        with RecordingConnection.connect(url, autocommit=True, prepare_threshold=2) as connection:
            project = seeded(connection, "loaded", size)
            found = [milliseconds(connection, project)]
            connection.execute("VACUUM (ANALYZE) resource, word")
            return [*found, milliseconds(connection, project)]


def as_table(of_sizes: dict[int, list[dict[str, float]]]) -> str:
    head = ["", *(f"{size:,}, {state}" for size in of_sizes for state in STATES)]
    rows = [
        [operation.name, *(_cell(state, operation) for states in of_sizes.values() for state in states)]
        for operation in MEASURED
    ]
    return table(head, rows)


def _cell(state: dict[str, float], operation: Operation) -> str:
    took = state[operation.name]
    return f"{took:.1f}" if operation is GET else f"{took:.1f} ({took / state[GET.name]:.0f}x)"


@click.command(help=__doc__)
@click.option("--sizes", default="10000,100000,1000000", show_default=True, help="Resources, separated by commas.")
@click.option("--save/--no-save", default=False, help="Write docs/benchmarks.md; else only print.")
def main(sizes: str, save: bool) -> None:
    text = as_table({int(size): measured(int(size)) for size in sizes.split(",")})
    click.echo(text)
    if save:
        report.replace_part("after-load", text)


if __name__ == "__main__":
    main()
