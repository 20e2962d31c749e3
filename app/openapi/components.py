"""The tables of the OpenAPI document: path parameters, headers, links, bodies without a marshmallow schema, tags and
texts."""

from collections.abc import Mapping
from typing import Any

from app import errors
from app.resource.model import FACET_TERMS_AT_MOST, KEY_PATTERN, TOTAL_AT_MOST
from app.resource.searching.search_params import ProjectionSearchSchema
from app.values.json_fields import STORABLE_TEXT, TEXT
from app.values.parameters import QuerySchema
from app.values.patterns import PROJECT_KEY_PATTERN

Document = dict[str, Any]

PATH_PARAMETERS: Mapping[str, tuple[str, Mapping[str, Any], str, str]] = {
    "project_key": ("projectKey", {"type": "string", "pattern": f"^{PROJECT_KEY_PATTERN}$"}, "the project", "demo"),
    "resource_id": (
        "id",
        {"type": "string", "minLength": 1},
        "the id of a resource",
        "018cc251-f400-7000-8000-000000000001",
    ),
    "key": ("key", {"type": "string"}, "the key of a resource", "my-pet"),
    "uri_parameter_one": ("uriParameterOne", TEXT, "any text, also the empty text", 'lastName = "Doe"'),
    "uri_parameter_two": ("uriParameterTwo", {**TEXT, "minLength": 1}, "any text", "two"),
}
"""The variables of URL rules, each with its public name, schema, meaning and example."""

HEADERS: Mapping[str, Document] = {
    "ETag": {
        "description": "the version in quotes",
        "schema": {"type": "string", "pattern": '^"[0-9]+"$'},
        "example": '"1"',
    },
    "Location": {
        "description": "the path of the new resource",
        "schema": {"type": "string"},
        "example": "/demo/resource/018cc251-f400-7000-8000-000000000001",
    },
    "Preference-Applied": {
        "description": "the preference that chose the status",
        "schema": {"type": "string"},
        "example": "code=201",
    },
    "X-Correlation-ID": {
        "description": "the client's own, if it sent one of this form, else a new one",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_/-]{8,256}$"},
        "example": "my-app/2f0c1b7e",
    },
    "Allow": {"description": "the methods that the URL has", "schema": {"type": "string"}},
    "WWW-Authenticate": {"description": "the challenge: the scheme, and what is wrong", "schema": {"type": "string"}},
    "Retry-After": {"description": "seconds after which to try again", "schema": {"type": "string"}, "example": "1"},
}
"""The descriptions of response headers, by name."""

_ENTITY_TAGS: Document = {
    # A pattern and no enum, because for an enum the documentation page shows a list, in which nobody can type "1".
    "type": "string",
    "pattern": r'^(\*|(W/)?"[!#-~]*"(, *(W/)?"[!#-~]*")*)$',
    "examples": ['"1"'],
}

REQUEST_HEADERS: Mapping[str, Document] = {
    "If-Match": {
        "description": "entity tags; the resource must have one of them, or exist for `*`",
        "schema": _ENTITY_TAGS,
    },
    "If-None-Match": {
        "description": "entity tags; the resource must have none of them, or not exist for `*`",
        "schema": _ENTITY_TAGS,
    },
    "Prefer": {
        "description": "`code=...` chooses the status of the answer",
        "schema": {"type": "string"},
        "example": "code=200",
    },
    "X-Correlation-ID": {
        "description": "an id of 8 to 256 letters, digits, `_`, `/` and `-`, which the answer and the log line repeat",
        "schema": {"type": "string", "examples": ["my-app/2f0c1b7e"]},
    },
}
"""The descriptions of request headers, by name. All are optional texts.

Documentation pages send an example that is next to the schema, so a request with such an example must succeed. An
example inside the schema is for readers only.
"""

_SAME_RESOURCE = {"projectKey": "$request.path.projectKey", "id": "$response.body#/id"}

