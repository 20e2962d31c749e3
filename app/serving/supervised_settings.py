"""gunicorn's settings under the supervisor: the master prepares the database before it starts its workers."""

import os
import signal
import sys
from contextlib import suppress
from typing import Any

from app.serving import gunicorn_settings
from app.serving.gunicorn_process import PREPARED
from app.serving.gunicorn_settings import *  # noqa: F403 -- gunicorn reads the names of this module


def when_ready(server: Any) -> None:
    """Prepare the database, and then the master for requests (gunicorn's hook). Unlike gunicorn without ``serve``, it
    does not fail readiness before it stops.

    gunicorn listens already, so that the demo client, whose secret is printed once, is not made for a service that does
    not start because its port is in use. A gunicorn that is started again finds the database prepared, or away.
    """
    if PREPARED not in os.environ:
        # gunicorn's own handlers only note a signal, and a statement may wait for minutes.
        handlers = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGQUIT)}
        _prepare_database()
        for number, handler in handlers.items():
            signal.signal(number, handler)
    gunicorn_settings.begin_to_serve(server)


def _prepare_database() -> None:
    """Prepare the database of ``serve``, and print how to try the service. If that fails, the start ends."""
    # Imported here, because gunicorn_settings has to patch before other modules are imported.
    import click
    from psycopg import Error, OperationalError

    from app.config import Settings
    from app.database.migrate import MigrationFailed, UnsupportedServer
    from app.extension import settled
    from app.identity.signing_keys import KeyUnreadable
    from app.serving.preparation import prepare

    settings = settled(Settings.from_environment())
    try:
        text = prepare(settings.database_url or "", settings)
    except OperationalError as error:
        sys.exit(f"error: DATABASE_URL: {' '.join(str(error).split())}")
    except (Error, MigrationFailed, UnsupportedServer, KeyUnreadable) as error:
        sys.exit(f"error: {str(error).strip()}")
    with suppress(OSError):  # the terminal may be closed
        click.echo(text)
