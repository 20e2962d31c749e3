"""gunicorn's settings for the small application under the supervisor, in place of ``supervised_settings``."""

import os
import sys
from typing import Any

import psycopg

from app.serving import gunicorn_settings
from app.serving.gunicorn_settings import *  # noqa: F403 -- gunicorn reads the names of this module


def when_ready(server: Any) -> None:
    """Insert a row for each supervisor, so that tests can count the starts, and print the URL of the database."""
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (supervisor int PRIMARY KEY)")
        connection.execute("INSERT INTO kept VALUES (%s) ON CONFLICT DO NOTHING", (os.getppid(),))
    sys.stdout.write(f"ready {url}\n")
    sys.stdout.flush()
    gunicorn_settings.prepare_to_fork(server)
