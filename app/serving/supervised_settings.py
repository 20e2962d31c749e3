"""gunicorn's settings under the supervisor: the master prepares the database before it starts its workers."""

from typing import Any

from app.serving import gunicorn_settings
from app.serving.gunicorn_settings import *  # noqa: F403 -- gunicorn reads the names of this module


def when_ready(server: Any) -> None:
    """Prepare the database, and then the master for requests (gunicorn's hook). Unlike gunicorn without
    ``serve``, it does not fail readiness before it stops.

    gunicorn listens already, so that the demo client, whose secret is printed once, is not made for a service that does
    not start because its port is in use.
    """
    gunicorn_settings.prepare_database()
    gunicorn_settings.begin_to_serve(server)
