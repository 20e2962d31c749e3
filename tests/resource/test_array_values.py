"""The values of arrays that stand ready beside the documents: facets count them instead of the documents.

``count_wrong_arrays``, which ``db check`` uses too, holds them against the documents.
"""

import json
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cli import main
from app.config import Settings
from app.database import leisure, migrate
from app.database.connection import Connection
from app.query.fields import OBJECT_TYPE, Stage
from app.query.filters.resolver import read_facets
from app.resource import array_values, bulk_store, store
from app.resource.array_filling import count_wrong_arrays, fill_arrays, repair_arrays
from app.resource.model import ById, Change, NewObject, Paging, Preconditions, Projection, Search, StoredResource
from app.resource.search import search
from app.serving.embedded import EmbeddedPostgres
from app.values.strict_json import encode
from tests.conftest import TokenFor
from tests.support.api import Api
from tests.support.applications import open_app
from tests.support.oracle import INTEGERS, NUMBERS, arrays, many, optional, texts
from tests.support.waiting import wait_until

AT = "2030-01-01T00:00:00.000Z"

SERVED_BY_ARRAYS = [
    *(name for name in OBJECT_TYPE if name != "arrayOfObjectType"),
    *(f"arrayOfObjectType.{name}" for name in OBJECT_TYPE["arrayOfObjectType"].members),
]

integers = st.sampled_from([*INTEGERS, -0.0])
object_types = optional(
    arrayOfIntExample=arrays(integers),
    arrayOfUniqueIntExample=arrays(integers),
    arrayOfTwonumbersExample=arrays(st.sampled_from(NUMBERS)),
    arrayOfFloatExample=arrays(st.sampled_from([*NUMBERS, -0.0])),
    arrayOfNumberNoDefaultsExample=arrays(st.sampled_from(NUMBERS)),
    arrayOfStringExample=arrays(texts),
    arrayOfObjectType=arrays(optional(integerExample=integers, integerExampleInt32=integers)),
)


def made(object_type: dict[str, Any], staged: dict[str, Any] | None = None, key: str | None = None) -> StoredResource:
    staged_text = None if staged is None else encode(staged)
    return StoredResource(uuid4(), 3, key, AT, AT, "c", "c", encode(object_type), None, staged_text, None)


def forget_arrays(connection: Connection, project: str) -> None:
    """Leave the rows as an INSERT of an earlier version does."""
    connection.execute(
        "UPDATE resource SET arrays = NULL, staged_arrays = NULL, arrays_version = NULL WHERE project_key = %s",
        (project,),
    )


def update_as_an_earlier_version_does(connection: Connection, project: str, object_type: dict[str, Any]) -> None:
    connection.execute(
        "UPDATE resource SET object_type = %s, version = version + 1 WHERE project_key = %s",
        (encode(object_type), project),
    )


def without_valid(connection: Connection, project: str) -> int:
    row = connection.execute(
        "SELECT count(*) FROM resource WHERE project_key = %s AND arrays_version IS DISTINCT FROM version", (project,)
    ).fetchone()
    assert row is not None
    return row[0]


def fill(connection: Connection, project: str) -> None:
    while fill_arrays(connection, project):
        pass


def facets(connection: Connection, project: str, stage: Stage) -> tuple[Any, bool]:
    """All facets over arrays, terms and a range, and whether they read documents."""
    asked = [*SERVED_BY_ARRAYS, *(f"{path}:range(* to 2),(2 to 8) as r{path}" for path in SERVED_BY_ARRAYS if _n(path))]
    found = search(connection, project, Search(stage=stage, facets=read_facets(asked), paging=Paging(limit=0)))
    return json.loads(found.json)["facets"], found.has_made_arrays


def _n(path: str) -> bool:
    return path != "arrayOfStringExample"


# What Python writes and what SQL makes


