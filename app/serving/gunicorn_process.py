"""Starts, watches, restarts and stops gunicorn as a child process."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path

from app.config import Settings, file_variable
from app.serving import ServeError, processes

_SETTINGS = Path(__file__).with_name("supervised_settings.py")

_FIRST_ANSWER_S = 60.0
"""The longest wait for gunicorn's first answer."""

_AFTER_GRACE_S = 4.0
"""The longest wait for gunicorn after its ``graceful_timeout``, at which requests in flight end."""

_ORPHANS_S = 2.0
"""The longest wait for the workers of a killed gunicorn. Their port is not free before they end."""


class GunicornProcess:
    """A gunicorn: its master, and its workers in the process group of the master.

    :param application: the WSGI application, as ``module:name`` or ``module:factory()``.
    """

    def __init__(self, settings: Settings, application: str) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._settings = settings
        self._application = application
        self._url = ""
        self._sink: int | None = None
        """The write end of the master's standard input, while the master waits for :meth:`listen`."""

    @property
    def alive(self) -> bool:
        """Whether the master process runs."""
        return self.process is not None and self.process.poll() is None

    def load(self, url: str) -> None:
        """Start the master with the URL of a database. It loads the application, and waits for :meth:`listen`.

        Loading takes about a second. The database can be started and prepared in this time.
        """
        self._url = url
        source, self._sink = os.pipe()
        try:
            self.process = processes.spawn(
                processes.own_module("gunicorn", "-c", str(_SETTINGS), self._application),
                environment=_environment(self._settings, url),
                # gunicorn adds its working directory to sys.path, on which this folder is already. The user's folder
                # must not be.
                folder=processes.ROOT,
                source=source,
                # SIGQUIT stops gunicorn at once when the supervisor dies; SIGTERM would let requests in flight finish.
                when_parent_dies=signal.SIGQUIT,
            )
        finally:
            os.close(source)

    def listen(self) -> None:
        """Make the master listen and start its workers. :meth:`wait_for_answer` returns when it serves."""
        if self._sink is not None:
            with contextlib.suppress(BrokenPipeError):  # it has ended already
                os.write(self._sink, b"\n")
            self._close_sink()

    def _close_sink(self) -> None:
        if self._sink is not None:
            os.close(self._sink)
            self._sink = None

    def restart(self) -> None:
        """Start gunicorn again after its master has died."""
        if self.process is not None:
            # The workers of a killed master run for a moment longer, and hold its port.
            processes.end_group(self.process.pid, patience_s=_ORPHANS_S)
        self._close_sink()
        self.load(self._url)
        self.listen()

    def wait_for_answer(self) -> None:
        """Wait until the service answers over HTTP.

        :raises ServeError: if gunicorn ends before it answers, or does not answer within a minute.
        """
        deadline = time.monotonic() + _FIRST_ANSWER_S
        while not self.answers():
            if not self.alive:
                code = None if self.process is None else self.process.returncode
                raise ServeError(
                    f"gunicorn ended with exit code {code} before it answered on {self._settings.listen_address}; "
                    "it says why above."
                )
            if time.monotonic() > deadline:
                raise ServeError(f"gunicorn does not answer on {self._settings.listen_address}.")
            # Until gunicorn listens, an attempt fails at once; later it waits for the answer.
            time.sleep(0.02)

    def answers(self) -> bool:
        """Whether the service answers over HTTP within 2 s."""
        import http.client  # imported only now, while gunicorn loads, because it takes 20 ms

        connection = http.client.HTTPConnection(_probe_host(self._settings), self._settings.port, timeout=2)
        try:
            connection.request("GET", "/health/live")
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def stop(self, hurry: Callable[[], bool]) -> None:
        """Stop gunicorn after its requests in flight.

        :param hurry: called repeatedly; when it returns True, gunicorn is killed.
        """
        process = self.process
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + self._settings.longest_request_s + _AFTER_GRACE_S
            while process.poll() is None and time.monotonic() < deadline and not hurry():
                time.sleep(0.02)
        processes.send_to_group(process.pid, signal.SIGKILL)
        process.wait()
        self._close_sink()  # only now: a master that waits for input would report the loss of the supervisor
        self.process = None


def _environment(settings: Settings, url: str) -> dict[str, str]:
    """The environment of gunicorn: that of the supervisor, with the values of ``settings`` in the variables of
    settings."""
    environment = dict(os.environ)
    if settings.database_url is None:
        # The user's variables of libpq are not meant for the embedded server.
        environment = {name: value for name, value in environment.items() if not name.startswith("PG")}
    for item in fields(settings):
        metadata: Mapping[str, str] = item.metadata
        if not metadata:
            continue  # this field is no setting, but the whole environment
        # The value is passed on, so the variable with its file must go: both together would be refused.
        environment.pop(file_variable(metadata["variable"]), None)
        value = getattr(settings, item.name)
        if value is None:
            environment.pop(metadata["variable"], None)
        else:
            environment[metadata["variable"]] = str(value)
    environment["DATABASE_URL"] = url
    environment["DATA_DIR"] = os.path.abspath(settings.data_dir)  # noqa: PTH100 -- absolute() keeps the dots
    return environment


def _probe_host(settings: Settings) -> str:
    """The host at which this machine reaches a listener on the bind address."""
    host = settings.listen_host
    return {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 -- compared, not bound
