"""What a user would write instead of the service, with the same frameworks, each used as its documentation shows.

flask-smorest's views and marshmallow's schemas, a bearer token that is looked up with its scopes for each request,
entity tags, a correlation id, a JSON line and two metrics for each request, one psycopg statement on a connection from
a pool. There are no staged projections, actions of other kinds, query language, search or sandbox.
"""

# ruff: noqa: N815 -- the names of the interface

import hashlib
import json
import logging
import os
import sys
import time
from typing import Any, LiteralString
from uuid import uuid4

from flask import Flask, Response, g, request
from flask.views import MethodView
from flask_smorest import Api, Blueprint, abort
from marshmallow import Schema, fields, validate
from prometheus_client import Counter, Histogram
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

COLUMNS: LiteralString = "id, version, key, created_at, last_modified_at, object_type"

_connections = int(os.environ["CONNECTIONS"])
pool = ConnectionPool(
    os.environ["DATABASE_URL"],
    kwargs={"autocommit": True, "row_factory": dict_row},
    min_size=_connections,
    max_size=_connections,
    timeout=30,
    open=True,
)

app = Flask(__name__)
app.config.update(API_TITLE="Resources", API_VERSION="v1", OPENAPI_VERSION="3.1.0", OPENAPI_URL_PREFIX="/")
api = Api(app)
blueprint = Blueprint("resource", __name__, url_prefix="/<project>/resource")


# Around every request

answered = Counter("requests", "Answered requests", ("method", "endpoint", "status"))
seconds = Histogram("request_seconds", "Time to an answer", ("method", "endpoint"))
log = logging.getLogger("documented")
log.addHandler(logging.StreamHandler(sys.stderr))
log.setLevel(logging.INFO)


@app.before_request
def begin() -> None:
    g.began = time.perf_counter()
    g.correlation_id = request.headers.get("X-Correlation-ID") or str(uuid4())


@app.before_request
def authorize() -> None:
    if not request.view_args:  # openapi.json, and unknown paths
        return
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    digest = hashlib.sha256(token.encode()).digest()
    with pool.connection() as connection:
        statement = "SELECT scope FROM token WHERE digest = %s AND expires_at > now()"
        found = connection.execute(statement, (digest,)).fetchone()
    if found is None:
        abort(401)
    if scheme.lower() != "bearer" or f"manage_test:{request.view_args['project']}" not in found["scope"].split():
        abort(403)


@app.after_request
def finish(response: Response) -> Response:
    took = time.perf_counter() - g.began
    endpoint = request.endpoint or ""
    response.headers["X-Correlation-ID"] = g.correlation_id
    answered.labels(request.method, endpoint, response.status_code).inc()
    seconds.labels(request.method, endpoint).observe(took)
    line = {
        "time": time.time(),
        "method": request.method,
        "path": request.path,
        "status": response.status_code,
        "ms": round(took * 1000, 3),
        "correlationId": g.correlation_id,
    }
    log.info(json.dumps(line))
    return response


# Schemas


class ElementSchema(Schema):
    integerExample = fields.Integer(strict=True)
    integerExampleInt32 = fields.Integer(strict=True, validate=validate.Range(-(2**31), 2**31 - 1))


class ObjectTypeSchema(Schema):
    arrayOfIntExample = fields.List(fields.Integer(strict=True))
    arrayOfUniqueIntExample = fields.List(fields.Integer(strict=True))
    arrayOfTwonumbersExample = fields.List(fields.Float(), validate=validate.Length(equal=2))
    arrayOfFloatExample = fields.List(fields.Float())
    arrayOfNumberNoDefaultsExample = fields.List(fields.Float())
    arrayOfStringExample = fields.List(fields.String())
    arrayOfObjectType = fields.List(fields.Nested(ElementSchema))


class DraftSchema(Schema):
    key = fields.String(validate=validate.Regexp("^[A-Za-z0-9_-]{2,256}$"))
    objectTypeProperty = fields.Nested(ObjectTypeSchema, required=True)


class ResourceSchema(DraftSchema):
    id = fields.UUID()
    version = fields.Integer()
    createdAt = fields.DateTime()
    lastModifiedAt = fields.DateTime()


