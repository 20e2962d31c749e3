"""The private ports, for operators: probes (``HEALTH_BIND``) and metrics (``METRICS_BIND``).

gunicorn opens them with the public port, and keeps them over a reload and a binary upgrade. Each worker serves them by
separate servers. The server of the public port accepts connections in their order, so that behind a burst of 2,000
connections a probe would wait for seconds. Requests to private ports are not logged or counted.
"""

import logging
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import gevent
from gevent.pool import Pool
from gevent.pywsgi import WSGIServer

from app import errors
from app.config import InvalidSetting, Settings
from app.setting_values import address_of
from app.values.strict_json import CONTENT_TYPE

_CONNECTION_S = 10.0
_CONNECTIONS_AT_MOST = 32
"""The most connections to a private port that a worker serves at once, because they need descriptors. Each ends after
:data:`_CONNECTION_S`."""

_log = logging.getLogger("app.serving")

Routes = Mapping[str, Callable[[], tuple[str, bytes]]]
"""Functions that return the content type and the body of an answer, by the path. They may raise an ApiError."""


def addresses_of(settings: Settings) -> dict[str, set[str]]:
    """The private addresses as ``address:port``, with names resolved, each with the settings that name it. Two settings
    may name one address.

    :raises InvalidSetting: if a host name has no address.
    """
    found: dict[str, set[str]] = {}
    for variable, address in settings.private_addresses.items():
        try:
            found.setdefault(_own_address(*address), set()).add(variable)
        except socket.gaierror as error:
            raise InvalidSetting(variable, address_of(*address), error.strerror or "it is unknown") from None
    return found


def _own_address(host: str, port: int) -> str:
    """The first address of a host name that belongs to this machine.

    A name can have several addresses: in a network of containers, all instances of the service may share a name.
    """
    resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, kind, protocol, _, address in resolved:
        with socket.socket(family, kind, protocol) as tried:
            try:
                tried.bind((address[0], 0, *address[2:]))
            except OSError:
                continue
        return address_of(str(address[0]), port)
    return address_of(str(resolved[0][4][0]), port)


class _Server(WSGIServer):
    """The server of a private port. A connection ends after at most :data:`_CONNECTION_S`."""

    def __init__(self, listener: Any, application: Callable[..., list[bytes]]) -> None:
        self._begun = Pool(_CONNECTIONS_AT_MOST)
        super().__init__(listener, application, log=None, spawn=self._begun)

    def do_handle(self, *accepted: Any) -> None:
        """Begin to serve a connection at once, because the event loop may have a thousand other connections to handle
        first."""
        greenlet: gevent.Greenlet[..., object] = gevent.Greenlet(self.handle, *accepted)
        self._begun.add(greenlet)
        greenlet.switch()

    def handle(self, sock: Any, address: Any) -> None:
        with suppress(gevent.Timeout), gevent.Timeout(_CONNECTION_S):
            super().handle(sock, address)


def start(listeners: list[Any], addresses: Mapping[str, Iterable[str]], routes: Mapping[str, Routes]) -> list[_Server]:
    """Start the servers of a worker's private ports.

    :param listeners: all listening sockets of the worker; those of private ports are removed from the list.
    :param addresses: the settings that name an address, by the address.
    :param routes: the served paths, by the setting.
    """
    servers: list[_Server] = []
    for listener in list(listeners):
        host, port, *_ = listener.getsockname() if listener.family != socket.AF_UNIX else ("", 0)
        variables = addresses.get(address_of(host, port))
        if variables is not None:
            listeners.remove(listener)
            served = {path: answer for variable in variables for path, answer in routes[variable].items()}
            server = _Server(listener, _application(served))
            server.start()
            servers.append(server)
    return servers


def _application(routes: Routes) -> Callable[..., list[bytes]]:
    def respond(environ: dict[str, Any], start_response: Callable[..., object]) -> list[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        status, headers = 200, dict[str, str]()
        try:
            if path not in routes:
                raise errors.unknown_url(path)
            if method not in ("GET", "HEAD"):
                raise errors.method_not_allowed(method, ["GET", "HEAD"])
            content_type, body = routes[path]()
        except errors.ApiError as error:
            status, headers, content_type, body = error.status, error.headers, CONTENT_TYPE, error.body()
        except Exception:  # noqa: BLE001 -- any error is logged, and the client gets a 500
            _log.exception("a request to a private port failed")
            status, content_type, body = 500, CONTENT_TYPE, errors.general().body()
        headers |= {"Content-Type": content_type, "Content-Length": str(len(body)), "Connection": "close"}
        start_response(f"{status} {HTTPStatus(status).phrase}", list(headers.items()))
        return [] if method == "HEAD" else [body]

    return respond
