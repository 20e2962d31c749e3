"""gevent's patch of the standard library, with the metadata of the installed packages read once.

gevent asks for its plugins before and after each module that it patches, 25 times, and each time the standard library
reads the metadata of every package. That took up to a fifth of the time to load the service.
"""

import importlib.metadata
from typing import Any

from gevent import monkey


def patch_all() -> None:
    """Patch all but what gunicorn's master needs as it is: it forks, handles signals, and waits for them in a queue.

    gevent's plugins are called as ever.
    """
    module: Any = importlib.metadata
    ask = module.entry_points
    # By its documentation, entry_points(group=...) is the same as entry_points().select(group=...).
    module.entry_points = ask().select
    try:
        monkey.patch_all(os=False, signal=False, subprocess=False, queue=False)
    finally:
        module.entry_points = ask
