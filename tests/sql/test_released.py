"""Instances of the last release go on while an update is under way: their statements run on the schema of today."""

from typing import Any

import psycopg
import pytest

from app.database import migrate
from app.serving.embedded import EmbeddedPostgres
from tests.sql import released


def test_the_statements_of_the_last_release_run_on_this_schema(cluster: EmbeddedPostgres, project: str) -> None:
    url = cluster.create_database(project)
    migrate.upgrade(url)
    assert failures(url, released.stored()) == []
    assert len(released.stored()) > 150


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        ("ALTER TABLE resource ADD COLUMN another bigint[]", False),
        ("ALTER TABLE resource ADD COLUMN another text NOT NULL DEFAULT ''", False),
        ("ALTER TABLE resource ADD COLUMN another text NOT NULL", True),
        ("ALTER TABLE resource RENAME COLUMN array_of_int TO integers", True),
        ("ALTER TABLE resource ALTER COLUMN array_of_int TYPE text USING ''", True),
        ("DROP TABLE unindexed_text", True),
    ],
)
def test_a_schema_that_they_cannot_use_is_noticed(
    cluster: EmbeddedPostgres, project: str, change: str, fails: bool
) -> None:
    url = cluster.create_database(project)
    migrate.upgrade(url)
    with psycopg.connect(url) as connection:
        connection.execute(change.encode())
    assert bool(failures(url, released.stored())) == fails


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