LINKS: Mapping[str, Document] = {
    "read": {"operationId": "getResourceById", "parameters": _SAME_RESOURCE},
    "update": {"operationId": "updateResourceById", "parameters": _SAME_RESOURCE},
    "delete": {
        "operationId": "deleteResourceById",
        "parameters": _SAME_RESOURCE | {"version": "$response.body#/version"},
    },
}
"""OpenAPI links: operations whose parameters an answer contains."""

SERVER_FIELDS: Document = {
    "id": {"type": "string", "format": "uuid"},
    "version": {"type": "integer", "format": "int64", "minimum": 1},
    "key": {"type": "string", "pattern": f"^{KEY_PATTERN}$"},
    "createdAt": {"type": "string", "format": "date-time"},
    "lastModifiedAt": {"type": "string", "format": "date-time"},
}

REQUIRED_SERVER_FIELDS = ["id", "version", "createdAt", "lastModifiedAt"]


def _object_of(required: Document, **optional: Document) -> Document:
    return {"type": "object", "required": list(required), "properties": {**required, **optional}}


def _array_of(items: Document) -> Document:
    return {"type": "array", "items": items}


def _schema(name: str) -> Document:
    return {"$ref": f"#/components/schemas/{name}"}


_TEXT: Document = {"type": "string"}
_COUNT: Document = {"type": "integer", "minimum": 0}


def _texts(**formats: Document) -> Document:
    """The schema of an object whose members are texts, each with its format or pattern."""
    return _object_of({name: {**_TEXT, **described} for name, described in formats.items()})


def _page_of(result: str, **more: Document) -> Document:
    return {
        "type": "object",
        "required": ["limit", "offset", "count", "results"],
        "properties": {
            "limit": _COUNT,
            "offset": _COUNT,
            "count": {**_COUNT, "description": "results in this page"},
            "total": {**_COUNT, "description": f"matches, exact up to {TOTAL_AT_MOST:,}"},
            "totalCapped": {"type": "boolean", "description": "true: there are more matches than total says"},
            "results": _array_of(_schema(result)),
            **more,
        },
    }


_FACETS: Mapping[str, str] = {"terms": "TermFacet", "range": "RangeFacet", "filter": "FilterFacet"}
"""The schema of each kind of facet."""


def _facet(kind: str, **members: Document) -> Document:
    return _object_of({"type": {**_TEXT, "const": kind}, **members})


def _counted(**members: Document) -> Document:
    """The schema of an object with ``count``, and with ``productCount`` if the facet counts products."""
    return _object_of({**members, "count": _COUNT}, productCount=_COUNT)


_DATE, _TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}", "[0-9]{2}:[0-9]{2}:[0-9]{2}"
_RFC_DATE = "(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4}"

_CREDENTIALS: Document = {
    "client_id": {**_TEXT, "description": "if the credentials are not in the header"},
    "client_secret": {**_TEXT, "description": "if the credentials are not in the header"},
}

