"""Ports for servers that tests start."""

import contextlib
import random
import socket


def free_port() -> int:
    """A TCP port below 32768 that is free on 127.0.0.1.

    From 32768 on, Linux gives ports to outgoing connections, and one of those could take it before the server does.
    """
    choice = random.SystemRandom()  # Hypothesis seeds the other generator, and test processes would choose the same
    while True:
        port = choice.randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
