"""The SQL files in ``migrations/``, which make the schema. :mod:`app.database.migrate` applies them.

The wheel has the folder inside of ``app``, the checkout beside it.
"""

from functools import cache
from pathlib import Path


class UnsupportedServer(Exception):
    """The database cannot be migrated: its server or its schema is too old, or it is a worker of a Citus cluster."""


_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "migrations"

FOLDER = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.with_name("migrations")


@cache
def migration_ids() -> frozenset[str]:
    """The migrations that this version of the service needs.

    A database may have more: those of a newer version do not break this one.
    """
    suffix, rollback = ".sql", ".rollback.sql"
    return frozenset(
        path.name.removesuffix(suffix) for path in FOLDER.glob(f"*{suffix}") if not path.name.endswith(rollback)
    )
