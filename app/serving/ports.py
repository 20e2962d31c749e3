"""Checks whether gunicorn can listen on an address, before gunicorn tries.

gunicorn would try for five seconds, and its error would not name the setting. This module does not use gevent, because
the supervisor uses it, too.
"""

import errno
import socket
import time

from app.serving import ServeError

_PATIENCE_S = 5.0
"""The longest wait for a port that a previous process or master may be about to close."""


def wait_until_free(host: str, port: int, settings: str) -> None:
    """Wait until a process can listen on an address.

    :param host: a name or an address, an IPv6 address without brackets; empty for all addresses.
    :param settings: the variables that name the address, for the message.
    :raises ServeError: if this machine does not have the address, if it is not permitted, or if it is still in use
        after five seconds.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            _listen_once(host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                reason = (error.strerror or str(error)).lower()
                advice = "Stop what uses it, or set" if error.errno == errno.EADDRINUSE else "Set"
                raise ServeError(
                    f"cannot listen on port {port} of {host or 'all addresses'}: {reason}. {advice} {settings} to"
                    " another address."
                ) from None
            time.sleep(0.1)
        else:
            return


def _listen_once(host: str, port: int) -> None:
    resolved = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = resolved[0]
    with socket.socket(family, kind, protocol) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
