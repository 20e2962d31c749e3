"""The migrations: numbered SQL files in ``migrations/``, each applied once.

An extension has its migrations in a separate folder. Their names begin with the name of the extension, and they are
applied after those of the service. One process at a time applies them, while it holds an advisory lock, in a
transaction on a separate connection.
"""

import logging
import time
from collections.abc import Generator, Mapping
from functools import cache
from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.errors import DeadlockDetected, LockNotAvailable, UndefinedTable

from app.database.connection import Connection, conninfo_without_timeouts

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "migrations"

FOLDER = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.with_name("migrations")
"""The folder of the migrations: inside of ``app`` in the wheel, next to ``app`` in a checkout."""

OLDEST_SERVER = 15
"""The oldest major version of PostgreSQL that is supported. Older versions lack features that the statements use."""

LOCK_ATTEMPTS = 30
"""The most attempts of a migration to get its locks. Each attempt waits as long as the file of the migration says, and
requests for the same table wait behind it."""

_PAUSE_S = 2.0
"""The pause between two attempts, in which the requests that waited behind the migration are answered."""

_INVALID_INDEXES: LiteralString = """
SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname"""

_LOCK_ID = 0x5265736F75726365
"""The number of the advisory lock: "Resource" in ASCII. Any number that no other advisory lock has would do."""

_LOCK: LiteralString = "SELECT pg_advisory_xact_lock(%(lock_id)s)"

_IS_WORKER: LiteralString = "SELECT groupid <> 0 FROM pg_dist_local_group"


_APPLIED: LiteralString = "SELECT id FROM migration"

_CREATE_TABLE: LiteralString = """
CREATE TABLE IF NOT EXISTS migration (
    id text COLLATE "C" PRIMARY KEY, applied_at timestamptz(3) NOT NULL DEFAULT now())"""

_NOTE: LiteralString = "INSERT INTO migration (id) VALUES (%(id)s)"


_log = logging.getLogger("app.database")


class MigrationFailed(Exception):
    """The error for a migration that failed, or for a database that cannot be migrated: because of its server, its
    encoding or its schema, or because it is a worker of a Citus cluster.

    A failed migration has changed nothing, unless its COMMIT failed; the migrations before it are applied. Its
    message names the statement that failed.
    """


@cache  # because each readiness probe asks
def migration_files(more: tuple[Path, ...] = ()) -> Mapping[str, Path]:
    """The files of the migrations that this version of the service needs, by their ids, in the order of application.

    A database may have more migrations: those of a newer version do not break this version.

    :param more: folders of extensions.
    """
    found = [path for folder in (FOLDER, *more) for path in sorted(folder.glob("*.sql"))]
    return {path.name.removesuffix(".sql"): path for path in found}


def applied_migrations(connection: Connection) -> frozenset[str]:
    """The ids of the applied migrations, including those of a newer version of the service. The result is empty if the
    table of migrations is missing.

    :param connection: may be in a transaction. A missing table does not abort that transaction, because the query runs
        in a savepoint.
    """
    try:
        with connection.transaction():
            return frozenset(name for (name,) in connection.execute(_APPLIED))
    except UndefinedTable:
        return frozenset()


def missing_migrations(connection: Connection, more: tuple[Path, ...] = ()) -> list[str]:
    """The ids of the migrations that this version of the service needs and the database lacks, in the order of
    application."""
    applied = applied_migrations(connection)
    return [name for name in migration_files(more) if name not in applied]


def status(url: str, more: tuple[Path, ...] = ()) -> dict[str, bool]:
    """The ids of all migrations that this version needs, in the order of application, with whether each is applied."""
    with psycopg.connect(_conninfo(url)) as connection:
        applied = applied_migrations(connection)
    return {name: name in applied for name in migration_files(more)}


def upgrade(url: str, more: tuple[Path, ...] = ()) -> list[str]:
    """Apply the missing migrations in order, and return their ids.

    Several processes may call this at once: one applies them, the others wait and then find nothing missing. Each
    migration runs in a separate transaction.

    :param more: folders of extensions.
    :raises MigrationFailed: in these cases:

        - The server is older than :data:`OLDEST_SERVER`, or the encoding of the database is not UTF8. Nothing is
          applied, and this is refused even if no migration is missing.
        - A migration is missing, and the server is a worker of a Citus cluster. Nothing is applied.
        - A migration is missing, and an index is invalid. Nothing is applied.
        - A statement of a migration fails, or gets no lock in :data:`LOCK_ATTEMPTS` attempts. The migrations before
          this one stay applied.
    :raises psycopg.Error: if a connection cannot be opened, if the connection with the lock is lost, or if the role may
        not create a table.
    """
    url = _conninfo(url)
    # No autocommit: the transaction holds the lock until the end of the block. The migrations commit on a connection of
    # their own.
    with psycopg.connect(url) as lock:
        # The default of a role may be REPEATABLE READ, whose snapshot would be older than the lock, and would not have
        # what another process has applied.
        lock.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        raise_if_unsupported(lock.info.server_version, lock.info.parameter_status("server_encoding") or "unknown")
        lock.execute(_LOCK, {"lock_id": _LOCK_ID})
        missing = missing_migrations(lock, more)
        if missing:
            if is_worker(lock):
                raise MigrationFailed(f"Migrations are missing, and {WORKER_FOUND}")
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(_CREATE_TABLE)
                _raise_if_index_invalid(connection)
                for name in missing:
                    _apply_one(connection, name, migration_files(more)[name])
        return missing


