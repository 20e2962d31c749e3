"""Which migrations a database has. :mod:`app.database.migrate` applies those that are missing."""

from typing import LiteralString

from psycopg.errors import UndefinedTable

from app.database.connection import Connection
from app.database.migration_files import migration_ids

_APPLIED: LiteralString = "SELECT migration_id FROM _yoyo_migration"


def applied_migrations(connection: Connection) -> frozenset[str]:
    """The migrations that were applied, also those of a newer version of the service.

    :param connection: a transaction that it has goes on if the table is missing.
    """
    try:
        with connection.transaction():
            return frozenset(name for (name,) in connection.execute(_APPLIED))
    except UndefinedTable:
        return frozenset()


def missing_migrations(connection: Connection) -> frozenset[str]:
    """The migrations that this version of the service needs and the database lacks."""
    return migration_ids() - applied_migrations(connection)
