"""gunicorn's settings under the supervisor: the master waits, with the application loaded, until it may listen.

Meanwhile the supervisor prepares the database. The sign is a byte on standard input; its end without a byte means that
the supervisor is gone.
"""

import gc
import os
import sys
from typing import Any

from app.serving import gunicorn_settings
from app.serving.gunicorn_settings import *  # noqa: F403 -- gunicorn reads the names of this module

# Until when_ready: nothing that is loaded is garbage, and to look for some takes a tenth of the time to load.
gc.disable()


def on_starting(server: Any) -> None:
    """Wait, and go on as without the supervisor, which has used the signing key by then and needs no check of it."""
    if not os.read(sys.stdin.fileno(), 1):
        sys.exit("the supervisor is gone")
    gunicorn_settings.prepare_to_listen(server)


def when_ready(server: Any) -> None:
    """As without the supervisor, but a stop begins at once; from here on there is garbage to collect."""
    gunicorn_settings.begin_to_serve(server)
    gc.enable()
