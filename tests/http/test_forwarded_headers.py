"""Gunicorn believes no header about where a request came from or went to, also not from its own machine."""

import contextlib
import http.client

import pytest

from tests.support.gunicorn_server import StartGunicorn

FORWARDED = {
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Ssl": "on",
    "X-Forwarded-Protocol": "ssl",
    "X-Forwarded-For": "192.0.2.1",
    "SCRIPT_NAME": "/elsewhere",
    "SCRIPT-NAME": "/elsewhere",
    "PATH_INFO": "/elsewhere",
}


@pytest.mark.parametrize("trusted", [None, "*"])
def test_nothing_in_a_header_moves_a_request(start_gunicorn: StartGunicorn, trusted: str | None) -> None:
    """Nor if the variable is set by which gunicorn is told otherwise."""
    environment = {} if trusted is None else {"FORWARDED_ALLOW_IPS": trusted}
    server = start_gunicorn("tests.support.standin:application", **environment)
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=15)) as connection:
        connection.request("GET", "/here?echo", headers=FORWARDED)
        assert connection.getresponse().read().decode() == "http  /here 127.0.0.1"
