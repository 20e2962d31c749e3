"""The process behind ``sample-resource serve``: it starts gunicorn, and PostgreSQL unless DATABASE_URL names another.

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
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

import click

from app.config import Settings
from app.serving import EmbeddedError, ServeError, ports, processes
from app.serving.embedded import EmbeddedPostgres
from app.serving.gunicorn_process import GunicornProcess

logger = logging.getLogger(__name__)

_PAUSES_S = (0.0, 0.5, 1.0, 2.0, 4.0)
"""The pauses before the first, second, ... restart of a child that keeps dying. The last one repeats."""

_STABLE_S = 20.0
"""After this time without a restart, the next restart counts as the first."""


class _StopRequested(BaseException):
    """The exception that a signal to stop raises while a child is being started.

    It is no Exception, so that no ``except Exception`` catches it.
    """


def serve(settings: Settings, prepare: Callable[[str], str], application: str = "app:create_app()") -> int:
    """Run the service until a signal stops it.

    :param prepare: called with the connection string of the database before gunicorn listens, to migrate and to make
        keys. It returns a text, which is printed when the service answers.
    :param application: the WSGI application, as ``module:name`` or ``module:factory()``.
    :return: the exit code for the process: 0 after a signal, 1 if the service could not be started.
    """
    return _Supervisor(settings, prepare, application).run()


class _Supervisor:
    def __init__(self, settings: Settings, prepare: Callable[[str], str], application: str) -> None:
        self._settings = settings
        self._prepare = prepare
        self._gunicorn = GunicornProcess(settings, application)
        self._postgres: EmbeddedPostgres | None = None
        if settings.database_url is None:
            # The connections of all workers, and 20 for people and maintenance, but at least PostgreSQL's default.
            connections = max(100, settings.workers * settings.connections_at_most + 20)
            self._postgres = EmbeddedPostgres(settings.data_dir, {"max_connections": str(connections)})
        self._signals = 0
        """The number of signals to stop so far. The second ends gunicorn without its requests in flight."""
        self._may_raise = False
        """Whether the next signal to stop raises :class:`_StopRequested`, because a child is being started."""

    def run(self) -> int:
        with self._signal_handlers() as wakeup:
            try:
                with self._interruptible():
                    self._start()
                self._watch(wakeup)
            except _StopRequested:
                pass
            except (EmbeddedError, ServeError) as error:
                _say(f"error: {error}", to_stderr=True)
                return 1
            finally:
                self._stop()
            return 0

    def _start(self) -> None:
        """Start PostgreSQL and gunicorn, and print the text of ``prepare``. gunicorn loads while PostgreSQL starts."""
        if self._postgres is None:
            url = self._settings.database_url or ""
            self._gunicorn.load(url)
        else:
            url = self._postgres.start(self._gunicorn.load)
        ports.wait_until_free(
            self._settings.listen_host, self._settings.port, "BIND or PORT, here and for sample-resource token,"
        )
        welcome = self._prepare(url)
        self._gunicorn.listen()
        self._gunicorn.wait_for_answer()
        _say(welcome)

    def _watch(self, wakeup: int) -> None:
        """Restart children that die, until a signal to stop arrives."""
        gunicorn_restarts, postgres_restarts = _Restarts(), _Restarts()
        gunicorn_loads = False
        while not self._signals:
            children = [child for child in (self._gunicorn.process, self._postgres_process()) if child is not None]
            processes.reap_orphans(children)
            if self._postgres is not None and self._postgres.pid is None and postgres_restarts.due():
                has_started = self._restart("PostgreSQL", self._postgres.start)
                if has_started:
                    logger.warning("PostgreSQL runs again.")
            if not self._gunicorn.alive and gunicorn_restarts.due():
                # The loop does not wait for gunicorn's first answer, because PostgreSQL may die in the meantime.
                gunicorn_loads = self._restart("gunicorn", self._gunicorn.restart)
            if gunicorn_loads and self._gunicorn.answers():
                gunicorn_loads = False
                logger.warning("gunicorn runs again.")
            # The end of a child, or any signal, ends this wait at once. It is limited because of the pauses between
            # restarts.
            select.select([wakeup], [], [], 0.25)
            with contextlib.suppress(BlockingIOError):
                os.read(wakeup, 4096)

    def _postgres_process(self) -> subprocess.Popen[bytes] | None:
        return None if self._postgres is None else self._postgres.process

    def _restart(self, name: str, start: Callable[[], object]) -> bool:
        """Start a child again. Return False if it cannot be started, or if a signal to stop has arrived."""
        logger.error("%s died; it is started again.", name)
        try:
            with self._interruptible():
                start()
        except _StopRequested:
            return False
        except (EmbeddedError, OSError) as error:
            logger.error("%s did not start: %s", name, error)
            return False
        return True

    def _stop(self) -> None:
        """Stop gunicorn, then PostgreSQL, because requests in flight need the database."""
        self._gunicorn.stop(hurry=lambda: self._signals > 1)
        if self._postgres is not None:
            self._postgres.stop()

    @contextmanager
    def _interruptible(self) -> Generator[None]:
        """Make a signal to stop raise an exception during the block. At other times signals are only counted."""
        self._may_raise = True
        try:
            if self._signals:
                raise _StopRequested
            yield
        finally:
            self._may_raise = False

    @contextmanager
    def _signal_handlers(self) -> Generator[int]:
        """Count signals to stop during the block, and yield a descriptor that becomes readable with every signal."""
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        handled = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup has set it to be ignored
            handled.append(signal.SIGHUP)
        before = {number: signal.signal(number, self._on_signal) for number in handled}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, _ignore)
        wakeup_before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        try:
            yield reader
        finally:
            signal.set_wakeup_fd(wakeup_before)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(reader)
            os.close(writer)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        # A closing terminal may send SIGHUP twice, so the second SIGHUP does not count as a second signal.
        if number != signal.SIGHUP or not self._signals:
            self._signals += 1
        if self._may_raise:
            self._may_raise = False
            raise _StopRequested


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Do nothing. This handler is needed because Python writes to the wakeup descriptor only for handled signals."""


class _Restarts:
    """Decides when a dead child may be started again: at once, then after growing pauses if it keeps dying."""

    def __init__(self) -> None:
        self._count = 0
        self._last = -_STABLE_S

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


def _say(text: str, *, to_stderr: bool = False) -> None:
    """Print a text, if there is one. A closed terminal is no error."""
    if text:
        with contextlib.suppress(OSError):
            click.echo(text, err=to_stderr)
