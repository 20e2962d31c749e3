"""gunicorn's settings under the supervisor: the master waits, with the application loaded, until it may listen.

Meanwhile the supervisor prepares the database. The sign is a byte on standard input; its end without a byte means that
the supervisor is gone.
"""

import os
import sys
from typing import Any

from app.serving import gunicorn_settings
from app.serving.gunicorn_settings import *  # noqa: F403 -- gunicorn reads the names of this module


def on_starting(server: Any) -> None:
    """Wait, and go on as without the supervisor."""
    if not os.read(sys.stdin.fileno(), 1):
        sys.exit("the supervisor is gone")
    gunicorn_settings.on_starting(server)
