"""The program that :func:`app.serving.processes.spawn` runs first in each child process.

It changes the user, asks the kernel for a signal when the parent dies, and executes the wanted command. ``preexec_fn``
would do this between fork and exec, which is unsafe in a process with threads. The request for the signal has to follow
the change of user, which cancels it. The program imports next to nothing, since a start waits for it twice.
"""

import os
import sys
from ctypes import CDLL

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Execute a command: ``PARENT UID GID SIGNAL COMMAND ARGUMENT...``, with -1 for the user that there is."""
    parent, uid, gid, number = (int(text) for text in sys.argv[1:5])
    command = sys.argv[5:]
    libc = CDLL(None, use_errno=True) if sys.platform == "linux" else None
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if libc is not None:
        libc.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the parent is gone already")
    os.execv(command[0], command)  # noqa: S606 -- the command that spawn() was given


if __name__ == "__main__":
    main()
