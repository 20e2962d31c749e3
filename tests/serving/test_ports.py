"""The check of the public port before gunicorn starts: it waits for a predecessor, and an error names the settings."""

import socket
import threading
from pathlib import Path

import pytest

from app.config import Settings
from app.serving import ServeError, gunicorn_process
from app.serving.gunicorn_process import GunicornProcess


def wait_for_port(host: str, port: int) -> None:
    GunicornProcess(Settings(bind=host, port=port), "no application", Path("no file")).wait_for_port()


def test_an_address_of_another_machine_is_an_error_at_once() -> None:
    message = (
        r"^cannot listen on port 9090 of 192\.0\.2\.1: cannot assign requested address\. "
        r"Set BIND or PORT to another address\.$"
    )
    with pytest.raises(ServeError, match=message):
        wait_for_port("192.0.2.1", 9090)


def test_a_port_that_is_closed_meanwhile_is_waited_for() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        closed = threading.Timer(0.3, listener.close)
        closed.start()
        wait_for_port("127.0.0.1", port)
        closed.join()


def test_a_port_in_use_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gunicorn_process, "_PATIENCE_S", 0.1)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        message = "already in use. Stop what uses it, or set BIND or PORT to another"
        with pytest.raises(ServeError, match=message):
            wait_for_port("0.0.0.0", listener.getsockname()[1])  # noqa: S104 -- it listens for a moment
