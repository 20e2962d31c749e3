"""Applying the migrations, plain SQL files in ``migrations/``, by yoyo, one process at a time.

The lock is PostgreSQL's advisory lock of a transaction: it ends with its connection, and it works through a pooler in
transaction mode. yoyo's own lock is a row in a table, which stays when the process that holds it is killed.
"""

import getpass
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import UndefinedTable
from yoyo import read_migrations  # pyright: ignore[reportUnknownVariableType] -- yoyo has no types
from yoyo.backends.core.postgresql import PostgresqlPsycopgBackend
from yoyo.connections import DatabaseURI
from yoyo.migrations import default_migration_table

from app.database import migration_files
from app.database.applied_migrations import applied_migrations, missing_migrations
from app.database.connection import Connection

OLDEST_SERVER = 15
"""The oldest major version of PostgreSQL that has everything that the statements use."""

_FORMER_SCHEMA = "0001.resource"
"""The first migration of versions before 0.2.0, whose tables are others."""

_LOCK_ID = 0x5265736F75726365
""""Resource" in ASCII. Any number will do that no other advisory lock in the database has."""

_LOCK: LiteralString = "SELECT pg_advisory_xact_lock(%(lock_id)s)"

_IS_WORKER: LiteralString = "SELECT groupid <> 0 FROM pg_dist_local_group"


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    """A migration and whether it is applied."""

    id: str
    applied: bool


@contextmanager
def _backend(url: str) -> Generator[Any]:
    arguments = {name: value for name, value in conninfo_to_dict(url).items() if value is not None}
    database = str(arguments.pop("dbname", ""))
    backend: Any = PostgresqlPsycopgBackend(
        # Without prepared statements, which a pooler may not support; each statement here runs only once.
        DatabaseURI("postgresql+psycopg", None, None, None, None, database, arguments | {"prepare_threshold": None}),
        default_migration_table,
    )
    try:
        backend.init_database()
        yield backend
    finally:
        backend.connection.close()


def _ensure_account_name() -> None:
    """If the account has no name, as in many containers, let its number stand in: yoyo logs who migrated."""
    try:
        getpass.getuser()
    except (KeyError, OSError):  # KeyError until Python 3.12, OSError since 3.13
        os.environ["LOGNAME"] = str(os.getuid())


def upgrade(url: str) -> list[str]:
    """Apply the missing migrations in order, and return their ids.

    Several processes may call this at once: one applies them, the others wait and then find nothing missing. Each
    migration runs in a transaction of its own, so one that fails leaves no trace.

    :raises UnsupportedServer: if the server is older than :data:`OLDEST_SERVER`, if the database was made by a version
        before 0.2.0, or if migrations are missing and the server is a worker of a Citus cluster; it changes nothing.
    """
    url = _without_load_balancing(url)
    with psycopg.connect(url) as lock:
        raise_if_too_old(lock.info.server_version)
        lock.execute(_LOCK, {"lock_id": _LOCK_ID})
        if _FORMER_SCHEMA in applied_migrations(lock):
            raise migration_files.UnsupportedServer(
                "The database was made by a version before 0.2.0. Export its projects with that version"
                " ('sample-resource export'), and import them into a new database."
            )
        if not missing_migrations(lock):
            return []
        _raise_if_worker(lock)
        with _backend(url) as backend:
            missing = backend.to_apply(read_migrations(str(migration_files.FOLDER)))
            _ensure_account_name()
            names = [str(migration.id) for migration in missing]
            backend.apply_migrations(missing)
            return names


def _without_load_balancing(url: str) -> str:
    """The connection string without ``load_balance_hosts``: of several hosts, the first that answers is taken.

    With Citus that is the coordinator, if it is named first.
    """
    parameters = conninfo_to_dict(url)
    parameters.pop("load_balance_hosts", None)
    return make_conninfo("", **parameters)


def _raise_if_worker(connection: Connection) -> None:
    """Refuse to migrate a worker of a Citus cluster: its tables are shards that the coordinator has made."""
    try:
        with connection.transaction():
            is_worker = connection.execute(_IS_WORKER).fetchone() == (True,)
    except UndefinedTable:
        return  # without Citus
    if is_worker:
        raise migration_files.UnsupportedServer(
            "Migrations are missing, and the server is a worker of a Citus cluster. "
            "Name the coordinator first in DATABASE_URL, or run 'sample-resource db upgrade' there."
        )


def raise_if_too_old(server_version: int) -> None:
    """Check the version of a server.

    :param server_version: as libpq gives it: 150018 is 15.18.
    :raises UnsupportedServer: if it is older than :data:`OLDEST_SERVER`.
    """
    major = server_version // 10_000
    if major < OLDEST_SERVER:
        raise migration_files.UnsupportedServer(
            f"The database is PostgreSQL {major}; {OLDEST_SERVER} or newer is needed."
        )


def status(url: str) -> list[MigrationStatus]:
    """All migrations in the order in which they are applied, which is that of their names."""
    with psycopg.connect(_without_load_balancing(url)) as connection:
        applied = applied_migrations(connection)
    return [MigrationStatus(name, name in applied) for name in sorted(migration_files.migration_ids())]
