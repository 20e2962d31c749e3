"""gunicorn's settings under the supervisor: the master applies the migrations before it listens, and prepares the
database before it starts its workers."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from app.serving import gunicorn_settings
from app.serving.gunicorn_process import PREPARED
from app.serving.gunicorn_settings import *  # noqa: F403 -- gunicorn reads the names of this module

# Other modules are imported in functions. At the top most of them would be sorted before gunicorn_settings, which
# patches the modules that they import.


def on_starting(server: Any) -> None:
    """Check gunicorn's number of workers, then apply the migrations (gunicorn's hook). If the check or a migration
    fails, gunicorn's start ends. Migrations may wait for locks for minutes.

    After a gunicorn has answered a request, the supervisor starts each later one with the variable :data:`PREPARED`.
    Such a start skips the migrations here and the preparation in :func:`when_ready`: both are done, and the database
    may be down now.
    """
    gunicorn_settings.on_starting(server)
    if PREPARED in os.environ:
        return
    from app.database import migrate
    from app.extension import package_of

    settings = gunicorn_settings.settings
    with _errors_end_the_start():
        migrate.upgrade(settings.database_url or "", package_of(settings).migrations)  # the supervisor has set the URL


def when_ready(server: Any) -> None:
    """Prepare the database, print the banner, and prepare this process for the fork of the workers (gunicorn's hook).
    The first two steps are skipped if an earlier gunicorn has answered a request: they are done (see
    :func:`on_starting`).

    The preparation may create the demo client, whose secret only this banner shows. gunicorn calls this hook when it
    listens. It calls :func:`on_starting` before that. If the database were prepared there and the port was in use, the
    start would fail before the banner, and the secret would be lost.
    """
    if PREPARED not in os.environ:
        from app.serving.preparation import prepare

        settings = gunicorn_settings.settings
        with _errors_end_the_start():
            banner = prepare(settings.database_url or "", settings)
        with suppress(OSError):  # the terminal may be closed
            print(banner, flush=True)  # noqa: T201 -- the output of serve
    # gunicorn_settings.when_ready is not called, because it would also make a stop wait for some seconds, in which load
    # balancers notice it. ``serve`` runs on one machine alone, and needs no such delay.
    gunicorn_settings.prepare_to_fork(server)


@contextmanager
def _errors_end_the_start() -> Generator[None]:
    """If the block raises an error of the database or of a migration, end gunicorn's start with its message."""
    from psycopg import Error

    from app.database.migrate import MigrationFailed

    try:
        yield
    except Error as error:
        # Without SQLSTATE the error is about the connection. The supervisor sets DATABASE_URL for the embedded database
        # too, so it is not known here which one this is.
        which = "the database of DATABASE_URL, or the embedded one: " if error.sqlstate is None else ""
        sys.exit(f"error: {which}{' '.join(str(error).split())}")
    except MigrationFailed as error:
        sys.exit(f"error: {error}")