@settings(many, max_examples=8)
@given(library=st.lists(st.tuples(object_types, st.none() | object_types), min_size=1, max_size=8))
def test_the_worker_writes_what_sql_makes_from_the_document(database_url: str, library: list[Any]) -> None:
    with psycopg.connect(database_url) as connection:
        bulk_store.copy_in(connection, "arrays", [made(current, staged) for current, staged in library])
        assert count_wrong_arrays(connection, "arrays") == 0
        assert without_valid(connection, "arrays") == 0
        before = [facets(connection, "arrays", stage) for stage in Stage]
        assert [has_made for _, has_made in before] == [False, False]
        forget_arrays(connection, "arrays")
        waiting = [facets(connection, "arrays", stage) for stage in Stage]
        assert [counted for counted, _ in waiting] == [counted for counted, _ in before]
        assert [has_made for _, has_made in waiting] == [True, True]
        fill(connection, "arrays")
        assert count_wrong_arrays(connection, "arrays") == 0
        assert [facets(connection, "arrays", stage) for stage in Stage] == before
        connection.rollback()


def test_each_array_is_sorted_and_has_each_value_once(connection: Connection) -> None:
    object_type = {
        "arrayOfIntExample": [2, -0.0, 10, 2],
        "arrayOfStringExample": ["b", 'a"\\', "", "b", "NULL", "é,{}()"],
        "arrayOfFloatExample": [1e300, -0.5],
        "arrayOfUniqueIntExample": [],
        "arrayOfObjectType": [{"integerExample": 7}, {}],
    }
    row = connection.execute("SELECT (%s::array_values).*", (array_values.literal(object_type),)).fetchone()
    texts = ["", "NULL", 'a"\\', "b", "é,{}()"]
    assert row == ([0, 2, 10], None, None, [-0.5, 10**300], None, texts, [7], None)
    assert array_values.EMPTY == "(,,,,,,,)"


def test_long_arrays_are_written_as_short_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(1)  # noqa: S311 -- data, not secrets
    object_type = {
        "arrayOfIntExample": [chance.randrange(500) for _ in range(1000)],
        "arrayOfFloatExample": [chance.randrange(500) / 8 for _ in range(1000)],
        "arrayOfStringExample": [str(chance.randrange(500)) for _ in range(1000)],
    }
    at_once = array_values.literal(object_type)
    monkeypatch.setattr(array_values, "_ITEMS_AT_ONCE", 7)
    assert array_values.literal(object_type).replace(" ", "") == at_once.replace(" ", "")


# Writes


def random_object(chance: random.Random) -> dict[str, Any]:
    members: dict[str, Any] = {
        "arrayOfIntExample": [chance.randrange(4) for _ in range(chance.randrange(4))],
        "arrayOfUniqueIntExample": chance.sample(range(9), chance.randrange(3)),
        "arrayOfTwonumbersExample": [chance.randrange(3), 0.5],
        "arrayOfFloatExample": [chance.choice([0.1, -0.0, 3])],
        "arrayOfNumberNoDefaultsExample": [chance.choice([2**60, 1e300])],
        "arrayOfStringExample": [chance.choice(['"', "\\", "", "a", "NULL"]) for _ in range(chance.randrange(3))],
        "arrayOfObjectType": [{"integerExample": chance.randrange(3)}, {"integerExampleInt32": 1}],
    }
    return {name: value for name, value in members.items() if chance.random() < 0.6}


def write_something(chance: random.Random, api: Api) -> None:
    key = chance.choice(["k-1", "k-2", "k-3"])
    body: dict[str, Any] = {"key": key, "objectTypeProperty": random_object(chance)}
    query = chance.choice(["", "?staged=true"])
    found = api.get(f"/key={key}")
    if found.status_code == 404:
        assert api.request(chance.choice(["POST", "PUT"]), query, json=body).status_code == 201
        return
    version = found.get_json()["version"]
    if chance.random() < 0.5:
        method = chance.choice(["POST", "PUT", "PATCH"])
        if method == "PATCH" or chance.random() < 0.5:
            body["version"] = version
        if chance.random() < 0.2:
            body |= {"id": found.get_json()["id"], "key": f"{key}"}
        assert api.request(method, query, json=body).status_code == 200
        return
    actions = [
        {"action": "publish"},
        {"action": "revertStagedChanges"},
        {"action": "doSomeThing"},
        {"action": "changeSomeProperty", "someProperty": chance.choice(["a", "b"]), "staged": chance.random() < 0.5},
    ]
    body = {"version": version, "actions": chance.choices(actions, k=chance.randrange(1, 4))}
    assert api.post(f"/{found.get_json()['id']}", json=body).status_code == 200


