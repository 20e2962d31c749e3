"""The data of the benchmark: the same generated resources for all servers, in the tables of each.

They are loaded once into template databases. Every benchmark works on new copies, so the writes of one benchmark do
not slow down a later one.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote, urlencode

import click
import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from app.bulk import seed
from app.database import migrate
from app.identity import signing_keys
from app.resource import bulk_store
from app.resource.model import StoredResource
from app.resource.searching import words
from app.serving.embedded import EmbeddedPostgres

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

KINTO_CREATES_IN = 256
"""The number of Kinto collections, in turn, in which records are created.

In a collection the time of the last change, in milliseconds, is unique. Kinto therefore refuses some concurrent writes
to one collection: 6 of 100 with 8 connections. More collections avoid that, and for the same reason each record for
updates has its own collection.
"""


def created_in_kinto(number: int) -> str:
    """The name of a collection to create records in."""
    return f"new-{number}"


def updated_in_kinto(number: int) -> str:
    """The name of a collection for updates, and of its only record."""
    return f"updated-{number}"


@dataclass(frozen=True, slots=True)
class Sample:
    """The values in requests, the same for every server."""

    ids: tuple[str, ...]
    """Ids for reads by id, of resources without a key."""
    keys: tuple[str, ...]
    """Keys for reads by key."""
    text: str
    """A text that exactly :data:`FOUND` resources contain."""
    updated: tuple[StoredResource, ...]
    """Resources with a key, from all over the table; each run of updates takes the next ones."""
    mocked: tuple[tuple[str, str, str], ...]
    """Id, key and document of the resources that the mock gets."""


def url_of(conninfo: str, scheme: str = "postgresql") -> str:
    """A libpq connection string as a URL, for drivers that need one."""
    parts = {name: str(value) for name, value in conninfo_to_dict(conninfo).items() if value is not None}
    place = urlencode({"host": parts["host"], "port": parts["port"]})
    return f"{scheme}://{quote(parts['user'])}@/{quote(parts['dbname'])}?{place}"


def resources(count: int) -> Iterator[StoredResource]:
    """The generated resources."""
    return seed.resources(PROJECT, count, 0)


def sample(count: int) -> Sample:
    """Choose the values in requests. The same count gives the same values."""
    with_key: list[StoredResource] = []
    without_key: list[StoredResource] = []
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
        mocked=tuple(
            (str(resource.id), resource.key or "", resource.object_type)
            for resource in with_key[:: max(1, len(with_key) // min(10_000, len(with_key)))][:10_000]
        ),
    )


def template(server: EmbeddedPostgres, kind: str, count: int) -> str:
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
        finish(server, unfinished, name)
    return name


def finish(server: EmbeddedPostgres, unfinished: str, name: str) -> None:
    """Rename a database after it was filled. A database with the final name is complete."""
    with psycopg.connect(server.conninfo("postgres", superuser=True), autocommit=True) as connection:
        connection.execute(
            sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(unfinished), sql.Identifier(name))
        )


def exists(server: EmbeddedPostgres, name: str) -> bool:
    """Whether a database exists."""
    return name in _databases(server)


def _databases(server: EmbeddedPostgres) -> set[str]:
    with psycopg.connect(server.conninfo("postgres", superuser=True)) as connection:
        return {row[0] for row in connection.execute("SELECT datname FROM pg_database")}


def _fill_service(url: str, connection: psycopg.Connection, count: int) -> None:
    migrate.upgrade(url)
    signing_keys.ensure_signing_key(connection)
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


def fill_kinto(server: EmbeddedPostgres, database: str, count: int) -> None:
    """Load the resources into a database with Kinto's tables.

    The id of a record is the key of the resource, or its id if it has no key, since Kinto has ids that clients choose
    and no keys. Kinto's triggers would replace the times, so they are off, which only a superuser may do.
    """
    with psycopg.connect(server.conninfo(database, superuser=True), autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        columns = "id, parent_id, resource_name, last_modified, data, deleted"
        with connection.cursor() as cursor, cursor.copy(f"COPY objects ({columns}) FROM STDIN") as copy:
            began = seed.EPOCH.replace(tzinfo=None).isoformat()
            copy.write_row(("bench", "", "bucket", began, "{}", False))
            names = [
                "resources",
                *map(created_in_kinto, range(KINTO_CREATES_IN)),
                *map(updated_in_kinto, range(UPDATED)),
            ]
            for number, name in enumerate(names):
                made = (seed.EPOCH + timedelta(milliseconds=number)).replace(tzinfo=None).isoformat()
                copy.write_row((name, "/buckets/bench", "collection", made, "{}", False))
            for item in resources(count):
                copy.write_row(
                    (
                        item.key or str(item.id),
                        "/buckets/bench/collections/resources",
                        "record",
                        item.created_at.removesuffix("+00:00"),
                        f'{{"key":{json.dumps(item.key)},"objectTypeProperty":{item.object_type}}}',
                        False,
                    )
                )
            for item, name in zip(resources(count), map(updated_in_kinto, range(UPDATED)), strict=False):
                data = f'{{"objectTypeProperty":{item.object_type}}}'
                copy.write_row((name, f"/buckets/bench/collections/{name}", "record", began, data, False))
        connection.execute("VACUUM ANALYZE")
