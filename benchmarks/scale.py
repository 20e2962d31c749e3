"""Compares reads and writes in a project of a million resources with one of ten thousand in the same table.

Run it with ``python -m benchmarks.scale`` in the repository's folder. It starts an embedded PostgreSQL with the
durability of the service, seeds both projects and prints a table of medians in Markdown. ``--database`` names another
database, empty or seeded by an earlier run. The projects take turns, so that other work on the machine slows down both
alike. ``--plans`` prints the plan of each statement in the big project instead.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any
from uuid import UUID

import click
import psycopg

from app.bulk import seed as made_up
from app.database import migrate
from app.query.fields import SORTABLE
from app.query.filters.resolver import read_facets, read_filters
from app.query.predicate import resolver
from app.resource import bulk_store
from app.resource.actions import ChangeSomeProperty
from app.resource.model import (
    ById,
    Caller,
    Containment,
    Content,
    NewResource,
    Paging,
    Preconditions,
    Search,
    SearchText,
    Selection,
    SortTerm,
)
from app.resource.object_type import ObjectType
from app.resource.reading import store
from app.resource.searching.search import search as search_page
from app.resource.writing import store as writing
from app.resource.writing.rules import Write, decide
from app.serving.embedded import EmbeddedPostgres
from app.values.strict_json import encode

HITS = 5
"""The approximate number of resources that a selective condition finds."""

CLIENT_ID = "benchmark"


class RecordingConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that records its statements while :attr:`asked` is a list."""

    asked: list[tuple[Any, Any]] | None = None

    def execute(self, query: Any, params: Any = None, **options: Any) -> psycopg.Cursor[tuple[Any, ...]]:
        if self.asked is not None:
            self.asked.append((query, params))
        return super().execute(query, params, **options)


@dataclass(frozen=True)
class Project:
    """A project, and values that about :data:`HITS` of its resources have."""

    key: str
    ids: Iterator[UUID]
    keys: Iterator[str]
    word: str
    text: str
    number: float
    integer: int
    member: int

    @property
    def misspelt(self) -> str:
        return self.word[:2] + "x" + self.word[3:]


def described(connection: RecordingConnection, key: str) -> Project:
    """A seeded project, with values that are chosen by counting their resources."""
    some = connection.execute(
        "SELECT id, key FROM resource WHERE project_key = %s AND key IS NOT NULL ORDER BY md5(id::text) LIMIT 500",
        (key,),
    ).fetchall()

    def value(values: str) -> Any:
        statement = f"""
            SELECT v.value FROM resource r, {values} v (value) WHERE r.project_key = %s
            GROUP BY 1 ORDER BY abs(count(DISTINCT r.id) - {HITS}), md5(v.value::text) LIMIT 1"""
        row = connection.execute(statement, (key,)).fetchone()
        return None if row is None else row[0]

    return Project(
        key=key,
        ids=cycle([row[0] for row in some]),
        keys=cycle([row[1] for row in some]),
        word=value("LATERAL (SELECT w FROM unnest(tsvector_to_array(r.words)) w WHERE length(w) BETWEEN 7 AND 9)"),
        text=value("jsonb_array_elements_text(r.object -> 'arrayOfStringExample')"),
        number=value("jsonb_array_elements(r.object -> 'arrayOfFloatExample')"),
        integer=value("jsonb_array_elements(r.object -> 'arrayOfNumberNoDefaultsExample')"),
        member=value(
            "LATERAL (SELECT e -> 'integerExample' FROM jsonb_array_elements(r.object -> 'arrayOfObjectType') e)"
        ),
    )


# The measured operations


Call = Callable[[RecordingConnection, Project], object]


@dataclass(frozen=True)
class Operation:
    """A row of the table; ``rounds`` is the number of measurements in each project."""

    name: str
    call: Call
    rounds: int = 100


def page(paging: Paging | None = None, **conditions: Callable[[Project], Any]) -> Call:
    """A page of a list, with the conditions of :func:`selection`."""
    return lambda connection, project: store.page(
        connection, project.key, selection(project, **conditions), paging or Paging()
    )


def exists(**conditions: Callable[[Project], Any]) -> Call:
    return lambda connection, project: store.exists(connection, project.key, selection(project, **conditions))


def selection(
    project: Project,
    contains: Callable[[Project], dict[str, Any]] | None = None,
    where: Callable[[Project], str] | None = None,
) -> Selection:
    return Selection(
        () if contains is None else (Containment((encode(contains(project)),)),),
        None if where is None else resolver.read([where(project)], {}),
    )


