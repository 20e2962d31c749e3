"""Starts child processes that end with their parent, and finds and ends processes that a killed parent left."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from app.serving import EmbeddedError

Account = tuple[int, int]
"""The user id and the group id of an account."""

CANNOT_START = 126
"""The exit code of :func:`run_as` for a command that cannot be started, or takes too long."""

PROC = Path("/proc")
"""The folder in which Linux shows processes. macOS has no such folder, and ``ps`` is used there."""

_PACKAGE = Path(__file__).resolve().parents[1]

ROOT = _PACKAGE.parent
"""The folder that contains the package ``app``: a checkout, or the folder of installed packages."""


def spawn(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    source: int = subprocess.DEVNULL,
    output: int | None = None,
    user: Account | None = None,
    when_parent_dies: signal.Signals = signal.SIGTERM,
) -> subprocess.Popen[bytes]:
    """Start a program in a separate session, so that Ctrl-C in a terminal does not reach it.

    :param folder: its working directory.
    :param source: the file descriptor of its standard input; by default it has none.
    :param output: the file descriptor of its standard output and error; None: those of this process.
    :param user: the user and group id as which it runs; None: those of this process.
    :param when_parent_dies: the signal that Linux sends to the program when the thread that called this function ends.
        No signal is sent on other systems, without ``setpriv`` of util-linux 2.33 or newer, or if the thread ends in
        the few milliseconds before setpriv has requested the signal.
    """
    uid, gid = user or (None, None)
    # A change of user cancels the request for the signal, so setpriv requests it after the change.
    program = setpriv()
    prefix = [] if program is None else [program, "--pdeathsig", when_parent_dies.name, "--"]
    return subprocess.Popen(  # noqa: S603 -- the callers' own commands
        [*prefix, *command],
        cwd=folder,
        env=dict(environment),
        stdin=source,
        stdout=output,
        stderr=output,
        start_new_session=True,
        user=uid,
        group=gid,
        extra_groups=None if uid is None else [],
    )


@cache
def setpriv() -> str | None:
    """The path of util-linux's setpriv, which can request a signal for the parent's death; None if it is missing, too
    old, or that of busybox."""
    found = shutil.which("setpriv")
    return found if found and "--pdeathsig" in run_as(None, [found, "--help"]).stdout else None


def command_with_own_app(module: str, *arguments: str) -> list[str]:
    """The command that runs a module, such as gunicorn, so that its ``import app`` finds this package and not another
    ``app``.

    It runs the module by the service's launcher (``app/launcher``), which imports this ``app`` first. ``-P`` keeps the
    launcher's own folder out of sys.path.
    """
    # In a checkout the launcher is inside the package, in an installation next to it.
    folder = _PACKAGE / "launcher"
    launcher = (folder if folder.is_dir() else _PACKAGE.with_name("sample_resource")) / "__init__.py"
    return [sys.executable, "-P", str(launcher), module, *arguments]


def postgres_working_in(folder: Path, user: Account | None) -> list[int] | None:
    """The ids of the PostgreSQL processes whose working directory is a folder, as far as a user may inspect them; None
    on systems without /proc.

    The name of the program is compared, too, because a shell may also be in the folder. The search runs as that user,
    because root in a container may not be allowed to inspect processes of others.

    :param user: None: the account of this process.
    :raises EmbeddedError: if the search fails, because then it is unknown whether processes run.
    """
    if not (PROC / "self/cwd").exists():  # the /proc of other systems has no cwd
        return None
    # The link of a running program whose file was replaced ends with " (deleted)".
    script = """
        for process in /proc/[0-9]*; do
            [ "$process/cwd" -ef "$0" ] || continue
            case "$(readlink "$process/exe")" in
                */postgres | */initdb | *"/postgres (deleted)" | *"/initdb (deleted)") echo "${process#/proc/}" ;;
            esac
        done
    """
    found = run_as(user, ["/bin/sh", "-c", script, str(folder)])
    if found.returncode != 0:
        raise EmbeddedError(
            f"Nobody can tell whether a PostgreSQL still runs in {folder}, since processes cannot be listed:"
            f" {found.stderr.strip() or f'exit code {found.returncode}'}"
        )
    return [int(line) for line in found.stdout.split()]


def run_as(
    user: Account | None, command: Sequence[str], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a short command, and wait for its end.

    If the command cannot be started or takes more than a minute, the result has the exit code :data:`CANNOT_START` and
    the reason in ``stderr``.

    :param user: the user and group id as which it runs; None: those of this process.
    :param environment: its whole environment; by default, or if it is empty, only a ``PATH`` of the system's programs.
    """
    uid, gid = user or (None, None)
    try:
        return subprocess.run(  # noqa: S603 -- the callers' own commands
            command,
            cwd="/",
            env=dict(environment or {"PATH": os.defpath}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            user=uid,
            group=gid,
            extra_groups=None if uid is None else [],
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        # str() of the second would repeat the whole command, which may be a script.
        reason = str(error) if isinstance(error, OSError) else "no answer within a minute"
        return subprocess.CompletedProcess(command, CANNOT_START, "", reason)


def send_to_group(group: int, number: int) -> bool:
    """Send a signal to a process group, and return whether the group has processes. Signal 0 only asks for that."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # PermissionError: on macOS, if all are zombies
        return False
    return True


def end_group(group: int, *, patience_s: float) -> None:
    """Send SIGTERM to a process group, and wait until no process is left in it. If one is left after ``patience_s``,
    send SIGKILL, and return without another wait.

    If processes of the group are children of this process, they are reaped here. Nobody can read their exit codes
    afterwards.
    """
    send_to_group(group, signal.SIGTERM)
    deadline = time.monotonic() + patience_s
    while send_to_group(group, 0):
        # A dead process stays in the group until its parent reaps it. So this process reaps its own children here. If
        # it is process 1 of a container, orphans of the group are its children, too.
        with suppress(ChildProcessError):  # no process of the group is a child of this one
            while os.waitpid(-group, os.WNOHANG)[0]:
                pass
        if time.monotonic() > deadline:
            send_to_group(group, signal.SIGKILL)
            return
        time.sleep(0.02)


def reap_orphans(children: Sequence[subprocess.Popen[bytes]]) -> None:
    """As process 1 of a container, reap the dead processes that it has inherited; in any other process, do nothing.

    :param children: processes that this one has started. They are not reaped, because their exit codes are still to be
        read.
    """
    if os.getpid() != 1 or not hasattr(os, "waitid"):
        return
    own = {child.pid for child in children}
    while True:
        try:
            dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        # With WNOWAIT, waitid reports a dead process without reaping it. So it would report a dead one of ``children``
        # again and again. Therefore the loop ends there, and a later call reaps the remaining orphans.
        if dead is None or dead.si_pid in own:
            return
        os.waitpid(dead.si_pid, os.WNOHANG)
