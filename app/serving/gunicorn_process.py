"""Gunicorn as a child process: start, readiness, restart and stop."""

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
"""Longest wait for gunicorn's first answer."""

_AFTER_GRACE_S = 4.0
"""Longest wait for gunicorn after its ``graceful_timeout``, which ends requests in flight."""

_ORPHANS_S = 2.0
"""Longest wait for the workers of a gunicorn that was killed. Nobody else can have their port before they end."""


class GunicornProcess:
    """Gunicorn's master and its workers, which are in the master's process group.

    :param application: ``module:name`` or ``module:factory()``.
    """

    def __init__(self, settings: Settings, application: str) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._settings = settings
        self._application = application
        self._url = ""
        self._sink: int | None = None
        """The other end of the master's standard input, while the master waits."""

    @property
    def alive(self) -> bool:
        """Whether the master runs."""
        return self.process is not None and self.process.poll() is None

    def load(self, url: str) -> None:
        """Start the master on a database. It loads the application, and listens after :meth:`listen`.

        Loading takes about a second, in which the database can be started and prepared.
        """
        self._url = url
        source, self._sink = os.pipe()
        try:
            self.process = processes.spawn(
                processes.own_module("gunicorn", "-c", str(_SETTINGS), self._application),
                environment=_environment(self._settings, url),
                # gunicorn adds its working directory to the path. This one is on it already, unlike the user's folder.
                folder=processes.ROOT,
                source=source,
                # Without its supervisor it stops at once; SIGTERM would let requests in flight finish.
                when_parent_dies=signal.SIGQUIT,
            )
        finally:
            os.close(source)

    def listen(self) -> None:
        """Let the master listen and start its workers; :meth:`wait_for_answer` tells when it serves."""
        if self._sink is not None:
            with contextlib.suppress(BrokenPipeError):  # it has ended already
                os.write(self._sink, b"\n")
            self._close_sink()

    def _close_sink(self) -> None:
        if self._sink is not None:
            os.close(self._sink)
            self._sink = None

    def restart(self) -> None:
        """Start it again after the master has died."""
        if self.process is not None:
            # The workers of a killed master run on for a moment, and hold its port.
            processes.end_group(self.process.pid, patience_s=_ORPHANS_S)
        self._close_sink()
        self.load(self._url)
        self.listen()

    def wait_for_answer(self) -> None:
        """Return when the service answers over HTTP.

        :raises ServeError: if gunicorn ends instead, or does not answer within a minute.
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
            # Until gunicorn listens, a try costs little; from then on it waits for the answer.
            time.sleep(0.02)

    def answers(self) -> bool:
        """Whether the service answers over HTTP; waits for that for at most 2 s."""
        import http.client  # only now, while gunicorn loads: with its packages it takes 20 ms

        connection = http.client.HTTPConnection(_probe_host(self._settings), self._settings.port, timeout=2)
        try:
            connection.request("GET", "/health/live")
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def stop(self, hurry: Callable[[], bool]) -> None:
        """Stop gunicorn after requests in flight.

        :param hurry: asked again and again; once it is true, gunicorn is killed.
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
        self._close_sink()  # only now: its end tells a master that waits to say that the supervisor is gone
        self.process = None


def _environment(settings: Settings, url: str) -> dict[str, str]:
    """The supervisor's environment, in which the variables of settings have the values of ``settings``."""
    environment = dict(os.environ)
    if settings.database_url is None:
        # libpq's variables are not meant for the embedded server.
        environment = {name: value for name, value in environment.items() if not name.startswith("PG")}
    for item in fields(settings):
        metadata: Mapping[str, str] = item.metadata
        if not metadata:
            continue  # no setting, but the environment of all
        # The value is handed on itself, and a value and a file together would be refused.
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
    """The host by which this machine reaches a listener on the bind address."""
    host = settings.listen_host
    return {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 -- compared, not bound
