"""A client that hung up is noticed after a wait."""

import socket
from contextlib import closing

import pytest
from flask import Flask

from app.http.hangups import client_is_gone


@pytest.mark.parametrize("hang_up", ["close", "shutdown"])
def test_a_client_that_closes_its_connection_is_gone(app: Flask, hang_up: str) -> None:
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs), app.test_request_context("/", environ_base={"gunicorn.socket": ours}):
        assert not client_is_gone()
        theirs.sendall(b"GET /next HTTP/1.1\r\n")
        assert not client_is_gone()
        if hang_up == "close":
            theirs.close()
        else:
            theirs.shutdown(socket.SHUT_WR)
        assert client_is_gone()


def test_without_a_connection_nobody_is_gone(app: Flask) -> None:
    assert not client_is_gone()
    with app.test_request_context("/"):
        assert not client_is_gone()
