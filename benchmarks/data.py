"""The data of the benchmark: the same generated resources for all servers, in the tables of each.

They are loaded once into template databases. Every benchmark works on new copies, so the writes of one benchmark do
not slow down a later one.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

import click
import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from app.bulk import seed
from app.database import migrate
from app.resource import bulk_store
from app.resource.model import ResourceRow
from app.resource.searching import words
from tests.support.cluster import Cluster

ROOT = Path(__file__).resolve().parent.parent
PEERS = Path(__file__).resolve().parent / "peers"

PROJECT = "bench"
NEW_PROJECT = "bench-new"
"""The project of created resources. Lists are read from another project, so their size stays constant."""

COUNT = 100_000
FOUND = 20
"""The number of resources that the containment filter finds."""


UPDATED = 8192
"""The number of resources for updates. Each run updates others, whose versions are known."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The values in requests, the same for every server."""

    ids: tuple[str, ...]
    """Ids for reads by id, of resources without a key."""
    keys: tuple[str, ...]
    """Keys for reads by key."""
    text: str
    """A text that exactly :data:`FOUND` resources contain."""
    updated: tuple[ResourceRow, ...]
    """Resources with a key, from all over the table; each run of updates takes the next ones."""


def url_of(conninfo: str, scheme: str = "postgresql") -> str:
    """A libpq connection string as a URL, for drivers that need one."""
    parts = {name: str(value) for name, value in conninfo_to_dict(conninfo).items() if value is not None}
    place = urlencode({"host": parts["host"], "port": parts["port"]})
    return f"{scheme}://{quote(parts['user'])}@/{quote(parts['dbname'])}?{place}"


def resources(count: int) -> Iterator[ResourceRow]:
    """The generated resources."""
    return seed.resources(PROJECT, count, 0)


def sample(count: int) -> Sample:
    """Choose the values in requests. The same count gives the same values."""
    with_key: list[ResourceRow] = []
    without_key: list[ResourceRow] = []
    frequency: dict[str, int] = {}
    for resource in resources(count):
        (without_key if resource.key is None else with_key).append(resource)
        for text in set(json.loads(resource.object_type).get("arrayOfStringExample", ())):
            frequency[text] = frequency.get(text, 0) + 1
    found = min(FOUND, max(frequency.values()))
    return Sample(
        ids=tuple(str(resource.id) for resource in without_key[:: max(1, len(without_key) // 1000)]),
        keys=tuple(resource.key or "" for resource in with_key[:: max(1, len(with_key) // 1000)]),
        text=next(text for text, times in frequency.items() if times == found),
        # Each run takes resources from all over the table, and no two runs take neighbours.
        updated=tuple(resource for start in range(97) for resource in with_key[start::97])[:UPDATED],
    )


def template(server: Cluster, kind: str, count: int) -> str:
    """The name of a filled database, "service" or "bare". It is created if it is missing or out of date."""
    digest = hashlib.sha256(f"{kind} {count}".encode())
    sources = {
        "service": [*sorted((ROOT / "migrations").glob("*.sql")), Path(words.__file__)],
        "bare": [PEERS / "bare.sql"],
    }[kind]
    for source in [*sources, Path(seed.__file__)]:
        digest.update(source.read_bytes())
    name = f"template_{kind}_{digest.hexdigest()[:12]}"
    if name not in _databases(server):
        unfinished = f"unfinished_{name}"
        click.echo(f"Loading {count} resources into {name} (once) ...", err=True)
        server.drop_database(unfinished)
        url = server.create_database(unfinished)
        with psycopg.connect(url, autocommit=True) as connection:
            _fill_service(url, connection, count) if kind == "service" else _fill_bare(connection, count)
            connection.execute("VACUUM ANALYZE")
        # A database with the final name is complete.
        with psycopg.connect(server.conninfo_of("postgres", superuser=True), autocommit=True) as connection:
            names = sql.Identifier(unfinished), sql.Identifier(name)
            connection.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(*names))
    return name


def _databases(server: Cluster) -> set[str]:
    with psycopg.connect(server.conninfo_of("postgres", superuser=True)) as connection:
        return {row[0] for row in connection.execute("SELECT datname FROM pg_database")}


def _fill_service(url: str, connection: psycopg.Connection, count: int) -> None:
    migrate.upgrade(url)
    bulk_store.copy_in(connection, PROJECT, resources(count))


def _fill_bare(connection: psycopg.Connection, count: int) -> None:
    connection.execute((PEERS / "bare.sql").read_bytes())
    columns = "project_key, id, version, key, created_at, last_modified_at, object_type, some_property"
    with connection.cursor() as cursor, cursor.copy(f"COPY resource ({columns}) FROM STDIN") as copy:
        for item in resources(count):
            copy.write_row(
                (
                    PROJECT,
                    item.id,
                    item.version,
                    item.key,
                    item.created_at,
                    item.last_modified_at,
                    item.object_type,
                    item.some_property,
                )
            )