class ActionSchema(Schema):
    action = fields.String(required=True, validate=validate.OneOf(["changeSomeProperty"]))
    someProperty = fields.String(required=True)


class UpdateSchema(Schema):
    version = fields.Integer(required=True)
    actions = fields.List(fields.Nested(ActionSchema), required=True, validate=validate.Length(min=1))


class PageQuerySchema(Schema):
    limit = fields.Integer(load_default=20, validate=validate.Range(0, 500))
    withTotal = fields.Boolean(load_default=False)
    arrayOfString = fields.String(load_default=None)


class PageSchema(Schema):
    total = fields.Integer()
    results = fields.List(fields.Nested(ResourceSchema))


# Views


def run(statement: LiteralString, *parameters: Any) -> list[dict[str, Any]]:
    with pool.connection() as connection:
        return connection.execute(statement, parameters).fetchall()


def resource_of(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "version": row["version"],
        **({"key": row["key"]} if row["key"] else {}),
        "createdAt": row["created_at"],
        "lastModifiedAt": row["last_modified_at"],
        "objectTypeProperty": json.loads(row["object_type"]),
    }


def tagged(row: dict[str, Any]) -> dict[str, Any]:
    blueprint.set_etag({"version": row["version"]})
    return resource_of(row)


@blueprint.route("")
class Collection(MethodView):
    @blueprint.arguments(PageQuerySchema, location="query")
    @blueprint.response(200, PageSchema)
    def get(self, query: dict[str, Any], project: str) -> dict[str, Any]:
        conditions: LiteralString = "project_key = %s"
        parameters: list[Any] = [project]
        if query["arrayOfString"] is not None:
            conditions += " AND object @> %s"
            parameters.append(Jsonb({"arrayOfStringExample": [query["arrayOfString"]]}))
        rows = run(
            f"SELECT {COLUMNS} FROM resource WHERE {conditions} ORDER BY id LIMIT %s", *parameters, query["limit"]
        )
        page: dict[str, Any] = {"results": list(map(resource_of, rows))}
        if query["withTotal"]:
            page["total"] = run(f"SELECT count(*) AS total FROM resource WHERE {conditions}", *parameters)[0]["total"]
        return page

    @blueprint.etag
    @blueprint.arguments(DraftSchema)
    @blueprint.response(201, ResourceSchema)
    def post(self, draft: dict[str, Any], project: str) -> dict[str, Any]:
        [row] = run(
            f"INSERT INTO resource (project_key, id, key, object_type) VALUES (%s, %s, %s, %s) RETURNING {COLUMNS}",
            project,
            uuid4(),
            draft.get("key"),
            json.dumps(draft["objectTypeProperty"]),
        )
        return tagged(row)


@blueprint.route("/key=<key>")
class ItemByKey(MethodView):
    @blueprint.etag
    @blueprint.response(200, ResourceSchema)
    def get(self, project: str, key: str) -> dict[str, Any]:
        rows = run(f"SELECT {COLUMNS} FROM resource WHERE project_key = %s AND key = %s", project, key)
        if not rows:
            abort(404)
        return tagged(rows[0])


@blueprint.route("/<uuid:resource_id>")
class Item(MethodView):
    @blueprint.etag
    @blueprint.response(200, ResourceSchema)
    def get(self, project: str, resource_id: Any) -> dict[str, Any]:
        rows = run(f"SELECT {COLUMNS} FROM resource WHERE project_key = %s AND id = %s", project, resource_id)
        if not rows:
            abort(404)
        return tagged(rows[0])

    @blueprint.etag
    @blueprint.arguments(UpdateSchema)
    @blueprint.response(200, ResourceSchema)
    def post(self, update: dict[str, Any], project: str, resource_id: Any) -> dict[str, Any]:
        rows = run(
            "UPDATE resource SET some_property = %s, version = version + 1, last_modified_at = now()"
            f" WHERE project_key = %s AND id = %s AND version = %s RETURNING {COLUMNS}",
            update["actions"][-1]["someProperty"],
            project,
            resource_id,
            update["version"],
        )
        if not rows:
            abort(409)
        return tagged(rows[0])


api.register_blueprint(blueprint)
