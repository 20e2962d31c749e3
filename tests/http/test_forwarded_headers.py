"""Gunicorn takes client address, scheme and path from no header, not even if the request comes from 127.0.0.1."""

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
def test_gunicorn_ignores_forwarding_headers(start_gunicorn: StartGunicorn, trusted: str | None) -> None:
    """Also if FORWARDED_ALLOW_IPS is set, gunicorn's own variable for trusted proxies."""
    environment = {} if trusted is None else {"FORWARDED_ALLOW_IPS": trusted}
    server = start_gunicorn("tests.support.standin:application", **environment)
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=15)) as connection:
        connection.request("GET", "/here?echo", headers=FORWARDED)
        assert connection.getresponse().read().decode() == "http  /here 127.0.0.1"
