"""Data folders and servers for the tests of the embedded PostgreSQL and of the supervisor."""

import subprocess
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from app.serving import postgres_programs
from app.serving.embedded import EmbeddedPostgres
from tests.support.embedded import FAST
from tests.support.folders import open_folder


@pytest.fixture
def empty() -> Generator[Path]:
    """A folder that other users can reach too, unlike pytest's own."""
    with open_folder() as path:
        yield path


@pytest.fixture(scope="session")
def new_cluster() -> Generator[Path]:
    """A data folder with an empty database, to copy: making one is the longest part of a start."""
    with open_folder() as path:
        with EmbeddedPostgres(path / "data", FAST):
            pass
        yield path / "data"


@pytest.fixture
def folder(empty: Path, new_cluster: Path) -> Path:
    """A folder that other users can reach too, with an empty database in its folder ``data``."""
    subprocess.run(["/bin/cp", "-a", str(new_cluster), str(empty / "data")], check=True)
    return empty


@pytest.fixture
def store(empty: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store for data and programs under root, in this test's folder instead of the machine's own place."""
    path = empty / "sample-resource"
    monkeypatch.setattr(postgres_programs, "STORE", path)
    return path


@pytest.fixture
def start(empty: Path) -> Generator[Callable[..., EmbeddedPostgres]]:
    """Start a server, which is stopped after the test."""
    servers: list[EmbeddedPostgres] = []

    def start_server(data_dir: Path = empty / "data") -> EmbeddedPostgres:
        server = EmbeddedPostgres(data_dir, FAST)
        servers.append(server)
        server.start()
        return server

    yield start_server
    for server in servers:
        server.stop()
