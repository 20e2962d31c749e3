"""The process behind ``sample-resource serve``: it starts PostgreSQL unless DATABASE_URL names another, then gunicorn.

The supervisor restarts a process that dies, and at the end stops gunicorn before PostgreSQL. It does nothing else, so
that little can make it fail. If it is killed, Linux signals its children to stop, as ``setpriv`` has requested. The
next start stops any PostgreSQL that still runs, and waits until the port of gunicorn is free. Without ``setpriv``, as
on other systems, a gunicorn that outlives the supervisor has to be stopped by hand; the next start fails and names its
port.
"""

import contextlib
import logging
import os
import select
import signal
import time
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from types import FrameType

import click

from app.config import Settings
from app.serving import EmbeddedError, ServeError, processes
from app.serving.embedded import EmbeddedPostgres
from app.serving.gunicorn_process import GunicornProcess

logger = logging.getLogger(__name__)

_CONFIGURATION = Path(__file__).with_name("supervised_settings.py")

_PAUSES_S = (0.0, 0.5, 1.0, 2.0, 4.0)
"""The least times between a restart of a child and the restart before it: for its first restart, its second, and so on.
The last time is also that of all further restarts."""

_STABLE_S = 20.0
"""After this time without a restart, the next restart counts as the first."""


class _StopRequested(BaseException):
    """The exception that a signal to stop raises while PostgreSQL is being started, or gunicorn's port awaited.

    It is no Exception, so that no ``except Exception`` catches it.
    """


def serve(settings: Settings, application: str = "app:create_app()", configuration: Path = _CONFIGURATION) -> int:
    """Run the service until a signal stops it.

    :param application: the WSGI application, as ``module:name`` or ``module:factory()``.
    :param configuration: the file with gunicorn's settings.
    :return: the exit code for the process: 0 after a signal to stop, 1 if the service could not be started or gunicorn
        exited with an error before it had ever answered.
    """
    return _Supervisor(settings, application, configuration).run()


