"""Starts, watches, restarts and stops gunicorn as a child process."""

import errno
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from app.config import Settings, file_variable
from app.serving import ServeError, processes

PREPARED = "SAMPLE_RESOURCE_PREPARED"
"""The variable that tells gunicorn that its database is prepared already."""

_PATIENCE_S = 5.0
"""The longest wait for a port, which a previous process may be about to close."""

_AFTER_GRACE_S = 4.0
"""The longest wait for gunicorn after its ``graceful_timeout``, at which requests in flight end."""

_ORPHANS_S = 2.0
"""The longest wait for the workers of a killed gunicorn. Their port is not free before they end."""


class GunicornProcess:
    """A gunicorn: its master, and its workers in the process group of the master. :meth:`start` starts it.

    :param settings: the settings of the service. This class uses the address and ``graceful_timeout_s``.
    :param application: the WSGI application, as ``module:name`` or ``module:factory()``.
    :param configuration: the file with gunicorn's settings.
    """

    def __init__(self, settings: Settings, application: str, configuration: Path) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        """The master; None before :meth:`start` and after :meth:`stop`."""
        self._settings = settings
        # This command makes gunicorn import this package ``app``, even if another ``app`` could be imported, too.
        self._command = processes.command_with_own_app("gunicorn", "-c", str(configuration), application)

    @property
    def exit_code(self) -> int | None:
        """The exit code of the master, negative if a signal has ended it; None while it runs, before its start, and
        after :meth:`stop`."""
        return None if self.process is None else self.process.poll()

    def wait_for_port(self) -> None:
        """Wait until a process can listen on the address of ``BIND`` and ``PORT``.

        Without this wait, gunicorn itself would try for five seconds, but its error would not name the settings. While
        gunicorn tries, another program has the port. If that program answers over HTTP, :meth:`answers` could take it
        for gunicorn.

        :raises ServeError: if there is no such host, if this machine does not have its address, if this process may not
            listen on the port, or if the port is still in use after five seconds.
        """
        host, port = self._settings.listen_host, self._settings.port
        family = socket.AF_INET6 if ":" in host else socket.AF_INET  # as gunicorn chooses
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                with socket.socket(family) as listener:
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    listener.bind((host, port))
                    listener.listen()
                return
            except TypeError:  # for a name beyond ASCII that cannot be encoded
                raise ServeError(f"BIND: no host can be called {host}.") from None
            except OSError as error:
                is_in_use = error.errno == errno.EADDRINUSE
                if not is_in_use or time.monotonic() > deadline:
                    raise ServeError(
                        f"cannot listen on port {port} of {host}: {(error.strerror or str(error)).lower()}. "
                        f"{'Stop what uses it, or set' if is_in_use else 'Set'} BIND or PORT to another address."
                    ) from None
            time.sleep(0.1)

    def start(self, url: str, *, is_prepared: bool = False) -> None:
        """Start gunicorn, or start it again after its master has died. This method does not wait until gunicorn
        answers.

        :param url: the URL of the database.
        :param is_prepared: whether the database has been migrated and prepared. If so, gunicorn skips both steps, and
            so can start while the database is down.
        """
        if self.process is not None:
            # The workers of a killed master run for a moment longer, and hold its port.
            processes.end_group(self.process.pid, patience_s=_ORPHANS_S)
        self.process = processes.spawn(
            self._command,
            environment=_environment(url) | ({PREPARED: "yes"} if is_prepared else {}),
            # gunicorn adds its working directory to sys.path, so it must not be the user's folder.
            folder=processes.ROOT,
            # If the supervisor dies, SIGQUIT stops gunicorn quickly. SIGTERM would let requests in flight finish, but
            # the embedded PostgreSQL, if it is used, ends with the supervisor, so they could fail.
            when_parent_dies=signal.SIGQUIT,
        )

    def answers(self) -> bool:
        """Whether the service answers over HTTP, and with no error 5xx. Each wait for bytes takes at most 2 s."""
        import http.client  # imported only now, while gunicorn loads, because it takes 20 ms

        connection = http.client.HTTPConnection(self._settings.own_host, self._settings.port, timeout=2)
        try:
            connection.request("GET", "/health/live")
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def stop(self, hurry: Callable[[], bool]) -> None:
        """Stop gunicorn after its requests in flight. If it still runs four seconds after ``graceful_timeout_s``, it is
        killed.

        :param hurry: called repeatedly; when it returns True, gunicorn is killed at once.
        """
        process = self.process
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            # graceful_timeout_s is gunicorn's graceful_timeout, unless GUNICORN_CMD_ARGS has another.
            deadline = time.monotonic() + self._settings.graceful_timeout_s + _AFTER_GRACE_S
            while process.poll() is None and time.monotonic() < deadline and not hurry():
                time.sleep(0.02)
        processes.send_to_group(process.pid, signal.SIGKILL)  # after an orderly end the group is empty
        process.wait()
        self.process = None


def _environment(url: str) -> dict[str, str]:
    """Make the environment variables for gunicorn: those of the supervisor, with ``url`` as ``DATABASE_URL``.

    If the name of a variable ends with ``_FILE``, as in ``METRICS_TOKEN_FILE``, and its value is the relative path of
    an existing file, the path is made absolute. All other paths stay as they are. For example, the name of libpq's
    ``PGPASSFILE`` does not have this ending, so the user has to set an absolute path there.
    """
    environment = {**os.environ, "DATABASE_URL": url}
    # Settings refuse DATABASE_URL together with DATABASE_URL_FILE, from which the supervisor may have read the URL.
    environment.pop(file_variable("DATABASE_URL"), None)
    # Only GunicornProcess.start may set this mark: with one from outside, gunicorn would skip the migrations.
    environment.pop(PREPARED, None)
    for name, value in environment.items():
        # gunicorn runs in another working directory, and would not find a relative path. Every name with the suffix
        # _FILE counts, because an extension may have secrets, too. getcwd() is called only for a file that exists: it
        # raises an error if the working directory has been removed. From a removed directory, only a path through ".."
        # can lead to a file.
        if name.endswith(file_variable("")) and not os.path.isabs(value) and os.path.isfile(value):  # noqa: PTH113, PTH117 -- is_file() can raise an error
            environment[name] = os.path.join(os.getcwd(), value)  # noqa: PTH109, PTH118 -- the values are texts
    return environment
