"""The columns with the distinct values of arrays: facets count them instead of the documents.

``count_wrong_arrays``, which ``db check`` uses too, holds them against the documents.
"""

import random
import time
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cli import main
from app.database import migrate
from app.database.connection import Connection
from app.query.fields import Stage
from app.query.object_fields import DOUBLE, INT32, INT64, NUMBER, TEXT
from app.resource import bulk_store
from app.resource.array_check import count_wrong_arrays, repair_arrays
from app.resource.array_values import array_columns, columns_of
from app.resource.model import ResourceRow
from app.resource.object_type import ObjectType
from app.serving.embedded import EmbeddedPostgres
from app.values.strict_json import encode
from tests.support.api import Api
from tests.support.generated import examples
from tests.support.object_types import object_types
from tests.support.oracle import INTEGERS, NUMBERS, many, texts

AT = "2030-01-01T00:00:00.000Z"

integers, numbers = st.sampled_from([*INTEGERS, -0.0]), st.sampled_from([*NUMBERS, -0.0])
anything = object_types({INT64: integers, INT32: integers, NUMBER: numbers, DOUBLE: numbers, TEXT: texts}, at_most=3)


def test_a_large_array_is_made_in_parts_between_which_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    few, many = list(range(100)), list(range(30_000))
    for items, count in ((few, 0), (many, 8)):  # between four parts that are sorted, merged, and written
        pauses.clear()
        items.reverse()
        columns = array_columns(ObjectType.of({"arrayOfIntExample": items}))
        assert f"{{{', '.join(map(str, sorted(items)))}}}" in columns.values()
        assert pauses == [0] * count
    texts_of = array_columns(ObjectType.of({"arrayOfStringExample": [f"{item:05}" for item in many]})).values()
    assert '{"' + '","'.join(f"{item:05}" for item in sorted(many)) + '"}' in texts_of


def made(object_type: dict[str, Any], staged: dict[str, Any] | None = None, key: str | None = None) -> ResourceRow:
    staged_text = None if staged is None else encode(staged)
    return ResourceRow(uuid4(), 3, key, AT, AT, "c", "c", encode(object_type), None, staged_text, None)


# What Python writes and what SQL makes


@settings(many, max_examples=examples(20))
@given(library=st.lists(st.tuples(anything, st.none() | anything), min_size=1, max_size=8))
def test_the_worker_writes_what_sql_makes_from_the_document(database_url: str, library: list[Any]) -> None:
    with psycopg.connect(database_url) as connection:
        bulk_store.copy_in(connection, "arrays", [made(current, staged) for current, staged in library])
        assert count_wrong_arrays(connection, "arrays") == 0
        connection.rollback()


def test_each_array_is_sorted_and_has_each_value_once() -> None:
    object_type = {
        "arrayOfIntExample": [2, 0, 10, 2],
        "arrayOfUniqueIntExample": [],
        "arrayOfFloatExample": [1e300, -0.5],
        "arrayOfStringExample": ["b", 'a"\\', "", "b", "NULL", "é,{}()"],
        "arrayOfObjectType": [{"integerExample": 7}, {}],
    }
    columns = array_columns(ObjectType(encode(object_type)))
    assert {name: literal for name, literal in columns.items() if literal is not None} == {
        "array_of_int": "{0, 2, 10}",
        "array_of_float": "{-0.5, 1e+300}",
        "array_of_string": r'{"","NULL","a\"\\","b","é,{}()"}',
        "object_integer": "{7}",
    }
    assert array_columns(None) == array_columns(ObjectType()) == dict.fromkeys(columns_of(Stage.CURRENT))


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


def test_bulk_writes_fill_the_arrays(connection: Connection, project: str) -> None:
    bulk_store.copy_in(connection, project, [made({"arrayOfIntExample": [1, 1]}, {"arrayOfStringExample": ["a"]})])
    with connection.transaction():
        bulk_store.insert_many(connection, project, [made({"arrayOfFloatExample": [0.5]}), made({}, {})])
    assert bulk_store.count(connection, project) == 3
    assert count_wrong_arrays(connection, project) == 0


# Consistency


def test_a_repair_makes_wrong_arrays_anew(connection: Connection, project: str) -> None:
    bulk_store.copy_in(connection, project, [made({"arrayOfIntExample": [1]}, {}) for _ in range(501)])
    connection.execute("UPDATE resource SET staged_array_of_int = '{7}' WHERE project_key = %s", (project,))
    assert count_wrong_arrays(connection, project) == 501
    repair_arrays(connection, project)
    assert count_wrong_arrays(connection, project) == 0


def test_the_check_tells_wrong_arrays_and_repairs_them(cluster: EmbeddedPostgres, project: str) -> None:
    url = cluster.create_database(project)
    migrate.upgrade(url)

    def run(*arguments: str) -> tuple[int, list[str]]:
        result = CliRunner().invoke(main, ["db", "check", *arguments], env={"DATABASE_URL": url})
        return result.exit_code, result.output.splitlines()

    with psycopg.connect(url, autocommit=True) as connection:
        for name in ("a", "b"):
            bulk_store.copy_in(connection, name, [made({"arrayOfIntExample": [1]}) for _ in range(2)])
        connection.execute("UPDATE resource SET object_type = '{}' WHERE project_key = 'b'")
        wrong = ["b  facets count wrong values of 2 resources"]
        assert run() == (1, [*wrong, "2 projects, 1 with differences."])
        assert run("--repair") == (0, [*wrong, "2 projects, 1 with differences, repaired."])
        assert run() == (0, ["2 projects, 0 with differences."])
