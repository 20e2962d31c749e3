"""The endpoints of bare_flask.py with FastAPI, asyncpg and uvicorn, to compare with an asynchronous stack."""

import json
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import asyncpg
from fastapi import FastAPI, Request, Response

COLUMNS = "id, version, key, created_at, last_modified_at, object_type"


async def no_reset(_connection: Any) -> None:
    """Do not reset connections, since no statement here changes their state."""


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    connections = int(os.environ["THREADS"])
    app.state.pool = await asyncpg.create_pool(
        os.environ["DATABASE_URL"], min_size=connections, max_size=connections, reset=no_reset
    )
    yield
    await app.state.pool.close()


app = FastAPI(lifespan=lifespan, openapi_url=None)


async def run(statement: str, *parameters: Any) -> list[Any]:
    async with app.state.pool.acquire() as connection:
        return await connection.fetch(statement, *parameters)


def text_of(row: Any) -> str:
    resource_id, version, key, created_at, last_modified_at, object_type = row
    return (
        f'{{"id":"{resource_id}","version":{version},"key":"{key or ""}","createdAt":"{created_at.isoformat()}",'
        f'"lastModifiedAt":"{last_modified_at.isoformat()}","objectTypeProperty":{object_type}}}'
    )


def answer(text: str, status: int = 200) -> Response:
    return Response(text, status, media_type="application/json")


def one(rows: list[Any], otherwise: int = 404) -> Response:
    return answer(text_of(rows[0])) if rows else answer("{}", otherwise)


def page(rows: Iterable[Any]) -> Response:
    return answer(f'{{"results":[{",".join(map(text_of, rows))}]}}')


@app.get("/{project}/resource/key={key}")
async def get_by_key(project: str, key: str) -> Response:
    return one(await run(f"SELECT {COLUMNS} FROM resource WHERE project_key = $1 AND key = $2", project, key))


@app.get("/{project}/resource/{resource_id}")
async def get_by_id(project: str, resource_id: UUID) -> Response:
    return one(await run(f"SELECT {COLUMNS} FROM resource WHERE project_key = $1 AND id = $2", project, resource_id))


@app.post("/{project}/resource")
async def create(project: str, request: Request) -> Response:
    body = json.loads(await request.body())
    rows = await run(
        f"INSERT INTO resource (project_key, id, key, object_type) VALUES ($1, $2, $3, $4) RETURNING {COLUMNS}",
        project,
        uuid4(),
        body.get("key"),
        json.dumps(body["objectTypeProperty"]),
    )
    return answer(text_of(rows[0]), 201)


@app.post("/{project}/resource/{resource_id}")
async def update(project: str, resource_id: UUID, request: Request) -> Response:
    body = json.loads(await request.body())
    return one(
        await run(
            "UPDATE resource SET some_property = $1, version = version + 1, last_modified_at = now()"
            f" WHERE project_key = $2 AND id = $3 AND version = $4 RETURNING {COLUMNS}",
            body["actions"][0]["someProperty"],
            project,
            resource_id,
            body["version"],
        ),
        otherwise=409,
    )


@app.get("/{project}/resource")
async def list_resources(project: str, request: Request) -> Response:
    limit = int(request.query_params.get("limit", 20))
    text = request.query_params.get("arrayOfString")
    if text is None:
        return page(
            await run(f"SELECT {COLUMNS} FROM resource WHERE project_key = $1 ORDER BY id LIMIT $2", project, limit)
        )
    return page(
        await run(
            f"SELECT {COLUMNS} FROM resource WHERE project_key = $1 AND object @> $2 ORDER BY id LIMIT $3",
            project,
            json.dumps({"arrayOfStringExample": [text]}),
            limit,
        )
    )
