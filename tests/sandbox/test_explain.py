"""Explain: the tree, the SQL, the plan, and the index of each condition."""

from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask

from app.database.admission import Lane
from app.database.connection import Connection
from app.database.pool import Database
from app.query.object_fields import looked_at_by
from app.sandbox.api import explain
from tests.support.sandbox import Project


def explained(project: Project, operation_id: str, query: str) -> dict[str, Any]:
    answer = project.order("POST", "/explain", {"operationId": operation_id, "query": query})
    assert answer.status == 200, answer.text
    return answer.json


def where(text: str) -> str:
    return f"where={quote(text)}"


@pytest.mark.parametrize(
    ("condition", "indexes"),
    [
        ("version > 3", ["resource_version"]),
        ('key = "a" and version = 1', ["resource_key", "resource_version"]),
        ('id = "x" or createdAt < "2030-01-01"', ["resource_pkey", "resource_created_at"]),
        ('arrayOfStringExample contains any ("a")', ["resource_object"]),
        ("arrayOfIntExample > 3", [None]),
        ("key is defined", [None]),
        ("version != 3", [None]),
        ('someProperty matches ignore case "x"', [None]),
        ("arrayOfObjectType(integerExample = 7)", ["resource_object"]),
        ("arrayOfObjectType(integerExample > 7)", [None]),
    ],
)
def test_each_condition_has_its_index(throwaway: Project, condition: str, indexes: list[str | None]) -> None:
    found = explained(throwaway, "listResourcesSorted", where(condition))
    assert [each["index"] for each in found["conditions"]] == indexes


def test_the_tree_is_what_was_parsed(throwaway: Project) -> None:
    found = explained(
        throwaway, "listResources", where('version > 3 or not (key in ("a", "b"))') + "&integerParameter=5"
    )
    assert found["tree"] == {
        "and": [
            {
                "or": [
                    {"field": name, "operator": "contains any", "values": [5]}
                    for name in looked_at_by("integerParameter")
                ]
            },
            {
                "or": [
                    {"field": "version", "operator": ">", "values": [3]},
                    {"field": "key", "operator": "in", "values": ["a", "b"], "negated": True},
                ]
            },
        ]
    }
    assert explained(throwaway, "checkResources", "")["tree"] is None


def test_a_search_is_explained_too(throwaway: Project) -> None:
    found = explained(throwaway, "searchResources", "text.en=dog&staged=true&filter=" + quote('key:"a"'))
    assert [each["index"] for each in found["conditions"]] == ["resource_staged_words", "resource_key"]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"operationId": "listResources", "query": "where=version%20%3E"}, "where"),
        ({"operationId": "listResources", "query": "wher=1"}, "wher"),
        ({"operationId": "listResources", "query": "where=%FF"}, "UTF-8"),
        ({"operationId": "getResourceById"}, "operationId"),
        ({"query": ""}, "operationId"),
    ],
)
def test_what_the_read_would_refuse_is_refused(throwaway: Project, body: dict[str, str], text: str) -> None:
    answer = throwaway.order("POST", "/explain", body)
    assert answer.status == 400
    assert text in answer.text


@pytest.mark.parametrize(
    ("operation_id", "query", "parameter", "line", "column"),
    [
        ("listResourcesSorted", where("version >"), "where", 1, 10),
        ("listResources", where('key = "a" and\n  version ? 3'), "where", 2, 11),
        ("searchResources", "filter=" + quote("version:range(1 too 3)"), "filter", 1, 19),
    ],
)
def test_a_fault_of_an_expression_has_its_place(
    throwaway: Project, operation_id: str, query: str, parameter: str, line: int, column: int
) -> None:
    answer = throwaway.order("POST", "/explain", {"operationId": operation_id, "query": query})
    assert answer.status == 400
    (fault,) = answer.json["errors"]
    assert (fault["parameter"], fault["line"], fault["column"]) == (parameter, line, column)


@pytest.mark.parametrize(
    ("operation_id", "query", "count"),
    [
        ("listResources", "integerParameter=7", 1),
        ("listResourcesSorted", where('key = "one"'), 1),
        ("searchResources", "text.en=dogs&facet=version", 1),
        ("searchResources", "text.en=cats", 0),
    ],
)
def test_a_read_is_executed_if_that_is_asked_for(throwaway: Project, operation_id: str, query: str, count: int) -> None:
    fields = {"arrayOfIntExample": [7], "arrayOfStringExample": ["dogs"]}
    throwaway.create(key="one", objectTypeProperty=fields)
    order = {"operationId": operation_id, "query": query, "execute": True}
    answer = throwaway.order("POST", "/explain", order).json["answer"]
    assert answer["total"] == count
    assert len(answer["results"]) == count
    assert [entry["operationId"] for entry in throwaway.entries()] == ["createOrUpdateResource"]


def test_an_existence_check_is_executed_too(throwaway: Project) -> None:
    order = {"operationId": "checkResources", "query": "integerParameter=7", "execute": True}
    assert throwaway.order("POST", "/explain", order).json["answer"] is False


def test_the_indexes_that_it_names_are_there(connection: Connection) -> None:
    rows = connection.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'resource'").fetchall()
    named = {*explain.INDEX_OF_FIELD.values(), *explain.DOCUMENT_INDEX.values(), *explain.WORDS_INDEX.values()}
    assert named <= {row[0] for row in rows}


@pytest.mark.parametrize(
    ("operation_id", "query", "lane"),
    [
        ("listResourcesSorted", "", Lane.FAST),
        ("listResourcesSorted", where("key is defined"), Lane.SLOW),
        ("listResources", "offset=2000", Lane.SLOW),
        ("checkResources", where("key is defined"), Lane.SLOW),
        ("searchResources", "facet=key", Lane.SLOW),
        ("searchResources", "text.en=dog", Lane.SLOW),
        ("searchResources", "", Lane.FAST),
    ],
)
def test_what_is_executed_is_admitted_as_the_read_itself(
    app: Flask, project: str, monkeypatch: pytest.MonkeyPatch, operation_id: str, query: str, lane: Lane
) -> None:
    database: Database = app.extensions["database"]
    lanes: list[Lane] = []
    connection = database.connection

    def noted(project_key: str = "", asked: Lane = Lane.FAST) -> Any:
        if project_key == project:  # others may have left work, for which a thread asks
            lanes.append(asked)
        return connection(project_key, asked)

    monkeypatch.setattr(database, "connection", noted)
    found = explain.explain(database, project, operation_id, query, execute=True)
    assert "answer" in found
    assert lanes == [lane]
