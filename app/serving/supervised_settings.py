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
    that does not start because its port is in use. A gunicorn that is started again finds the database prepared, or
    away.
    """
    gunicorn_settings.on_starting(server)
    if PREPARED in os.environ:
        return
    # Imported here, because gunicorn_settings has to patch before other modules are imported.
    from psycopg import Error, OperationalError

    from app.config import Settings
    from app.database.migrate import MigrationFailed, UnsupportedServer
    from app.extension import settled
    from app.identity.signing_keys import KeyUnreadable
    from app.serving.preparation import prepare

    settings = settled(Settings.from_environment())
    try:
        server.how_to_try = prepare(settings.database_url or "", settings)
    except OperationalError as error:
        sys.exit(f"error: DATABASE_URL: {' '.join(str(error).split())}")
    except (Error, MigrationFailed, UnsupportedServer, KeyUnreadable) as error:
        sys.exit(f"error: {str(error).strip()}")


def when_ready(server: Any) -> None:
    """Print how to try the service, and prepare the master for requests (gunicorn's hook). Unlike gunicorn without
    ``serve``, it does not fail readiness before it stops."""
    text = getattr(server, "how_to_try", None)
    if text is not None:
        with suppress(OSError):  # the terminal may be closed
            print(text, flush=True)  # noqa: T201 -- the output of serve
    gunicorn_settings.begin_to_serve(server)
