"""The process tree behind ``sample-resource serve``: PostgreSQL, if it is ours to run, and gunicorn.

The supervisor starts both, restarts whichever dies, and stops them in order. It runs nothing else, so that it has no
reason to die itself; if it is killed all the same, the kernel tells its children, and the next start clears away
what did not hear it.
"""

import contextlib
import http.client
import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import FrameType

import click

import app
from app.config import Settings
from app.serving import processes
from app.serving.embedded import EmbeddedError, EmbeddedPostgres

logger = logging.getLogger(__name__)

REPOSITORY = Path(app.__file__).resolve().parent.parent
"""The folder with ``gunicorn.conf.py`` and ``wsgi.py``."""

_FIRST_ANSWER_S = 60.0
"""Longest wait for gunicorn's first answer while it lives."""

_GRACE_S = 12.0
"""Longest wait for requests in flight: a bit over gunicorn's own ``graceful_timeout``, which cuts them off first."""

_ORPHANS_S = 2.0
"""Longest wait for the workers of a gunicorn that was killed; nobody else takes their port before they are gone."""

_PORT_S = 3.0
"""Longest wait for the port, which a predecessor may be just leaving."""

_PAUSES_S = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Before the first, second, ... restart in a row."""

_STABLE_S = 20.0
"""A child that ran so long begins a new row of restarts."""


class ServeError(Exception):
    """The service cannot be started; the message is for the person who tried."""


class _StopRequested(BaseException):
    """A signal to stop, raised out of a start that is under way.

    Not an Exception, since no handler of errors may take it for one.
    """


def serve(settings: Settings, prepare: Callable[[str], str], application: str = "wsgi:app") -> int:
    """Run the service until a signal stops it.

    :param prepare: called with the database's connection string before anything listens: migrations, keys. What it
        returns is printed once the service answers.
    :param application: what gunicorn serves, as ``module:name`` seen from the repository's folder.
    :return: the exit code for the process: 0 after a signal, 1 if the service could not be started.
    """
    return _Supervisor(settings, prepare, application).run()


class _Supervisor:
    def __init__(self, settings: Settings, prepare: Callable[[str], str], application: str) -> None:
        self._settings = settings
        self._prepare = prepare
        self._gunicorn = _Gunicorn(settings, application)
        self._postgres: EmbeddedPostgres | None = None
        if settings.database_url is None:
            # A connection for each thread of each worker, and some for people and maintenance.
            connections = max(100, settings.workers * settings.connections + 20)
            self._postgres = EmbeddedPostgres(settings.data_dir, {"max_connections": str(connections)})
        self._signals = 0
        self._may_raise = False

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
        settings = self._settings
        if self._postgres is None:
            url = settings.database_url or ""
        else:
            url = self._postgres.start()
            self._gunicorn.record = self._postgres.home / "gunicorn.json"
            self._gunicorn.end_predecessor()
        _wait_for_port(settings)
        welcome = self._prepare(url)
        self._gunicorn.start(url)
        self._gunicorn.wait_for_answer()
        _say(welcome)

    def _watch(self, wakeup: int) -> None:
        """Restart what dies, until a signal to stop."""
        gunicorn_restarts, postgres_restarts = _Restarts(), _Restarts()
        while not self._signals:
            children = [child for child in (self._gunicorn.process, self._postgres_process()) if child is not None]
            processes.reap_orphans(children)
            if self._postgres is not None and self._postgres.pid is None and postgres_restarts.due():
                self._restart("PostgreSQL", self._postgres.start)
            if not self._gunicorn.alive and gunicorn_restarts.due():
                self._restart("gunicorn", self._gunicorn.restart)
            # A child's end and every signal end the wait at once; the limit is for the pauses between restarts.
            select.select([wakeup], [], [], 0.25)
            with contextlib.suppress(BlockingIOError):
                os.read(wakeup, 4096)

    def _postgres_process(self) -> subprocess.Popen[bytes] | None:
        return None if self._postgres is None else self._postgres.process

    def _restart(self, name: str, start: Callable[[], object]) -> None:
        logger.error("%s died; it is started again.", name)
        try:
            with self._interruptible():
                start()
        except _StopRequested:
            return
        except (EmbeddedError, OSError) as error:
            logger.error("%s did not start: %s", name, error)
        else:
            logger.warning("%s runs again.", name)

    def _stop(self) -> None:
        """Gunicorn first, whose requests still need the database."""
        self._gunicorn.stop(hurry=lambda: self._signals > 1)
        if self._postgres is not None:
            self._postgres.stop()

    @contextmanager
    def _interruptible(self) -> Generator[None]:
        """While something is being started, a signal to stop is raised as an exception; else it is only counted."""
        self._may_raise = True
        try:
            if self._signals:
                raise _StopRequested
            yield
        finally:
            self._may_raise = False

    @contextmanager
    def _signal_handlers(self) -> Generator[int]:
        """Count signals to stop, and make every signal readable from a descriptor."""
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        handled = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup sets it
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
        # A terminal that closes may say so twice; that is no hurry.
        if number != signal.SIGHUP or not self._signals:
            self._signals += 1
        if self._may_raise:
            self._may_raise = False
            raise _StopRequested


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Exists so that the end of a child is written to the wakeup descriptor."""


class _Restarts:
    """When a child that died may be started again: at once, then ever later if it keeps dying."""

    def __init__(self) -> None:
        self._count = 0
        self._last = -_STABLE_S

    def due(self) -> bool:
        """Whether now is the time; if so, it counts as a restart."""
        now = time.monotonic()
        if now - self._last >= _STABLE_S:
            self._count = 0
        if now - self._last < _PAUSES_S[min(self._count, len(_PAUSES_S) - 1)]:
            return False
        self._count += 1
        self._last = now
        return True


