"""The upper bound for the service: a Flask application with psycopg that does no more than answer with resources.

It sends one statement a request on a connection from a pool. There is no authentication, log or validation, and no
error but 404 and 409. It is written for speed: autocommit, documents stored as text beside their jsonb and never
parsed, answers composed as text.
"""

import json
import os
from collections.abc import Iterable
from typing import Any, LiteralString
from uuid import UUID, uuid4

from flask import Flask, Response, request
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

COLUMNS: LiteralString = "id, version, key, created_at, last_modified_at, object_type"

app = Flask(__name__)

_connections = int(os.environ["CONNECTIONS"])
pool = ConnectionPool(
    os.environ["DATABASE_URL"],
    kwargs={"autocommit": True},
    min_size=_connections,
    max_size=_connections,
    timeout=30,
    open=True,
)


def run(statement: LiteralString, *parameters: Any) -> list[tuple[Any, ...]]:
    with pool.connection() as connection:
        return connection.execute(statement, parameters).fetchall()


def text_of(row: tuple[Any, ...]) -> str:
    resource_id, version, key, created_at, last_modified_at, object_type = row
    return (
        f'{{"id":"{resource_id}","version":{version},"key":"{key or ""}","createdAt":"{created_at.isoformat()}",'
        f'"lastModifiedAt":"{last_modified_at.isoformat()}","objectTypeProperty":{object_type}}}'
    )


def answer(text: str, status: int = 200) -> Response:
    return Response(text, status, content_type="application/json")


def one(rows: list[tuple[Any, ...]], otherwise: int = 404) -> Response:
    return answer(text_of(rows[0])) if rows else answer("{}", otherwise)


def page(rows: Iterable[tuple[Any, ...]]) -> Response:
    return answer(f'{{"results":[{",".join(map(text_of, rows))}]}}')


@app.get("/<project>/resource/<uuid:resource_id>")
def get_by_id(project: str, resource_id: UUID) -> Response:
    return one(run(f"SELECT {COLUMNS} FROM resource WHERE project_key = %s AND id = %s", project, resource_id))


@app.get("/<project>/resource/key=<key>")
def get_by_key(project: str, key: str) -> Response:
    return one(run(f"SELECT {COLUMNS} FROM resource WHERE project_key = %s AND key = %s", project, key))


@app.post("/<project>/resource")
def create(project: str) -> Response:
    body = request.get_json()
    rows = run(
        f"INSERT INTO resource (project_key, id, key, object_type) VALUES (%s, %s, %s, %s) RETURNING {COLUMNS}",
        project,
        uuid4(),
        body.get("key"),
        json.dumps(body["objectTypeProperty"]),
    )
    return answer(text_of(rows[0]), 201)


@app.post("/<project>/resource/<uuid:resource_id>")
def update(project: str, resource_id: UUID) -> Response:
    body = request.get_json()
    return one(
        run(
            "UPDATE resource SET some_property = %s, version = version + 1, last_modified_at = now()"
            f" WHERE project_key = %s AND id = %s AND version = %s RETURNING {COLUMNS}",
            body["actions"][0]["someProperty"],
            project,
            resource_id,
            body["version"],
        ),
        otherwise=409,
    )


@app.get("/<project>/resource")
def list_resources(project: str) -> Response:
    limit = request.args.get("limit", 20, int)
    text = request.args.get("arrayOfString")
    if text is None:
        rows = run(f"SELECT {COLUMNS} FROM resource WHERE project_key = %s ORDER BY id LIMIT %s", project, limit)
        if "withTotal" in request.args:
            [[total]] = run("SELECT count(*) FROM resource WHERE project_key = %s", project)
            return answer(f'{{"total":{total},"results":[{",".join(map(text_of, rows))}]}}')
        return page(rows)
    return page(
        run(
            f"SELECT {COLUMNS} FROM resource WHERE project_key = %s AND object @> %s ORDER BY id LIMIT %s",
            project,
            Jsonb({"arrayOfStringExample": [text]}),
            limit,
        )
    )
