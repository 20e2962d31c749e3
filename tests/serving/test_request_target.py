"""Request targets as gunicorn passes them to the application: what a client of WSGI alone cannot send."""

import http.client
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.service import running_service


@pytest.fixture(scope="module")
def port(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    log: Path = tmp_path_factory.mktemp("service") / "log"
    with running_service(log, DATABASE_URL=database_url) as port:
        yield port


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/health/live", 200),
        ("//health/live", 404),
        ("/demo/resource", 401),
        ("//demo/resource", 404),
        ("///demo/resource", 404),
        ("//demo", 404),
        ("/demo//resource", 404),
        ("/%2Fdemo/resource", 404),
        ("http://localhost/demo/resource", 401),
        ("http://localhost//demo/resource", 404),
        ("/" + "a" * 8200, 414),
    ],
)
def test_targets(port: int, target: str, status: int) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", target)
        answer = connection.getresponse()
        answer.read()
    assert answer.status == status
