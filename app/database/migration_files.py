"""The SQL files in ``migrations/``, which make the schema. :mod:`app.database.migrate` applies them."""

from functools import cache
from pathlib import Path


class UnsupportedServer(Exception):
    """The database server is older than :data:`OLDEST_SERVER`."""


FOLDER = Path(__file__).resolve().parents[2] / "migrations"


@cache
def migration_ids() -> frozenset[str]:
    """The migrations that this version of the service needs.

    A database may have more: those of a newer version do not break this one.
    """
    suffix, rollback = ".sql", ".rollback.sql"
    return frozenset(
        path.name.removesuffix(suffix) for path in FOLDER.glob(f"*{suffix}") if not path.name.endswith(rollback)
    )