def _raise_if_index_invalid(connection: Connection) -> None:
    """Refuse to migrate if an index is invalid. CREATE INDEX IF NOT EXISTS in a migration would find the invalid index,
    and would not build a valid one.

    An index is invalid while CREATE INDEX CONCURRENTLY, REINDEX CONCURRENTLY or DROP INDEX CONCURRENTLY runs. If the
    command fails, the index may stay invalid. An operator executes these commands; a migration cannot, because they are
    not allowed in a transaction.

    :raises MigrationFailed: if there is an invalid index.
    """
    invalid = [name for (name,) in connection.execute(_INVALID_INDEXES)]
    if invalid:
        raise MigrationFailed(
            f"The index {invalid[0]} is invalid: CREATE, REINDEX or DROP INDEX CONCURRENTLY has failed, or goes on."
            f""" Nothing is applied. Wait for it, or DROP INDEX "{invalid[0]}", and build it again if needed."""
        )


def _apply_one(connection: Connection, name: str, path: Path) -> None:
    """Apply a migration in a transaction. If a statement does not get its lock, because another transaction holds it,
    roll back, pause, and try the whole migration again.

    :raises MigrationFailed: if a statement fails, or if none of :data:`LOCK_ATTEMPTS` attempts gets all locks.
    """
    # On a Citus cluster a statement may wait for a lock on a worker. The lock_timeout that the migration file sets is
    # not in force there, so the statement_timeout of the file ends the wait. Then the error is QueryCanceled and not
    # LockNotAvailable, so the migration fails without another attempt.
    for attempt in range(1, LOCK_ATTEMPTS + 1):
        where = "BEGIN"
        try:
            with connection.transaction():
                for line, statement in statements(path.read_text("utf-8")):
                    where = f"line {line} ({' '.join(statement.split())[:80]})"
                    connection.execute(statement.encode())  # as bytes: psycopg's types admit only literal strings
                where = "INSERT INTO migration"
                connection.execute(_NOTE, {"id": name})
                where = "COMMIT"
            return
        except (LockNotAvailable, DeadlockDetected):  # deadlock: the migration and a writer wait for each other
            _log.warning("Migration %s, %s: no lock in attempt %d of %d.", name, where, attempt, LOCK_ATTEMPTS)
            if attempt == LOCK_ATTEMPTS:
                raise MigrationFailed(
                    f"Migration {name}, {where}: another transaction held the lock in all of"
                    f" {LOCK_ATTEMPTS} attempts. Nothing of this migration is applied. End the transaction (a dump"
                    " is one) and run 'sample-resource db upgrade' again."
                ) from None
            time.sleep(_PAUSE_S)
        except psycopg.Error as error:
            applied = "Nothing of this migration is applied; those before it are."
            if where == "COMMIT":
                applied = "'sample-resource db status' says whether this migration is applied; those before it are."
            raise MigrationFailed(f"Migration {name}, {where}: {str(error).strip()}\n{applied}") from error


def statements(text: str) -> Generator[tuple[int, str]]:
    """Yield the statements of a migration file, each with the number of its first line.

    A statement ends at a line that ends with a semicolon, has no ``--`` and is not inside ``$$`` quotes. So no line
    inside a string in single quotes may end with a semicolon: the statement would be cut there, PostgreSQL would refuse
    its first part, and nothing of the migration would be applied.
    """
    first, lines = 0, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        if not lines and (not line.strip() or line.startswith("--")):
            continue
        first = first if lines else number
        lines.append(line)
        whole = "\n".join(lines)
        if line.rstrip().endswith(";") and "--" not in line and whole.count("$$") % 2 == 0:
            yield first, whole
            lines = []
    if lines:
        yield first, "\n".join(lines)


def _conninfo(url: str) -> str:
    """The connection string without time limits and without load balancing. So psycopg tries the hosts of the URL in
    their order, and uses the first one that answers. With Citus, the URL has to name the coordinator first, because
    migrations are applied only there."""
    return make_conninfo(conninfo_without_timeouts(url), load_balance_hosts="disable")


WORKER_FOUND = "the server is a worker of a Citus cluster. Name the coordinator first in DATABASE_URL; it may be down."
"""The end of the message that refuses a worker, because its tables are shards that the coordinator creates."""


def is_worker(connection: Connection) -> bool:
    """Whether the server is a worker of a Citus cluster. Migrations and the distribution of the tables are refused on a
    worker, because they have to run on the coordinator.

    :param connection: may be in a transaction. If Citus and its table are missing, this does not abort the transaction,
        because the query then runs in a savepoint.
    """
    try:
        with connection.transaction():
            return connection.execute(_IS_WORKER).fetchone() == (True,)
    except UndefinedTable:  # without Citus
        return False


def raise_if_unsupported(server_version: int, encoding: str) -> None:
    """Check that the version of the server and the encoding of the database are supported.

    :param server_version: as libpq returns it: 150018 is 15.18.
    :param encoding: the encoding of the database, as PostgreSQL names it.
    :raises MigrationFailed: if the server is older than :data:`OLDEST_SERVER`, or the encoding is not UTF8.
    """
    major = server_version // 10_000
    if major < OLDEST_SERVER:
        raise MigrationFailed(f"The database is PostgreSQL {major}; {OLDEST_SERVER} or newer is needed.")
    if encoding != "UTF8":
        raise MigrationFailed(
            f"The database has the encoding {encoding}; UTF8 is needed. Make it by: "
            "CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0."
        )
