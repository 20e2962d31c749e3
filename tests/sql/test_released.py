"""Instances of the last release go on while an update is under way: their statements run on the schema of today."""

from typing import Any

import psycopg
import pytest

from app.database import migrate
from app.extension import installed_package
from tests.sql import released
from tests.support.cluster import Cluster
from tests.support.walk import Walked


def test_the_statements_of_the_last_release_run_on_this_schema(cluster: Cluster, project: str) -> None:
    _, statements = released.read(released.FILE.read_text("utf-8"))
    url = cluster.create_database(project)
    migrate.upgrade(url, installed_package().migrations)
    assert failures(url, statements) == []
    assert len(statements) > 100


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        ("ALTER TABLE resource ADD COLUMN another bigint[]", False),
        ("ALTER TABLE resource ADD COLUMN another text NOT NULL DEFAULT ''", False),
        ("ALTER TABLE resource ADD COLUMN another text NOT NULL", True),
        ("ALTER TABLE resource RENAME COLUMN last_modified_by TO modifier", True),
        ("ALTER TABLE resource ALTER COLUMN last_modified_by TYPE bigint USING 0", True),
        ("DROP TABLE resource_count", True),
    ],
)
def test_a_schema_that_they_cannot_use_is_noticed(
    cluster: Cluster, project: str, walked: Walked, change: str, fails: bool
) -> None:
    """As if today's statements were those of the last release."""
    _, statements = released.read(released.made_from(walked))
    url = cluster.create_database(project)
    migrate.upgrade(url, installed_package().migrations)
    assert failures(url, statements) == []
    with psycopg.connect(url) as connection:
        connection.execute(change.encode())
    assert bool(failures(url, statements)) == fails


def failures(url: str, statements: list[tuple[str, Any]]) -> list[str]:
    """What fails, one statement after the other, each in a transaction of its own that is rolled back."""
    found: list[str] = []
    with psycopg.connect(url, prepare_threshold=None) as connection:
        for text, parameters in statements:
            try:
                run(connection, text, parameters)
            except psycopg.Error as error:
                found.append(f"{error}: {text}")
            connection.rollback()
    return found


def run(connection: psycopg.Connection[Any], text: Any, parameters: Any) -> None:
    if text.startswith("COPY"):
        with connection.cursor() as cursor, cursor.copy(text):
            return
    if text.startswith("VACUUM"):
        return  # within a transaction it is refused, and it names no column
    if isinstance(parameters, list):
        connection.cursor().executemany(text, parameters)
    else:
        connection.execute(text, parameters)
