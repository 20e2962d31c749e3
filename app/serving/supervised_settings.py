"""gunicorn's settings under the supervisor: the master loads the application, then waits until it may listen.

In this time the supervisor prepares the database. Then it sends a byte to the master's standard input. The end of
standard input without a byte means that the supervisor is gone.
"""

import gc
import os
import sys
from typing import Any

from app.serving import gunicorn_settings
from app.serving.gunicorn_settings import *  # noqa: F403 -- gunicorn reads the names of this module

# Off until when_ready: loading leaves almost no garbage, and looking for it takes a tenth of the loading time.
gc.disable()


def on_starting(server: Any) -> None:
    """Wait for the supervisor, then check the settings and the ports (gunicorn's hook).

    The signing key is not checked, because the supervisor has used it before.
    """
    if not os.read(sys.stdin.fileno(), 1):
        sys.exit("the supervisor is gone")
    gunicorn_settings.prepare_to_listen(server)


def when_ready(server: Any) -> None:
    """Prepare the master for requests, and switch garbage collection on (gunicorn's hook). A stop is not delayed."""
    gunicorn_settings.begin_to_serve(server)
    gc.enable()
