"""The check of a port before gunicorn listens: it waits for a predecessor, and its message names the settings."""

import socket
import threading

import pytest

from app.serving import ServeError, ports
from tests.support.ports import free_port


def test_an_address_of_another_machine_is_an_error_at_once() -> None:
    message = (
        r"^cannot listen on port 9090 of 192\.0\.2\.1: cannot assign requested address\. "
        r"Set METRICS_BIND to another address\.$"
    )
    with pytest.raises(ServeError, match=message):
        ports.wait_until_free("192.0.2.1", 9090, "METRICS_BIND")


def test_a_name_without_an_address_is_an_error() -> None:
    with pytest.raises(ServeError, match=r"^cannot listen on port 8000 of nobody\.invalid: .*\. Set BIND or PORT to"):
        ports.wait_until_free("nobody.invalid", 8000, "BIND or PORT")


def test_a_port_that_is_closed_meanwhile_is_waited_for() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        closed = threading.Timer(0.3, listener.close)
        closed.start()
        ports.wait_until_free("127.0.0.1", port, "PORT")
        closed.join()


def test_a_port_in_use_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_PATIENCE_S", 0.1)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        message = "already in use. Stop what uses it, or set PORT to another address."
        with pytest.raises(ServeError, match=message):
            ports.wait_until_free("", listener.getsockname()[1], "PORT")


def test_every_address_can_be_listened_on() -> None:
    ports.wait_until_free("", free_port(), "PORT")