class _Gunicorn:
    """Gunicorn's master and, in the same process group, its workers."""

    def __init__(self, settings: Settings, application: str) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.record: Path | None = None
        self._settings = settings
        self._application = application
        self._url = ""

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self, url: str) -> None:
        self._url = url
        configuration = str(REPOSITORY / "gunicorn.conf.py")
        self.process = processes.spawn(
            [sys.executable, "-m", "gunicorn", "-c", configuration, self._application],
            environment=_environment(self._settings, url),
            folder=REPOSITORY,
            # Nobody is left to answer to: the quick way out.
            when_parent_dies=signal.SIGQUIT,
        )
        if self.record is not None:
            known = {"pid": self.process.pid, "identity": processes.identity(self.process.pid)}
            with contextlib.suppress(OSError):
                self.record.write_text(json.dumps(known))

    def restart(self) -> None:
        if self.process is not None:
            # Workers outlive a killed master for a moment, and hold its port.
            processes.end_group(self.process.pid, patience_s=_ORPHANS_S)
        self.start(self._url)

    def end_predecessor(self) -> None:
        """End the gunicorn of a killed supervisor, if it still runs."""
        if self.record is None:
            return
        try:
            known = json.loads(self.record.read_text())
            pid, identity = int(known["pid"]), str(known["identity"])
        except (OSError, ValueError, KeyError, TypeError):
            return
        # If the master is dead, its workers may still be about; as long as one is, the group's number is theirs.
        now = processes.identity(pid)
        same_boot = identity.partition("/")[0] == processes.boot_id()
        if (now == identity or (now is None and same_boot)) and processes.send_to_group(pid, 0):
            logger.warning("A gunicorn without supervisor (pid %s) is stopped first.", pid)
            processes.end_group(pid, patience_s=_ORPHANS_S)
        self.record.unlink(missing_ok=True)

    def wait_for_answer(self) -> None:
        """Return when the service answers over HTTP.

        :raises ServeError: if gunicorn ends instead, or never answers.
        """
        deadline = time.monotonic() + _FIRST_ANSWER_S
        pause_s = 0.02
        while not _answers(self._settings):
            if not self.alive:
                code = None if self.process is None else self.process.returncode
                raise ServeError(
                    f"gunicorn ended with exit code {code} before it answered on {_address(self._settings)}; "
                    "it says why above."
                )
            if time.monotonic() > deadline:
                raise ServeError(f"gunicorn does not answer on {_address(self._settings)}.")
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.3, 0.25)

    def stop(self, hurry: Callable[[], bool]) -> None:
        """Let the requests in flight finish, within limits and unless there is a hurry."""
        process = self.process
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + _GRACE_S
            while process.poll() is None and time.monotonic() < deadline and not hurry():
                time.sleep(0.02)
        processes.send_to_group(process.pid, signal.SIGKILL)
        process.wait()
        self.process = None
        if self.record is not None:
            self.record.unlink(missing_ok=True)


def _environment(settings: Settings, url: str) -> dict[str, str]:
    """The supervisor's environment with the settings it was given, wherever they came from."""
    environment = dict(os.environ)
    if settings.database_url is None:
        # libpq's own variables are meant for some other server.
        environment = {name: value for name, value in environment.items() if not name.startswith("PG")}
    for item in fields(settings):
        metadata: Mapping[str, str] = item.metadata
        value = getattr(settings, item.name)
        if value is None:
            environment.pop(metadata["variable"], None)
        else:
            environment[metadata["variable"]] = str(value)
    environment["DATABASE_URL"] = url
    environment["DATA_DIR"] = os.path.abspath(settings.data_dir)  # noqa: PTH100 -- absolute() keeps the dots
    return environment


def _probe_host(settings: Settings) -> str:
    """Where a listener on the bind address can be reached from here."""
    return {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1", "[::]": "::1"}.get(  # noqa: S104 -- compared, not bound
        settings.bind, settings.bind.strip("[]")
    )


def _address(settings: Settings) -> str:
    host = settings.bind.strip("[]")
    return f"[{host}]:{settings.port}" if ":" in host else f"{host}:{settings.port}"


def _answers(settings: Settings) -> bool:
    connection = http.client.HTTPConnection(_probe_host(settings), settings.port, timeout=2)
    try:
        connection.request("GET", "/health/live")
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _wait_for_port(settings: Settings) -> None:
    """Make sure that gunicorn will be able to listen: it would try for five seconds and say less.

    :raises ServeError: if the address is taken or is no address of this machine.
    """
    deadline = time.monotonic() + _PORT_S
    while True:
        try:
            _try_to_bind(settings)
        except PermissionError:
            raise ServeError(f"no permission to listen on {_address(settings)}; set PORT to another port.") from None
        except socket.gaierror:
            raise ServeError(f"BIND={settings.bind}: no such address.") from None
        except OSError as error:
            if time.monotonic() > deadline:
                reason = (error.strerror or str(error)).lower()
                raise ServeError(
                    f"cannot listen on port {settings.port} of {settings.bind}: {reason}. "
                    "Stop what uses it, or set PORT to another port."
                ) from None
            time.sleep(0.1)
        else:
            return


def _try_to_bind(settings: Settings) -> None:
    family, kind, protocol, _, address = socket.getaddrinfo(
        settings.bind.strip("[]") or None,
        settings.port,
        type=socket.SOCK_STREAM,
        flags=socket.AI_PASSIVE,
    )[0]
    with socket.socket(family, kind, protocol) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()


def _say(text: str, *, to_stderr: bool = False) -> None:
    """Print for the person at the terminal, who may have closed it."""
    if text:
        with contextlib.suppress(OSError):
            click.echo(text, err=to_stderr)
