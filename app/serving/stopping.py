"""A stop of the service in two steps: readiness fails first, and gunicorn stops some seconds later.

gunicorn closes its listeners as soon as it gets the signal to stop. Without the first step, a load balancer would send
requests to an instance that refuses connections, until its next probe.
"""

import mmap
import os
import signal
from types import FrameType
from typing import Any

NOTICED_WITHIN_S = 5
"""The seconds between the two steps. Most load balancers that probe every second notice sooner: they act on the second
or third failure."""

_begun = mmap.mmap(-1, 1)
"""One byte of memory that the master shares with the workers, which are forked later."""


def has_begun() -> bool:
    """Whether readiness has to fail, because the service will stop soon."""
    return _begun[0] == 1


def fail_readiness_first(server: Any) -> None:
    """Delay gunicorn's handling of SIGTERM in the master until readiness has failed for :data:`NOTICED_WITHIN_S`.

    A second SIGTERM begins gunicorn's stop without a delay. In an upgrade by SIGUSR2, the first SIGTERM to the old
    master already does so: the new master answers readiness, so readiness need not fail.

    The master handles the signal, not the workers: gunicorn also sends SIGTERM to the old workers in a reload (SIGHUP),
    and a reload must not make readiness fail.
    """

    def stop_gunicorn(_number: int, frame: FrameType | None) -> None:
        """Stop gunicorn: give SIGTERM to gunicorn's own handler. SIGALRM calls this function when the delay is over;
        ``begin`` calls it where there is no delay."""
        server.signal(signal.SIGTERM, frame)

    def begin(number: int, frame: FrameType | None) -> None:
        """Handle SIGTERM: make readiness fail, and let SIGALRM begin gunicorn's stop :data:`NOTICED_WITHIN_S` seconds
        later. By then most load balancers have noticed the failure. A second SIGTERM, or one to the old master in an
        upgrade, begins gunicorn's stop without a delay."""
        if os.getpid() != server.pid:
            return  # a worker that has not set its own handlers yet: it must not begin the stop of all
        if server.reexec_pid or has_begun():
            stop_gunicorn(number, frame)
            return
        _begun[0] = 1
        signal.alarm(NOTICED_WITHIN_S)

    signal.signal(signal.SIGALRM, stop_gunicorn)
    signal.signal(signal.SIGTERM, begin)
