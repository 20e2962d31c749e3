"""Migrations: plain SQL files in ``migrations/``, applied by yoyo, one process at a time.

yoyo's own lock is a row that outlives a killed process; an advisory lock of a transaction ends with its connection,
and works through a transaction-mode pooler too.
"""

import getpass
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import psycopg
from psycopg.conninfo import conninfo_to_dict
from yoyo import read_migrations  # pyright: ignore[reportUnknownVariableType] -- yoyo has no types
from yoyo.backends.core.postgresql import PostgresqlPsycopgBackend
from yoyo.connections import DatabaseURI
from yoyo.migrations import default_migration_table, topological_sort

from app.database.pool import MIGRATIONS

_LOCK_ID = 0x5265736F75726365  # "Resource" in ASCII: any number that nobody else takes


OLDEST_SERVER = 15
"""The oldest major version of PostgreSQL that the statements are written for."""


class UnsupportedServer(Exception):
    """The database server is older than the service can use."""


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    """One migration file and whether the database has it."""

    id: str
    applied: bool


@contextmanager
def _backend(url: str) -> Generator[Any]:
    arguments = {name: value for name, value in conninfo_to_dict(url).items() if value is not None}
    database = str(arguments.pop("dbname", ""))
    backend: Any = PostgresqlPsycopgBackend(
        # Nothing is prepared: a pooler in front may not know of it, and nothing here is run often.
        DatabaseURI("postgresql+psycopg", None, None, None, None, database, arguments | {"prepare_threshold": None}),
        default_migration_table,
    )
    try:
        backend.init_database()
        yield backend
    finally:
        backend.connection.close()


def _name_nameless_account() -> None:
    """Give an account without a name, as containers have them, its number for a name: yoyo notes who migrated."""
    try:
        getpass.getuser()
    except (KeyError, OSError):  # before and since Python 3.13
        os.environ["LOGNAME"] = str(os.getuid())


def _migrations() -> Any:
    return read_migrations(str(MIGRATIONS))


def upgrade(url: str) -> list[str]:
    """Apply what is missing, in order, and return the ids of what was applied.

    Several processes may call this at once: one works, the others wait and then find nothing to do. A migration runs
    in a transaction of its own, so one that fails leaves nothing of itself.

    :raises UnsupportedServer: if the server is older than :data:`OLDEST_SERVER`; nothing is touched then.
    """
    with psycopg.connect(url) as lock:
        _raise_if_too_old(lock.info.server_version)
        lock.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK_ID,))
        with _backend(url) as backend:
            missing = backend.to_apply(_migrations())
            _name_nameless_account()
            names = [str(migration.id) for migration in missing]
            backend.apply_migrations(missing)
            return names


def _raise_if_too_old(server_version: int) -> None:
    """Look at a server's version number as libpq gives it: 150018 is 15.18."""
    major = server_version // 10_000
    if major < OLDEST_SERVER:
        raise UnsupportedServer(f"The database is PostgreSQL {major}; {OLDEST_SERVER} or newer is needed.")


def status(url: str) -> list[MigrationStatus]:
    """All migrations in order."""
    with _backend(url) as backend:
        migrations = _migrations()
        ids = [str(cast(Any, migration).id) for migration in topological_sort(migrations)]
        missing = {str(migration.id) for migration in backend.to_apply(migrations)}
        return [MigrationStatus(name, name not in missing) for name in ids]
