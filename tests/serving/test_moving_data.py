"""The lines of ``docs/operations.md`` that move data out of the embedded PostgreSQL into another one, and back."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from app.database.connection import Connection
from tests.support.cluster import Cluster
from tests.support.folders import open_folder
from tests.support.pages import Page
from tests.support.service import ROOT, running_service

OUT, BACK = (
    block.partition("```")[0]
    for block in Page("docs/operations.md").section("Out of the embedded PostgreSQL, and back").split("```sh\n")[1:]
)
NAMES = OUT.partition("(umask")[0]

TABLES = ("resource", "word", "api_client", "access_token")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with ``.venv``, in which an operator would stand."""
    with open_folder() as made:
        (made / ".venv").symlink_to(sys.prefix)
        yield made


@contextmanager
def running(folder: Path, data_dir: str) -> Iterator[Connection]:
    """Run the service on a folder that ``.data`` leads to; yield a connection to its PostgreSQL."""
    (folder / ".data").unlink(missing_ok=True)
    (folder / ".data").symlink_to(folder / data_dir)
    with running_service(folder / f"{data_dir}.log", DATA_DIR=str(folder / data_dir)):
        socket = (folder / ".data/postgresql/postmaster.pid").read_text().splitlines()[4]
        with psycopg.connect(f"host={socket} user=sample_resource dbname=sample_resource", autocommit=True) as found:
            yield found


def run(folder: Path, lines: str, database_url: str) -> None:
    environment = {"PATH": os.environ["PATH"], "DATABASE_URL": database_url}
    done = subprocess.run(
        ["sh", "-ec", lines], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def seed(data_dir: Path) -> None:
    command = [sys.executable, "-m", "app.cli", "seed", "--project", "demo", "--count", "40"]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"DATA_DIR": str(data_dir)}, check=True, capture_output=True)


def contents(connection: Connection) -> dict[str, list[tuple[str]]]:
    """All rows of the tables, as text, and the number of resources that is kept."""
    statement = "SELECT t::text FROM {} t ORDER BY 1"
    found = {table: connection.execute(statement.format(table).encode()).fetchall() for table in TABLES}
    return found | {"count": connection.execute("SELECT sum(resources)::text FROM resource_count").fetchall()}


def test_data_move_out_of_the_embedded_postgresql_and_back(folder: Path, cluster: Cluster, project: str) -> None:
    elsewhere = cluster.create_database(project)
    with running(folder, "first") as embedded:
        seed(folder / "first")
        run(folder, OUT, elsewhere)
        before = contents(embedded)
    assert len(before["resource"]) == 40
    with psycopg.connect(elsewhere) as outside:
        assert contents(outside) == before
    with running(folder, "second") as embedded:
        assert contents(embedded)["resource"] == []
        run(folder, NAMES + BACK, elsewhere)
        assert contents(embedded) == before
    with running_service(folder / "outside.log", DATABASE_URL=elsewhere):
        pass  # the service starts on the database that was restored
