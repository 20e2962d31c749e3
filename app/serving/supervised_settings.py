"""gunicorn's settings under the supervisor: the master prepares the database before it listens."""

import os
import sys
from contextlib import suppress
from typing import Any

from app.serving import gunicorn_settings
from app.serving.gunicorn_process import PREPARED
from app.serving.gunicorn_settings import *  # noqa: F403 -- gunicorn reads the names of this module


def on_starting(server: Any) -> None:
    """Check the settings, and prepare the database (gunicorn's hook). If that fails, the start ends.

    The supervisor has found the ports free, so the demo client, whose secret is printed once, is not made for a service
    that does not start because its port is in use. A gunicorn that is started again skips the preparation: the database
    is prepared, and may be away now.
    """
    gunicorn_settings.on_starting(server)
    if PREPARED in os.environ:
        return
    # Not imported above, where they would be sorted before gunicorn_settings, which patches modules that they import.
    from psycopg import Error

    from app.config import Settings
    from app.database.migrate import MigrationFailed, UnsupportedServer
    from app.extension import settled
    from app.identity.signing_keys import KeyUnreadable
    from app.serving.preparation import prepare

    settings = settled(Settings.from_environment())
    try:
        server.banner = prepare(settings.database_url or "", settings)
    except Error as error:
        setting = "DATABASE_URL: " if error.sqlstate is None else ""  # without SQLSTATE the connection has failed
        sys.exit(f"error: {setting}{' '.join(str(error).split())}")
    except (MigrationFailed, UnsupportedServer, KeyUnreadable) as error:
        sys.exit(f"error: {error}")


def when_ready(server: Any) -> None:
    """Print the banner, and let the workers start (gunicorn's hook). Under ``serve`` readiness does not fail before a
    stop, as it does in gunicorn alone."""
    banner = getattr(server, "banner", None)
    if banner is not None:
        with suppress(OSError):  # the terminal may be closed
            print(banner, flush=True)  # noqa: T201 -- the output of serve
    gunicorn_settings.begin_to_serve(server)