@pytest.mark.parametrize("seed", range(4))
def test_every_way_of_writing_keeps_the_arrays(api: Api, connection: Connection, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 -- data, not secrets
    for _ in range(60):
        write_something(chance, api)
        assert count_wrong_arrays(connection, api.project) == 0
        assert without_valid(connection, api.project) == 0


@pytest.mark.parametrize("seed", range(4))
def test_writes_on_rows_without_valid_arrays_make_no_wrong_ones(
    settings: Settings, project: str, token_for: TokenFor, connection: Connection, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 -- data, not secrets
    filled = waited = 0
    with open_app(settings) as app:
        app.extensions["database"].leisure.close()
        api = Api(app, project, token_for(f"manage_test:{project}"))
        for _ in range(60):
            if chance.random() < 0.3:
                update_as_an_earlier_version_does(connection, project, random_object(chance))
            if chance.random() < 0.1:
                fill(connection, project)
                assert without_valid(connection, project) == 0
                filled += 1
            write_something(chance, api)
            assert count_wrong_arrays(connection, project) == 0
            waited += without_valid(connection, project)
    assert filled
    assert waited, "an earlier version leaves rows that wait"


def test_bulk_writes_fill_the_arrays(connection: Connection, project: str) -> None:
    bulk_store.copy_in(connection, project, [made({"arrayOfIntExample": [1, 1]}, {"arrayOfStringExample": ["a"]})])
    with connection.transaction():
        bulk_store.insert_many(connection, project, [made({"arrayOfFloatExample": [0.5]}), made({}, {})])
    assert without_valid(connection, project) == 0
    assert count_wrong_arrays(connection, project) == 0


# Filling


def test_filling_changes_nothing_that_a_client_sees(api: Api, connection: Connection) -> None:
    created = api.create(key="k-1")
    forget_arrays(connection, api.project)
    fill(connection, api.project)
    assert without_valid(connection, api.project) == 0
    assert api.get("/key=k-1").get_json() == created


def test_rows_are_filled_some_at_a_time(connection: Connection, project: str) -> None:
    bulk_store.copy_in(connection, project, [made({"arrayOfIntExample": [number]}) for number in range(45)])
    forget_arrays(connection, project)
    left = []
    while fill_arrays(connection, project):
        left.append(without_valid(connection, project))
    assert left == [25, 5]
    assert without_valid(connection, project) == 0
    assert fill_arrays(connection, project) == 0


def test_rows_that_are_valid_are_passed_by(connection: Connection, project: str) -> None:
    bulk_store.copy_in(connection, project, [made({}) for _ in range(501)])
    connection.execute(
        "UPDATE resource SET arrays_version = NULL WHERE project_key = %(p)s AND id ="
        " (SELECT id FROM resource WHERE project_key = %(p)s ORDER BY id DESC LIMIT 1)",
        {"p": project},
    )
    assert fill_arrays(connection, project) == 1
    assert without_valid(connection, project) == 1
    assert fill_arrays(connection, project) == 0
    assert without_valid(connection, project) == 0


def test_a_facet_that_meets_waiting_rows_has_them_filled(
    settings: Settings, project: str, token_for: TokenFor, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leisure, "_DELAY_S", 0.0)
    with open_app(settings) as app:
        api = Api(app, project, token_for(f"manage_test:{project}"))
        api.create({"arrayOfIntExample": [5]})
        asked = "/searchApiPattern?facet=arrayOfIntExample&limit=0"
        before = api.get(asked).get_json()
        assert not app.extensions["database"].leisure.is_working or without_valid(connection, project) == 0
        forget_arrays(connection, project)
        assert api.get("/searchApiPattern?facet=version&limit=0").status_code == 200
        assert without_valid(connection, project) == 1
        assert api.get(asked).get_json() == before
        wait_until(lambda: without_valid(connection, project) == 0)
        assert api.get(asked).get_json() == before


def replaced(object_type: dict[str, Any]) -> Change:
    new = NewObject(encode(object_type), arrays=array_values.literal(object_type))
    return Change(Projection(new, Change().current.some_property), Projection(new, Change().staged.some_property))


@pytest.mark.parametrize("earlier_version", [True, False])
def test_filling_beside_a_writer_never_overwrites_what_it_writes(
    database_url: str, connection: Connection, project: str, earlier_version: bool
) -> None:
    resource = made({"arrayOfIntExample": [1]})
    bulk_store.copy_in(connection, project, [resource])
    forget_arrays(connection, project)
    with psycopg.connect(database_url) as writer, ThreadPoolExecutor(1) as threads:
        if earlier_version:
            update_as_an_earlier_version_does(writer, project, {"arrayOfIntExample": [2]})
        else:
            change = replaced({"arrayOfIntExample": [2]})
            store.write(writer, project, ById(str(resource.id)), change, Preconditions(), "c")
        with psycopg.connect(database_url, autocommit=True) as filler:
            filling = threads.submit(fill, filler, project)
            wait_until(
                lambda: (
                    connection.execute(
                        "SELECT FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'",
                        (filler.info.backend_pid,),
                    ).fetchone()
                    is not None
                )
            )
            writer.commit()
            filling.result(timeout=30)
    assert without_valid(connection, project) == 0
    assert count_wrong_arrays(connection, project) == 0
    counted, has_made = facets(connection, project, Stage.CURRENT)
    assert not has_made
    assert counted["arrayOfIntExample"]["terms"] == [{"term": 2.0, "count": 1}]


def test_a_writer_that_waits_for_the_filling_writes_valid_arrays(
    database_url: str, connection: Connection, project: str
) -> None:
    resource = made({"arrayOfIntExample": [1]})
    bulk_store.copy_in(connection, project, [resource])
    forget_arrays(connection, project)
    with psycopg.connect(database_url) as filler, ThreadPoolExecutor(1) as threads:
        fill(filler, project)
        with psycopg.connect(database_url, autocommit=True) as writer:
            writing = threads.submit(
                store.write,
                writer,
                project,
                ById(str(resource.id)),
                Change(touched=True),
                Preconditions(),
                "c",
            )
            wait_until(
                lambda: (
                    connection.execute(
                        "SELECT FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'",
                        (writer.info.backend_pid,),
                    ).fetchone()
                    is not None
                )
            )
            filler.commit()
            writing.result(timeout=30)
    assert without_valid(connection, project) == 0
    assert count_wrong_arrays(connection, project) == 0


# Consistency


def test_wrong_arrays_are_found_and_repaired(connection: Connection, project: str) -> None:
    bulk_store.copy_in(connection, project, [made({"arrayOfIntExample": [1]}, {}) for _ in range(3)])
    connection.execute(
        "UPDATE resource SET staged_arrays.array_of_int = '{7}' WHERE project_key = %(p)s AND id ="
        " (SELECT id FROM resource WHERE project_key = %(p)s LIMIT 1)",
        {"p": project},
    )
    assert count_wrong_arrays(connection, project) == 1
    repair_arrays(connection, project)
    assert count_wrong_arrays(connection, project) == 0


def test_the_check_tells_wrong_arrays_and_fills_those_that_wait(cluster: EmbeddedPostgres, project: str) -> None:
    url = cluster.create_database(project)
    migrate.upgrade(url)

    def run(*arguments: str) -> tuple[int, list[str]]:
        result = CliRunner().invoke(main, ["db", "check", *arguments], env={"DATABASE_URL": url})
        return result.exit_code, result.output.splitlines()

    with psycopg.connect(url, autocommit=True) as connection:
        for name in ("a", "b"):
            bulk_store.copy_in(connection, name, [made({"arrayOfIntExample": [1]}) for _ in range(2)])
        forget_arrays(connection, "a")
        assert run() == (0, ["2 projects, 0 with differences."])
        connection.execute("UPDATE resource SET object_type = '{}' WHERE project_key = 'b'")
        wrong = ["b  facets count wrong values of 2 resources"]
        assert run() == (1, [*wrong, "2 projects, 1 with differences."])
        assert run("--repair") == (0, [*wrong, "2 projects, 1 with differences, repaired."])
        assert run() == (0, ["2 projects, 0 with differences."])
        assert [without_valid(connection, name) for name in ("a", "b")] == [0, 0]