def search(
    word: Callable[[Project], str] | None = None,
    fuzzy_level: int | None = None,
    filters: Callable[[Project], list[str]] = lambda _: [],
    facets: tuple[str, ...] = (),
    paging: Paging | None = None,
) -> Call:
    """The first page of a search with its total, ordered by relevance if there is a word."""

    def call(connection: RecordingConnection, project: Project) -> object:
        query = Search(
            texts=() if word is None else (SearchText("en", word(project)),),
            fuzzy_level=fuzzy_level,
            query_filters=read_filters(filters(project)),
            facets=read_facets(facets),
            paging=paging or Paging(),
        )
        return search_page(connection, project.key, query)

    return call


def read_all(connection: RecordingConnection, project: Project) -> object:
    """What a request costs at least that no index serves."""
    return connection.execute(
        "SELECT count(r.array_of_int) FROM resource r WHERE r.project_key = %(key)s", {"key": project.key}
    ).fetchone()


def create(connection: RecordingConnection, project: Project) -> object:
    """Create a resource like the seeded ones. Its words are stored in the project already."""
    texts = [project.word, project.text]
    content = Content(ObjectType.of({"arrayOfStringExample": texts}))
    new = NewResource(None, content, content, CLIENT_ID, unnamed=False)
    return writing.save(connection, Caller(project.key, CLIENT_ID), None, new)


def update(connection: RecordingConnection, project: Project) -> object:
    action = ChangeSomeProperty(f"{project.word} {next(numbers)}", staged=False)
    target = ById(str(next(project.ids)))
    found = writing.find(connection, project.key, target)
    if found is None:
        raise LookupError(target.id)
    write = Write(Caller(project.key, CLIENT_ID), target, action.apply, Preconditions())
    return writing.save(connection, write.caller, found, decide(found, write))


numbers = iter(range(1_000_000_000))


def sorted_by(name: str, *, descending: bool) -> Paging:
    return Paging(sort=(SortTerm(SORTABLE[name], descending=descending),))


WITHOUT_TOTAL = Paging(with_total=False)
COMMON_WORD = {"arrayOfStringExample": ["dog"]}

SELECTIVE = [
    Operation("get by id", lambda c, p: store.get_by_id(c, p.key, str(next(p.ids)))),
    Operation("get by key", lambda c, p: store.get_by_key(c, p.key, next(p.keys))),
    *(
        Operation(f"page by {name} {'desc' if descending else 'asc'}", page(sorted_by(name, descending=descending)))
        for name in SORTABLE
        for descending in (False, True)
    ),
    Operation("stringParameter", page(contains=lambda p: {"arrayOfStringExample": [p.text]})),
    Operation("floatParameter", page(contains=lambda p: {"arrayOfFloatExample": [p.number]})),
    Operation("withMarkdownDescription", page(contains=lambda p: {"arrayOfNumberNoDefaultsExample": [p.integer]})),
    Operation("objectParameter", page(contains=lambda p: {"arrayOfObjectType": [{"integerExample": p.member}]})),
    Operation("where, members of one element", page(where=lambda p: f"arrayOfObjectType(integerExample = {p.member})")),
    Operation(
        "stringParameter, sort by key",
        page(sorted_by("key", descending=False), contains=lambda p: {"arrayOfStringExample": [p.text]}),
    ),
    Operation(
        "stringParameter, withTotal=false", page(WITHOUT_TOTAL, contains=lambda p: {"arrayOfStringExample": [p.text]})
    ),
    Operation("exists, stringParameter", exists(contains=lambda p: {"arrayOfStringExample": [p.text]})),
    Operation("exists, none does", exists(contains=lambda _: {"arrayOfStringExample": ["no such word"]})),
    Operation("search for a word", search(lambda p: p.word)),
    Operation("fuzzy search for the same word", search(lambda p: p.word, 2)),
    Operation("fuzzy search for the word misspelt", search(lambda p: p.misspelt, 2)),
    Operation("search by a filter", search(filters=lambda p: [f"arrayOfStringExample:{encode(p.text)}"])),
    Operation(
        "the same with facets",
        search(
            filters=lambda p: [f"arrayOfStringExample:{encode(p.text)}"],
            facets=("arrayOfIntExample", "arrayOfFloatExample:range(* to 50),(50 to *)", "version"),
        ),
    ),
    Operation("create", create),
    Operation("update", update),
]