SCHEMAS: Mapping[str, Document] = {
    "ApiClientReference": _object_of(
        {"typeId": {**_TEXT, "description": "`api-client`", "examples": ["api-client"]}, "id": _TEXT},
        obj={
            "type": "object",
            "description": "the API client, if `expand` names this reference and the client exists",
            "required": ["id", "name", "scopes"],
            "properties": {"id": _TEXT, "name": _TEXT, "scopes": _array_of(_TEXT)},
        },
    ),
    "Resource": {
        "type": "object",
        "required": [*REQUIRED_SERVER_FIELDS, "createdBy", "lastModifiedBy", "objectTypeProperty"],
        "properties": {
            **SERVER_FIELDS,
            "createdBy": _schema("ApiClientReference"),
            "lastModifiedBy": _schema("ApiClientReference"),
            "objectTypeProperty": _schema("ObjectType"),
            "someProperty": STORABLE_TEXT,
        },
    },
    "ResourcePage": _page_of("Resource"),
    "ProjectionPage": _page_of(
        "Projection",
        facets={
            "type": "object",
            "description": "the result of each facet, by its name; absent if the request has no facet",
            "additionalProperties": _schema("FacetResult"),
        },
    ),
    "FacetResult": {
        "oneOf": [_schema(name) for name in _FACETS.values()],
        "discriminator": {
            "propertyName": "type",
            "mapping": {kind: f"#/components/schemas/{name}" for kind, name in _FACETS.items()},
        },
    },
    "TermFacet": _facet(
        "terms",
        dataType={**_TEXT, "description": "`text`, `number` or `datetime`", "examples": ["text"]},
        missing={**_COUNT, "description": "resources without a value"},
        total={**_COUNT, "description": "the sum of the counts of all terms"},
        other={**_COUNT, "description": "the sum of the counts of terms that are not listed"},
        terms={
            "type": "array",
            "maxItems": FACET_TERMS_AT_MOST,
            "description": "the values that most resources have, the most frequent first",
            "items": _counted(term={"type": ["string", "number"]}),
        },
    ),
    "RangeFacet": _facet(
        "range",
        ranges=_array_of(
            _counted(
                **{"from": {"type": "number", "description": "the lower bound, which belongs to the range; 0 if open"}},
                fromStr={**_TEXT, "description": "the same bound as text; empty if open"},
                to={"type": "number", "description": "the upper bound, which does not belong to the range; 0 if open"},
                toStr={**_TEXT, "description": "the same bound as text; empty if open"},
                total={"type": "number", "description": "the sum of the values"},
                min={"type": "number"},
                max={"type": "number"},
                mean={"type": "number"},
            ),
        ),
    ),
    "FilterFacet": _counted(type={**_TEXT, "const": "filter"}),
    "FlatResourcePage": _page_of("FlatResource"),
    "DateTimes": _texts(
        dateOnlyExample={"format": "date"},
        timeOnlyExample={"pattern": f"^{_TIME}$", "examples": ["16:41:41"]},
        dateTimeOnlyExample={"pattern": f"^{_DATE}T{_TIME}$", "examples": ["2016-02-28T16:41:41"]},
        dateTimeExample={"format": "date-time"},
        dateTimeExampleDefaultFormat={"format": "date-time"},
        dateTimeExampleRfc={
            "pattern": f"^{_RFC_DATE} {_TIME} GMT$",
            "examples": ["Sun, 28 Feb 2016 16:41:41 GMT"],
        },
    ),
    "Error": _object_of(
        {
            "statusCode": {"type": "integer"},
            "message": {**_TEXT, "description": "the message of the first entry"},
            "errors": {"type": "array", "minItems": 1, "items": _schema("ErrorObject")},
        },
        error={**_TEXT, "description": "the OAuth code"},
        error_description=_TEXT,
    ),
    "ErrorObject": _object_of(
        {
            "code": {
                **_TEXT,
                "description": "one of " + ", ".join(f"`{code}`" for code in errors.CATALOGUE),
                "examples": ["InvalidInput"],
            },
            "message": _TEXT,
        },
        detailedErrorMessage={**_TEXT, "description": "`path -> to -> field: reason`"},
        field=_TEXT,
        invalidValue={"description": "the value as JSON; a number beyond all doubles as a text"},
        duplicateValue={"description": "the value as JSON"},
        currentVersion={"type": "integer", "format": "int64", "description": "the actual version"},
    ),
    "TokenRequest": _object_of(
        {"grant_type": {**_TEXT, "const": "client_credentials"}},
        scope={**_TEXT, "description": "scopes, separated by spaces; if not given, all scopes of the client"},
        **_CREDENTIALS,
    ),
    "Token": _object_of(
        {
            "access_token": _TEXT,
            "token_type": {**_TEXT, "const": "Bearer"},
            "expires_in": {"type": "integer", "description": "seconds"},
            "scope": {**_TEXT, "description": "the granted scopes, separated by spaces"},
        }
    ),
    "TokenToExamine": _object_of(
        {"token": {**_TEXT, "minLength": 1}},
        token_type_hint={**_TEXT, "description": "makes no difference"},
        **_CREDENTIALS,
    ),
    "Introspection": _object_of(
        {"active": {"type": "boolean"}},
        scope=_TEXT,
        client_id=_TEXT,
        token_type=_TEXT,
        exp={"type": "integer", "description": "seconds since 1970"},
        iat={"type": "integer", "description": "seconds since 1970"},
        sub=_TEXT,
        aud=_TEXT,
        iss=_TEXT,
        jti=_TEXT,
    ),
    "Nothing": {"type": "object", "additionalProperties": False},
    "KeySet": _object_of({"keys": _array_of({"type": "object"})}),
    "ServerMetadata": {
        "type": "object",
        "required": ["issuer", "token_endpoint", "jwks_uri", "response_types_supported"],
        "properties": {
            "issuer": _TEXT,
            "token_endpoint": _TEXT,
            "jwks_uri": _TEXT,
            "introspection_endpoint": _TEXT,
            "revocation_endpoint": _TEXT,
            "service_documentation": _TEXT,
            "token_endpoint_auth_methods_supported": _array_of(_TEXT),
            "grant_types_supported": _array_of(_TEXT),
            "response_types_supported": _array_of(_TEXT),
            "introspection_endpoint_auth_methods_supported": _array_of(_TEXT),
            "revocation_endpoint_auth_methods_supported": _array_of(_TEXT),
        },
    },
    "Status": _object_of(
        {"status": _TEXT},
        warnings={
            "type": "object",
            "description": "Problems for an operator to solve while requests are served; absent if there are none.",
            "additionalProperties": _TEXT,
        },
    ),
}
"""The schemas of bodies that no marshmallow schema describes, because PostgreSQL or a view makes them."""

