"""A stop that others notice before it happens: readiness fails first, while requests are answered as before.

gunicorn closes its listeners as soon as it is told to stop. Whoever distributes requests and asks for readiness now and
then would go on sending some to an instance that refuses connections.
"""

import mmap
import os
import signal
from types import FrameType
from typing import Any

NOTICED_WITHIN_S = 5
"""Longer than most balancers need to notice: they ask every second or two, and believe the second or third answer."""

_begun = mmap.mmap(-1, 1)
"""Shared with the workers, which are forked later."""


def has_begun() -> bool:
    """Whether the service has been told to stop."""
    return _begun[0] == 1


def fail_readiness_first(server: Any) -> None:
    """Have gunicorn's master get SIGTERM only when readiness has failed for :data:`NOTICED_WITHIN_S`.

    It gets the signal at once if it is sent a second time, or if another master has taken over the port: then readiness
    is the other's to tell. Workers are told to stop by a reload too, so they could not tell a stop from one.
    """

    def pass_on(_number: int, frame: FrameType | None) -> None:
        server.signal(signal.SIGTERM, frame)

    def begin(number: int, frame: FrameType | None) -> None:
        if os.getpid() != server.pid:
            return  # a worker that has not yet set its own handlers
        if server.reexec_pid or has_begun():
            pass_on(number, frame)
            return
        _begun[0] = 1
        signal.alarm(NOTICED_WITHIN_S)

    signal.signal(signal.SIGALRM, pass_on)
    signal.signal(signal.SIGTERM, begin)