OTHERS = [
    Operation("reading one column of every row", read_all, 3),
    Operation("the commonest word, in every seventh resource", page(contains=lambda _: COMMON_WORD), 10),
    Operation("search for it", search(lambda _: "dog"), 5),
    Operation("exists, the commonest word", exists(contains=lambda _: COMMON_WORD), 20),
    Operation("three common numbers", page(where=lambda _: "arrayOfIntExample contains all (1, 2, 3)"), 10),
    Operation(
        "the same, joined by and",
        page(where=lambda _: " and ".join([f"arrayOfIntExample = {number}" for number in (1, 2, 3)])),
        10,
    ),
    Operation("offset 10000", page(Paging(offset=10_000)), 10),
    Operation("offset 10000, sort by key", page(Paging(offset=10_000, sort=(SortTerm(SORTABLE["key"]),))), 10),
    Operation("a range that many are in", page(where=lambda _: "arrayOfIntExample > 990"), 5),
    Operation("filter by a range between bounds", search(filters=lambda _: ["arrayOfIntExample:range(500 to 510)"]), 3),
    Operation("a range that none is in", page(where=lambda _: "arrayOfIntExample > 5000"), 3),
    Operation("facet of terms, over everything", search(facets=("arrayOfStringExample",)), 2),
    Operation("facet of a scalar's terms", search(facets=("version",)), 2),
    Operation("facet of a range", search(facets=("arrayOfFloatExample:range(50 to *)",)), 2),
    Operation("facet of a value", search(facets=("arrayOfIntExample:7",)), 3),
    Operation(
        "three ranges",
        page(where=lambda _: "arrayOfIntExample < 3 and arrayOfFloatExample > 100 and arrayOfUniqueIntExample > 9990"),
        3,
    ),
]


# Measurement


def seconds(call: Call, connection: RecordingConnection, project: Project) -> float:
    began = time.perf_counter()
    call(connection, project)
    return time.perf_counter() - began


def compare(connection: RecordingConnection, operations: list[Operation], small: Project, big: Project) -> None:
    click.echo("| | small, ms | big, ms | ratio |\n|---|---|---|---|")
    for operation in operations:
        # On a new connection PostgreSQL plans a statement for each of its first calls, which are not measured.
        for _ in range(min(12, operation.rounds)):
            operation.call(connection, small)
            operation.call(connection, big)
        rounds = [
            (seconds(operation.call, connection, small), seconds(operation.call, connection, big))
            for _ in range(operation.rounds)
        ]
        fast, slow = (statistics.median(times) * 1000 for times in zip(*rounds, strict=True))
        click.echo(f"| {operation.name} | {fast:.2f} | {slow:.2f} | {slow / fast:.1f} |")


def show_plans(connection: RecordingConnection, operations: list[Operation], project: Project) -> None:
    for operation in operations:
        connection.asked = asked = []
        operation.call(connection, project)
        connection.asked = None
        click.echo(f"\n## {operation.name}\n")
        for query, parameters in asked:
            explain = f"EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) {query}"
            with connection.transaction(force_rollback=True):
                rows = connection.execute(explain, parameters).fetchall()
            click.echo("\n".join(row[0] for row in rows))


def seeded(connection: RecordingConnection, key: str, size: int) -> Project:
    if not store.exists(connection, key, Selection()):
        began = time.perf_counter()
        bulk_store.copy_in(connection, key, made_up.resources(key, size, 0))
        click.echo(f"{size} resources loaded in {time.perf_counter() - began:.0f} s.")
    return described(connection, key)


@contextmanager
def database(url: str | None = None, settings: Mapping[str, str] | None = None) -> Generator[str]:
    """A database that is there, or a new one on an embedded PostgreSQL, whose durability is that of the service."""
    if url is not None:
        yield url
        return
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        Path(folder).chmod(0o755)
        with EmbeddedPostgres(Path(folder) / "data", settings) as server:
            yield server.conninfo()


@click.command(help=__doc__)
@click.option("--database", "url", help="A database instead of an embedded one.")
@click.option("--small", default=10_000, show_default=True)
@click.option("--big", default=1_000_000, show_default=True)
@click.option("--plans", is_flag=True, help="Print the plans of all statements instead of times.")
def main(url: str | None, small: int, big: int, plans: bool) -> None:
    with database(url) as known_url:
        migrate.upgrade(known_url)
        with RecordingConnection.connect(known_url, autocommit=True, prepare_threshold=2) as connection:
            projects = seeded(connection, "small", small), seeded(connection, "big", big)
            connection.execute("VACUUM (ANALYZE) resource, word")
            if plans:
                show_plans(connection, SELECTIVE + OTHERS, projects[1])
                return
            compare(connection, SELECTIVE, *projects)
            click.echo("\nNot selective:\n")
            compare(connection, OTHERS, *projects)


if __name__ == "__main__":
    main()