FORMS: Mapping[str, type[QuerySchema]] = {"SearchForm": ProjectionSearchSchema}
"""The forms whose fields may also be in the query string."""

TAGS: Mapping[str, tuple[str, str]] = {
    "resource": ("Resource", "Create, read, list, update and delete the resources of a project."),
    "search": ("Search", "Full text, filters and facets over the current or the staged projection."),
    "echo": ("Echo", "Endpoints that store nothing and return what they received."),
    "oauth": ("Authorization", "Get, examine and revoke access tokens; the keys that verify them."),
    "health": ("Service", "Health and metrics, for operators."),
}
"""The name and meaning of each blueprint's tag, in the order of the documentation page."""

DESCRIPTION = """\
A durable server for a project-scoped resource with optimistic locking, two projections, a query language and bearer
scopes for each project. It follows the conventions of commercetools' HTTP API, also in its errors.

### Two minutes

1. **Authorize.** The first `make run` prints a client for the project `demo`, and each `make run` a token. Under
   *Authorize*, give the client's id and secret as *clientCredentials*, or paste the token as *bearer*.
2. **Create.** `POST /demo/resource` with a `key` creates a resource; the same request again updates it. `GET` finds
   the resource in the list and as `/demo/resource/key=my-pet`.
3. **Ask.** Lists take a predicate in `where`, such as `arrayOfStringExample contains any :words and version < 5`, with
   its variables in `var.words=dog&var.words=bird`. Search takes words, as in `text.en=dogs`, filters and facets.
4. **Update.** `POST /demo/resource/{id}` applies actions to the version that you have read. If another client was
   faster, nothing changes, and the 409 has the actual version.
5. **Stage.** With `staged=true` a write changes the staged projection only; the action `publish` copies it over the
   current one.

Every error has the body `{"statusCode", "message", "errors": [...]}`, with an entry in `errors` for each invalid value
and the path to the value.

In a request body, `null` means that an optional field is absent. The schemas do not show this, because one schema
describes requests and answers, and answers never have a `null`.
"""