class _Supervisor:
    def __init__(self, settings: Settings, application: str, configuration: Path) -> None:
        self._settings = settings
        self._gunicorn = GunicornProcess(settings, application, configuration)
        self._postgres: EmbeddedPostgres | None = None
        if settings.database_url is None:
            # The connections of all workers, and 20 for people and maintenance, but at least PostgreSQL's default.
            # A process has one connection more than those for requests: the one that looks tokens up.
            connections = max(100, settings.workers * (settings.connections + 1) + 20)
            self._postgres = EmbeddedPostgres(settings.data_dir, {"max_connections": str(connections)})
        self._signals = 0
        """The number of signals to stop so far. The second ends gunicorn without waiting for requests in flight."""
        self._may_raise = False
        """Whether the next signal to stop raises :class:`_StopRequested`."""

    def run(self) -> int:
        """Start PostgreSQL and gunicorn, watch them until a signal to stop, and stop them. Return the exit code."""
        wakeup = self._handle_signals()
        try:
            url = self._settings.database_url or ""
            with self._interruptible():
                if self._postgres is not None:
                    url = self._postgres.start()
                self._gunicorn.wait_for_port()
            # Outside of _interruptible: an exception after gunicorn's fork, but before start() has stored the process,
            # would leave a gunicorn that stop() does not know. A signal here is counted, and _watch returns at once.
            self._gunicorn.start(url)
            return self._watch(url, wakeup)
        except _StopRequested:
            return 0
        except (EmbeddedError, ServeError, OSError) as error:
            with contextlib.suppress(OSError):  # the terminal may be closed
                click.echo(f"error: {error}", err=True)
            return 1
        finally:
            # Gunicorn first, because requests in flight need the database.
            self._gunicorn.stop(hurry=lambda: self._signals > 1)
            if self._postgres is not None:
                self._postgres.stop()

    def _watch(self, url: str, wakeup: int) -> int:
        """Restart children that die, until a signal to stop arrives. Return the exit code for this process: 0, or 1 if
        gunicorn exits with an error before it has ever answered.

        :param wakeup: the descriptor that :meth:`_handle_signals` has returned.
        """
        gunicorn_restarts, postgres_restarts = _Restarts(), _Restarts()
        has_answered = False
        while not self._signals:
            children = (self._gunicorn.process, None if self._postgres is None else self._postgres.process)
            # As process 1 of a container, remove dead orphans, but not these children: their exit codes are read below.
            processes.reap_orphans([child for child in children if child is not None])
            if self._postgres is not None and self._postgres.pid is None and postgres_restarts.due():
                with self._interruptible():
                    self._restart("PostgreSQL", self._postgres.start)  # its URL stays the same
            exit_code = self._gunicorn.exit_code
            if exit_code is None:
                has_answered = has_answered or self._gunicorn.answers()
            elif exit_code > 0 and not has_answered:  # if a signal has ended it, the exit code is negative
                return 1  # gunicorn has printed the reason
            elif gunicorn_restarts.due():  # also after exit code 0: somebody has stopped it
                # A gunicorn that has answered has migrated and prepared the database. The next one skips both.
                self._restart("gunicorn", partial(self._gunicorn.start, url, is_prepared=has_answered))
            # Wait until a child ends or a signal to stop arrives: either makes the descriptor readable. Nothing does so
            # when gunicorn begins to answer, or when the pause before a restart is over. So the loop repeats after
            # 0.25 s at the latest.
            select.select([wakeup], [], [], 0.25)
            with contextlib.suppress(BlockingIOError):
                os.read(wakeup, 4096)
        return 0

    def _restart(self, name: str, start: Callable[[], object]) -> None:
        """Start a child again. A failure is only logged: the attempt counts as a restart, and :class:`_Restarts` tells
        when the next is due."""
        logger.error("%s died; it is started again.", name)
        try:
            start()
        except (EmbeddedError, OSError) as error:
            logger.error("%s did not start: %s", name, error)

    @contextlib.contextmanager
    def _interruptible(self) -> Generator[None]:
        """Make a signal to stop raise :class:`_StopRequested` during the block, or at its beginning if one has arrived
        already. At other times signals are only counted."""
        self._may_raise = True
        try:
            if self._signals:
                raise _StopRequested
            yield
        finally:
            self._may_raise = False

    def _handle_signals(self) -> int:
        """Install the handlers that count signals to stop. Return a descriptor that becomes readable at each signal to
        stop, and at each SIGCHLD."""
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        handled = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup has set it to be ignored
            handled.append(signal.SIGHUP)
        for number in handled:
            signal.signal(number, self._on_signal)
        # This handler does nothing. SIGCHLD needs one, because Python writes to the wakeup descriptor only for signals
        # that have a handler in Python.
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        return reader

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        """Count a signal to stop. The first signal makes the supervisor stop; the second ends gunicorn without waiting
        for requests in flight.

        Within :meth:`_interruptible`, the first signal also raises :class:`_StopRequested`. A later signal does not
        raise it again, because the exception could interrupt the stop.
        """
        # A closing terminal may send SIGHUP twice. A SIGHUP after another signal is not counted: it must not act as the
        # second signal.
        if number != signal.SIGHUP or not self._signals:
            self._signals += 1
        if self._may_raise:
            self._may_raise = False
            raise _StopRequested


class _Restarts:
    """Decides when a dead child may be started again: at once, then after growing pauses if it keeps dying."""

    def __init__(self) -> None:
        self._count = 0
        self._last = float("-inf")  # no restart yet

    def due(self) -> bool:
        """Whether the child may be started now. If it may, the call counts as a restart."""
        now = time.monotonic()
        if now - self._last >= _STABLE_S:
            self._count = 0
        if now - self._last < _PAUSES_S[min(self._count, len(_PAUSES_S) - 1)]:
            return False
        self._count += 1
        self._last = now
        return True
