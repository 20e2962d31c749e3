"""The number of a project's resources, which triggers keep."""

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import psycopg
import pytest
from click.testing import CliRunner

from app.cli import main
from app.database import migrate
from app.database.connection import Connection
from app.resource import bulk_store
from tests.support.api import Api
from tests.support.cluster import Cluster
from tests.support.rows import made

by_triggers = pytest.mark.one_machine("Citus distributes no table with triggers, so the number is counted there")


def kept(connection: Connection, project: str) -> int | None:
    row = connection.execute("SELECT sum(resources) FROM resource_count WHERE project_key = %s", (project,)).fetchone()
    return None if row is None else row[0]


def total(api: Api) -> int:
    return api.get(query_string={"limit": 0}).get_json()["total"]


def insert(connection: Connection, project: str, number: int) -> None:
    bulk_store.copy_in(connection, project, [made() for _ in range(number)])


@by_triggers
def test_every_way_of_writing_is_counted(api: Api, connection: Connection) -> None:
    assert kept(connection, api.project) is None
    resource = api.create({}, key="k-1")
    api.create()
    assert total(api) == kept(connection, api.project) == 2
    taken = {"key": "k-1", "objectTypeProperty": {}}
    assert api.put(json=taken).status_code == 200
    assert api.put(json={**taken, "key": "k-2"}).status_code == 201
    assert total(api) == kept(connection, api.project) == 3
    insert(connection, api.project, 5)
    assert total(api) == kept(connection, api.project) == 8
    assert api.delete(f"/{resource['id']}?version={resource['version']}").status_code == 200
    assert total(api) == kept(connection, api.project) == 7
    connection.execute("DELETE FROM resource WHERE project_key = %s", (api.project,))
    assert total(api) == kept(connection, api.project) == 0


@by_triggers
def test_what_is_rolled_back_is_not_counted(api: Api, connection: Connection) -> None:
    api.create()
    with pytest.raises(psycopg.errors.UniqueViolation):
        bulk_store.copy_in(connection, api.project, [made()] * 2)
    with connection.transaction(force_rollback=True):
        insert(connection, api.project, 3)
        assert kept(connection, api.project) == 4
        assert total(api) == 1, "another snapshot"
    assert total(api) == kept(connection, api.project) == 1


@by_triggers
def test_a_statement_on_several_projects_counts_each(connection: Connection, project: str) -> None:
    for number in (1, 2, 3):
        insert(connection, f"{project}-{number}", number)
    connection.execute(
        "INSERT INTO resource (project_key, id, version, created_at, last_modified_at, created_by, last_modified_by,"
        " object_type) SELECT %s || right(project_key, 2), gen_random_uuid(), 1, now(), now(), 'c', 'c', '{}'"
        " FROM resource WHERE starts_with(project_key, %s)",
        (f"{project}x", project),
    )
    assert [kept(connection, f"{project}x-{number}") for number in (1, 2, 3)] == [1, 2, 3]
    connection.execute("DELETE FROM resource WHERE starts_with(project_key, %s)", (project,))
    assert [kept(connection, f"{project}x-{number}") for number in (1, 2, 3)] == [0, 0, 0]


@by_triggers
def test_each_snapshot_has_the_number_of_its_resources_while_many_write(
    database_url: str, project: str, connection: Connection
) -> None:
    begin = Barrier(9)

    def write(number: int) -> None:
        chance = random.Random(number)  # noqa: S311 -- data, not secrets
        with psycopg.connect(database_url, autocommit=True) as own:
            begin.wait(timeout=30)
            for _ in range(25):
                with own.transaction(force_rollback=chance.random() < 0.2):
                    insert(own, project, chance.randrange(1, 4))
                    own.execute(
                        "DELETE FROM resource WHERE project_key = %s AND id IN"
                        " (SELECT id FROM resource WHERE project_key = %s LIMIT 1 FOR UPDATE SKIP LOCKED)",
                        (project, project),
                    )

    with ThreadPoolExecutor(8) as threads:
        writers = [threads.submit(write, number) for number in range(8)]
        begin.wait(timeout=30)
        looks = 0
        while not all(writer.done() for writer in writers) or looks == 0:
            row = connection.execute(
                "SELECT (SELECT count(*) FROM resource WHERE project_key = %(p)s),"
                " (SELECT coalesce(sum(resources), 0) FROM resource_count WHERE project_key = %(p)s)",
                {"p": project},
            ).fetchone()
            assert row is not None
            assert row[0] == row[1]
            looks += 1
        for writer in writers:
            writer.result()


def test_a_project_whose_number_is_not_kept_is_counted(api: Api, connection: Connection) -> None:
    insert(connection, api.project, 3)
    connection.execute("DELETE FROM resource_count WHERE project_key = %s", (api.project,))
    assert total(api) == 3


# Databases of their own: a command looks at all projects


def test_projects_are_listed_with_their_numbers(cluster: Cluster, project: str) -> None:
    url = cluster.create_database(project)
    migrate.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        for name, number in (("b", 2), ("a", 3), ("emptied", 1)):
            insert(connection, name, number)
        connection.execute("DELETE FROM resource WHERE project_key = 'emptied'")
    listed = CliRunner().invoke(main, ["db", "projects"], env={"DATABASE_URL": url})
    assert (listed.exit_code, listed.output) == (0, "a\t3\nb\t2\n")


def test_data_of_a_dump_are_counted_although_it_empties_the_search_path(cluster: Cluster, project: str) -> None:
    url = cluster.create_database(project)
    migrate.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        insert(connection, "a", 1)
        connection.execute("SET search_path = ''")
        connection.execute(
            "INSERT INTO public.resource (project_key, id, version, created_at, last_modified_at, created_by,"
            " last_modified_by, object_type)"
            " SELECT 'b', gen_random_uuid(), version, created_at, last_modified_at, 'c', 'c', object_type"
            " FROM public.resource"
        )
        connection.execute("DELETE FROM public.resource WHERE project_key = 'a'")
        connection.execute("RESET search_path")
        assert (kept(connection, "a"), kept(connection, "b")) == (0, 1)
