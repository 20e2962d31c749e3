"""The port of ``METRICS_BIND``: which address of a name it listens on."""

import socket
from typing import Any

import pytest

from app.telemetry import metrics_server
from app.telemetry.metrics_server import MetricsServer, listener_on
from tests.support.ports import free_port


def test_of_several_addresses_of_a_name_the_port_is_on_the_one_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a network of containers, the instances of the service share a name, and each has one of its addresses."""
    port, resolve = free_port(), socket.getaddrinfo

    def both(host: str, *arguments: Any, **options: Any) -> list[Any]:
        assert host == "metrics"
        return [found for address in ("192.0.2.1", "127.0.0.1") for found in resolve(address, *arguments, **options)]

    monkeypatch.setattr(metrics_server.socket, "getaddrinfo", both)
    with listener_on("metrics", port) as listener:
        assert listener.getsockname() == ("127.0.0.1", port)


def test_an_address_of_another_machine_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_server, "_PORT_S", 0.0)
    with pytest.raises(OSError, match="Cannot assign requested address"):
        MetricsServer("192.0.2.1", free_port())
