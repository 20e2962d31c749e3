"""The contract as an OpenAPI 3.1 document, made from what runs the service: URL map, marks, schemas, error catalogue.

A view says with :func:`operation` what cannot be read off it: its name and its answers. Everything else is derived: the
parameters and bodies from their schemas, security from the scopes, and the refusals from what the view takes.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from flask import Flask
from flask_smorest import Api
from werkzeug.routing import Rule

from app import errors
from app.config import Settings
from app.identity.gate import accepted_scopes
from app.identity.server import SCOPE_NAMES
from app.resource.actions import REGISTRY
from app.resource.model import KEY_PATTERN, PROJECT_KEY_PATTERN
from app.resource.params import Parameter, ParameterFamily, QuerySchema, SearchSchema
from app.resource.schemas import ACTION_SCHEMAS, ContainedObjectTypeSchema
from app.values.json_fields import STORABLE_TEXT

Document = dict[str, Any]
AnyView = TypeVar("AnyView", bound=Callable[..., Any])

# What a view says of itself

_MARK = "openapi_operation"


@dataclass(frozen=True, slots=True)
class Answer:
    """A response that is not a refusal.

    :param schema: the name of a schema in :data:`SCHEMAS`; None for an answer without a body.
    :param headers: names of rows of :data:`HEADERS`.
    :param media_types: what the body can be.
    :param links: names of rows of :data:`LINKS`.
    """

    status: int
    schema: str | None
    description: str
    headers: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ("application/json",)
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """What a view says of itself.

    :param refusals: codes of the error catalogue that do not follow from what the view takes.
    :param headers: names of rows of :data:`REQUEST_HEADERS`.
    :param form: the schema of a form body: the name of a row of :data:`SCHEMAS` or of :data:`FORMS`.
    """

    id: str
    answers: tuple[Answer, ...]
    refusals: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    form: str | None = None


def operation(
    operation_id: str,
    *answers: Answer,
    refusals: tuple[str, ...] = (),
    headers: tuple[str, ...] = (),
    form: str | None = None,
) -> Callable[[AnyView], AnyView]:
    """Describe a view; one without a description is not in the document."""

    def mark(view: AnyView) -> AnyView:
        setattr(view, _MARK, Operation(operation_id, answers, refusals, headers, form))
        return view

    return mark


# Tables

PATH_PARAMETERS: Mapping[str, tuple[str, Mapping[str, Any], str, str]] = {
    "project_key": ("projectKey", {"type": "string", "pattern": f"^{PROJECT_KEY_PATTERN}$"}, "the project", "demo"),
    "resource_id": (
        "id",
        {"type": "string", "minLength": 1},
        "the id of a resource",
        "018cc251-f400-7000-8000-000000000001",
    ),
    "key": ("key", {"type": "string"}, "the key of a resource", "my-pet"),
    "uri_parameter_one": ("uriParameterOne", STORABLE_TEXT, "any text, also an empty one", 'lastName = "Doe"'),
    "uri_parameter_two": ("uriParameterTwo", {**STORABLE_TEXT, "minLength": 1}, "any text", "two"),
}
"""Variables of URL rules: their public name, schema, meaning and an example."""

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
    "WWW-Authenticate": {"description": "what is missing", "schema": {"type": "string"}},
    "Retry-After": {"description": "seconds after which to try again", "schema": {"type": "string"}, "example": "1"},
}
"""Response headers by their names."""

_ENTITY_TAGS = r'^(\*|(W/)?"[!#-~]*"(, *(W/)?"[!#-~]*")*)$'

REQUEST_HEADERS: Mapping[str, Document] = {
    "If-Match": {
        "description": "entity tags of which the resource must have one, or `*`",
        "schema": {"type": "string", "pattern": _ENTITY_TAGS, "examples": ['"1"']},
    },
    "If-None-Match": {
        "description": "entity tags of which the resource must have none, or `*`",
        "schema": {"type": "string", "pattern": _ENTITY_TAGS, "examples": ['"1"']},
    },
    "Prefer": {
        "description": "`code=...` chooses between the answers",
        "schema": {"type": "string"},
        "example": "code=200",
    },
    "X-Correlation-ID": {
        "description": "comes back and stands in the log, if it is 8 to 256 letters, digits, `_`, `/` and `-`",
        "schema": {"type": "string", "examples": ["my-app/2f0c1b7e"]},
    },
}
"""Request headers by their names; all are texts and optional.

Examples that stand in the schema are for readers; pages fill in the others, with which a request succeeds.
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
"""What can be done with an answer."""

_CLIENT_REFERENCE: Document = {
    "type": "object",
    "required": ["typeId", "id"],
    "properties": {
        "typeId": {"type": "string", "const": "api-client"},
        "id": {"type": "string"},
        "obj": {
            "type": "object",
            "description": "the API client, if it was asked for with expand and is there",
            "required": ["id", "name", "scopes"],
            "properties": {
                "id": {"type": "string"},
                "name": {"type": "string"},
                "scopes": {"type": "array", "items": {"type": "string"}},
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}

_SERVER_FIELDS: Document = {
    "id": {"type": "string", "format": "uuid"},
    "version": {"type": "integer", "format": "int64", "minimum": 1},
    "key": {"type": "string", "pattern": f"^{KEY_PATTERN}$"},
    "createdAt": {"type": "string", "format": "date-time"},
    "lastModifiedAt": {"type": "string", "format": "date-time"},
}

_ALWAYS_THERE = ["id", "version", "createdAt", "lastModifiedAt"]


_COUNT: Document = {"type": "integer", "minimum": 0}


def _object_of(required: Document, **optional: Document) -> Document:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **optional},
        "additionalProperties": False,
    }


def _facet(type_name: str, **members: Document) -> Document:
    return _object_of({"type": {"type": "string", "const": type_name}, **members})


def _counted(**members: Document) -> Document:
    """What a facet counts; the second name is there if the facet counts products."""
    return _object_of({**members, "count": _COUNT}, productCount=_COUNT)


def _page_of(result: str, **more: Document) -> Document:
    return {
        "type": "object",
        "required": ["limit", "offset", "count", "results"],
        "properties": {
            "limit": {"type": "integer", "minimum": 0},
            "offset": {"type": "integer", "minimum": 0},
            "count": {"type": "integer", "minimum": 0, "description": "results in this page"},
            "total": {"type": "integer", "minimum": 0, "description": "matches, exact up to 10,000"},
            "totalCapped": {"type": "boolean", "const": True, "description": "there are more matches than total says"},
            "results": {"type": "array", "items": {"$ref": f"#/components/schemas/{result}"}},
            **more,
        },
        "additionalProperties": False,
    }


def _texts(*names: str, required: Sequence[str] | None = None, **formats: str) -> Document:
    return {
        "type": "object",
        "required": list(names if required is None else required),
        "properties": {
            name: {"type": "string", **({"format": formats[name]} if name in formats else {})} for name in names
        },
    }


_CREDENTIALS: Document = {
    "client_id": {"type": "string", "description": "if the credentials are not in the header"},
    "client_secret": {"type": "string", "description": "if the credentials are not in the header"},
}

SCHEMAS: Mapping[str, Document] = {
    "ApiClientReference": _CLIENT_REFERENCE,
    "Resource": {
        "type": "object",
        "required": [*_ALWAYS_THERE, "createdBy", "lastModifiedBy", "objectTypeProperty"],
        "properties": {
            **_SERVER_FIELDS,
            "createdBy": {"$ref": "#/components/schemas/ApiClientReference"},
            "lastModifiedBy": {"$ref": "#/components/schemas/ApiClientReference"},
            "objectTypeProperty": {"$ref": "#/components/schemas/ObjectType"},
            "someProperty": STORABLE_TEXT,
        },
        "additionalProperties": False,
    },
    "ResourcePage": _page_of("Resource"),
    "ProjectionPage": _page_of(
        "Projection",
        facets={
            "type": "object",
            "description": "what each facet counted, by its name; there if a facet was asked for",
            "additionalProperties": {"$ref": "#/components/schemas/FacetResult"},
        },
    ),
    "FacetResult": {
        "oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("TermFacet", "RangeFacet", "FilterFacet")],
        "discriminator": {
            "propertyName": "type",
            "mapping": {
                "terms": "#/components/schemas/TermFacet",
                "range": "#/components/schemas/RangeFacet",
                "filter": "#/components/schemas/FilterFacet",
            },
        },
    },
    "TermFacet": _facet(
        "terms",
        dataType={"type": "string", "enum": ["text", "number", "datetime"]},
        missing={**_COUNT, "description": "resources without a value"},
        total={**_COUNT, "description": "the sum of the counts of all terms"},
        other={**_COUNT, "description": "the sum of the counts of terms that are not listed"},
        terms={
            "type": "array",
            "maxItems": 200,
            "description": "those that most resources have, the commonest first",
            "items": _counted(term={"type": ["string", "number"]}),
        },
    ),
    "RangeFacet": _facet(
        "range",
        ranges={
            "type": "array",
            "items": _counted(
                **{"from": {"type": "number", "description": "the lower bound, which belongs to the range; 0 if open"}},
                fromStr={"type": "string", "description": "the same as text; empty if open"},
                to={"type": "number", "description": "the upper bound, which does not; 0 if open"},
                toStr={"type": "string", "description": "the same as text; empty if open"},
                total={"type": "number", "description": "the sum of the values"},
                min={"type": "number"},
                max={"type": "number"},
                mean={"type": "number"},
            ),
        },
    ),
    "FilterFacet": _counted(type={"type": "string", "const": "filter"}),
    "FlatResourcePage": _page_of("FlatResource"),
    "DateTimes": _texts(
        "dateOnlyExample",
        "timeOnlyExample",
        "dateTimeOnlyExample",
        "dateTimeExample",
        "dateTimeExampleDefaultFormat",
        "dateTimeExampleRfc",
        dateOnlyExample="date",
        dateTimeExample="date-time",
        dateTimeExampleDefaultFormat="date-time",
    ),
    "Error": {
        "type": "object",
        "required": ["statusCode", "message", "errors"],
        "properties": {
            "statusCode": {"type": "integer"},
            "message": {"type": "string", "description": "the message of the first entry"},
            "errors": {
                "type": "array",
                "minItems": 1,
                "items": {"$ref": "#/components/schemas/ErrorObject"},
            },
            "error": {"type": "string", "description": "the OAuth code"},
            "error_description": {"type": "string"},
        },
        "additionalProperties": False,
    },
    "ErrorObject": {
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "code": {"type": "string", "enum": list(errors.CATALOGUE)},
            "message": {"type": "string"},
            "detailedErrorMessage": {"type": "string", "description": "`path -> to -> field: reason`"},
            "field": {"type": "string"},
            "invalidValue": {"description": "any JSON, as it was sent"},
            "duplicateValue": {"description": "any JSON, as it was sent"},
            "currentVersion": {"type": "integer", "format": "int64", "description": "the actual version"},
        },
        "additionalProperties": False,
    },
    "TokenRequest": {
        "type": "object",
        "required": ["grant_type"],
        "properties": {
            "grant_type": {"type": "string", "const": "client_credentials"},
            "scope": {"type": "string", "description": "separated by spaces; all that the client has if not given"},
            **_CREDENTIALS,
        },
    },
    "Token": {
        "type": "object",
        "required": ["access_token", "token_type", "expires_in", "scope"],
        "properties": {
            "access_token": {"type": "string"},
            "token_type": {"type": "string", "const": "Bearer"},
            "expires_in": {"type": "integer", "description": "seconds"},
            "scope": {"type": "string", "description": "what was granted, separated by spaces"},
        },
        "additionalProperties": False,
    },
    "TokenToExamine": {
        "type": "object",
        "required": ["token"],
        "properties": {
            "token": {"type": "string", "minLength": 1},
            "token_type_hint": {"type": "string", "description": "makes no difference"},
            **_CREDENTIALS,
        },
    },
    "Introspection": {
        "type": "object",
        "required": ["active"],
        "properties": {
            "active": {"type": "boolean"},
            "scope": {"type": "string"},
            "client_id": {"type": "string"},
            "exp": {"type": "integer", "description": "seconds since 1970"},
        },
    },
    "Nothing": {"type": "object", "additionalProperties": False},
    "KeySet": {
        "type": "object",
        "required": ["keys"],
        "properties": {"keys": {"type": "array", "items": {"type": "object"}}},
    },
    "ServerMetadata": {
        "type": "object",
        "required": ["issuer", "token_endpoint", "jwks_uri", "response_types_supported"],
        "properties": {
            **{
                name: {"type": "string"}
                for name in (
                    "issuer",
                    "token_endpoint",
                    "jwks_uri",
                    "introspection_endpoint",
                    "revocation_endpoint",
                    "service_documentation",
                )
            },
            **{
                f"{name}_supported": {"type": "array", "items": {"type": "string"}}
                for name in (
                    "token_endpoint_auth_methods",
                    "grant_types",
                    "response_types",
                    "introspection_endpoint_auth_methods",
                    "revocation_endpoint_auth_methods",
                )
            },
        },
        "additionalProperties": False,
    },
    "Status": {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}},
}
"""Bodies that no marshmallow schema describes: PostgreSQL or a view writes them."""

FORMS: Mapping[str, type[QuerySchema]] = {"SearchForm": SearchSchema}
"""Forms whose fields are parameters, which the query string takes as well."""

_EXAMPLE_OBJECT_TYPE: Document = {
    "arrayOfIntExample": [1, 2, 1, 3, 2, 3, 1],
    "arrayOfUniqueIntExample": [1, 3, 5, 7],
    "arrayOfTwonumbersExample": [3, 5],
    "arrayOfFloatExample": [0.82],
    "arrayOfNumberNoDefaultsExample": [10, 9, 8, 7, 6],
    "arrayOfStringExample": ["dog", "cat", "bird"],
    "arrayOfObjectType": [
        {"integerExample": 777, "integerExampleInt32": 1},
        {"integerExample": 30000, "integerExampleInt32": 22},
    ],
}

_EXAMPLE_DRAFT: Document = {"key": "my-pet", "objectTypeProperty": _EXAMPLE_OBJECT_TYPE}

BODY_EXAMPLES: Mapping[str, Document] = {
    "ResourceDraft": _EXAMPLE_DRAFT,
    "overwriteResource": _EXAMPLE_DRAFT | {"version": 1},
    "Update": {
        "version": 1,
        "actions": [{"action": "doSomeThing"}, {"action": "changeSomeProperty", "someProperty": "any string"}],
    },
    "ComplexRecord": {
        "id": "an id",
        "version": 1,
        "key": "a key",
        "custom": True,
        "createdAt": "2015-02-28T16:41:41.090Z",
        "lastModifiedAt": "2016-02-28T16:41:41.090Z",
        "createdBy": {"firstName": "John", "lastName": "Doe"},
        "lastModifiedBy": {"firstName": "Jane", "lastName": "Doe"},
    },
    "SearchForm": {
        "text.<language>": {"text.en": "dogs"},
        "filter": ["arrayOfIntExample:range(1 to 5)"],
        "facet": ["arrayOfStringExample"],
        "limit": 5,
    },
    "TokenRequest": {"grant_type": "client_credentials"},
    "TokenToExamine": {"token": "an access token"},
}
"""What the body of a request can look like, by the operation or the name of its schema."""

_EXAMPLE_REFERENCE: Document = {"typeId": "api-client", "id": "V9Ir9nrm0EG1NhaCCVZBIJXe"}

_EXAMPLE_RESOURCE: Document = {
    "id": "018cc251-f400-7000-8000-000000000001",
    "version": 1,
    "key": "my-pet",
    "createdAt": "2024-01-01T00:00:00.000Z",
    "createdBy": _EXAMPLE_REFERENCE,
    "lastModifiedAt": "2024-01-01T00:00:00.000Z",
    "lastModifiedBy": _EXAMPLE_REFERENCE,
    "objectTypeProperty": _EXAMPLE_OBJECT_TYPE,
}

_EXAMPLE_FLAT_RESOURCE: Document = {
    name: _EXAMPLE_RESOURCE[name] for name in ("id", "version", "key", "createdAt", "lastModifiedAt")
} | _EXAMPLE_OBJECT_TYPE


def _page_with(result: Document, **more: Document) -> Document:
    return {"limit": 20, "offset": 0, "count": 1, "total": 1, "results": [result], **more}


ANSWER_EXAMPLES: Mapping[str, Document] = {
    "Resource": _EXAMPLE_RESOURCE,
    "ResourcePage": _page_with(_EXAMPLE_RESOURCE),
    "FlatResourcePage": _page_with(_EXAMPLE_FLAT_RESOURCE),
    "ProjectionPage": _page_with(
        _EXAMPLE_FLAT_RESOURCE | {"hasStagedChanges": False},
        facets={
            "arrayOfStringExample": {
                "type": "terms",
                "dataType": "text",
                "missing": 0,
                "total": 1,
                "other": 0,
                "terms": [{"term": "dog", "count": 1}],
            }
        },
    ),
    "ObjectType": {
        "arrayOfIntExample": [1],
        "arrayOfUniqueIntExample": [1],
        "arrayOfFloatExample": [0.5],
        "arrayOfNumberNoDefaultsExample": [0.5, 1],
        "arrayOfStringExample": ['lastName = "Doe"', "two", "any text", "an id", "a key", "true"],
    },
    "DateTimes": {
        "dateOnlyExample": "2016-02-28",
        "timeOnlyExample": "16:41:41",
        "dateTimeOnlyExample": "2016-02-28T16:41:41",
        "dateTimeExample": "2016-02-28T16:41:41.090Z",
        "dateTimeExampleDefaultFormat": "2016-02-28T16:41:41.090Z",
        "dateTimeExampleRfc": "Sun, 28 Feb 2016 16:41:41 GMT",
    },
    "Token": {
        "access_token": "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl",
        "token_type": "Bearer",
        "expires_in": 172_800,
        "scope": "manage_test:demo view_test:demo",
    },
    "Introspection": {"active": True, "scope": "view_test:demo", "client_id": "V9Ir9nrm0EG1NhaCCVZBIJXe"},
    "Nothing": {},
    "KeySet": {"keys": [{"kty": "EC", "crv": "P-256", "kid": "1B-Rzu6pYdr2xcAU", "use": "sig", "alg": "ES256"}]},
    "ServerMetadata": {
        "issuer": "https://example.com",
        "token_endpoint": "https://example.com/oauth/token",
        "jwks_uri": "https://example.com/.well-known/jwks.json",
        "response_types_supported": [],
    },
    "Status": {"status": "ready"},
}
"""What the body of an answer can look like, by the name of its schema."""

TAGS: Mapping[str, tuple[str, str]] = {
    "resource": ("Resource", "Create, read, list, update and delete the resources of a project."),
    "search": ("Search", "Full text, filters and facets over the current or the staged projection."),
    "samples": ("Echo", "Endpoints that keep nothing and show what arrived."),
    "oauth": ("Authorization", "Access tokens: get, examine, revoke; the keys that verify them."),
    "operations": ("Service", "What those who run the service ask it."),
}
"""Blueprints, in the order of the page: name and meaning."""

DESCRIPTION = """\
A durable server for a project-scoped resource with optimistic locking, two projections, a query language and bearer
scopes for each project. It follows the conventions of the commercetools family of APIs, also in its errors.

### Two minutes

1. **Authorize.** `make run` prints a client for the project `demo` and a token for it. Under *Authorize*, give the
   client's id and secret as *clientCredentials*, or paste the token as *bearer*.
2. **Create.** `POST /demo/resource` with a `key` creates a resource; the same again updates it. `GET` finds it in the
   list and as `/demo/resource/key=my-pet`.
3. **Ask.** Lists take a predicate in `where`, such as `arrayOfStringExample contains any :words and version < 5`, and
   its variables as `var.words=dog&var.words=bird`. Search takes words, as in `text.en=dogs`, filters and facets.
4. **Update.** `POST /demo/resource/{id}` applies actions to the version that you have read. If somebody else was
   faster, nothing changes, and the 409 says which version is the actual one.
5. **Stage.** With `staged=true` a write changes the staged projection alone; the action `publish` makes it the current
   one.

A fault has one form everywhere, `{"statusCode", "message", "errors": [...]}`, with an entry for each thing that is
wrong and the path to it.
"""

# The document


def document(app: Flask, api: Api, settings: Settings) -> Document:
    """The OpenAPI document of the application's routes."""
    spec = cast("Any", api.spec)
    # Named by objectParameter, in whose text no generator looks for schemas.
    spec.components.schema("ContainedObjectType", schema=ContainedObjectTypeSchema)
    made: Document = spec.to_dict()
    schemas: Document = made["components"]["schemas"]
    # Of smorest's own, and of the form that is described with its endpoint.
    for unused in ("Error", "PaginationMetadata", "ProjectionSearch"):
        schemas.pop(unused, None)
    _describe_actions(schemas)
    flat = {**_SERVER_FIELDS, **schemas["ObjectType"]["properties"]}
    schemas |= SCHEMAS
    schemas |= {name: _form_schema(form().fields) for name, form in FORMS.items()}
    schemas["FlatResource"] = {
        "type": "object",
        "required": _ALWAYS_THERE,
        "properties": flat,
        "additionalProperties": False,
    }
    schemas["Projection"] = {
        "type": "object",
        "required": [*_ALWAYS_THERE, "hasStagedChanges"],
        "properties": {
            **flat,
            "hasStagedChanges": {"type": "boolean", "description": "the two projections differ"},
            "someProperty": STORABLE_TEXT,
        },
        "additionalProperties": False,
    }
    paths = _paths(app, made["paths"])
    examples = {code: {"value": error.payload()} for code, error in errors.EXAMPLES.items()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sample Resource Service",
            "version": "v1",
            "description": _unwrapped(DESCRIPTION),
            "contact": {"name": "Whoever runs this server"},
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": _servers(settings),
        "tags": [{"name": name, "description": meaning} for name, meaning in TAGS.values()],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "headers": _used("headers", HEADERS, paths),
            "links": dict(LINKS),
            "examples": _used("examples", examples, paths),
            "securitySchemes": {
                "clientCredentials": {
                    "type": "oauth2",
                    "description": "An API client's id and secret, as `sample-resource client create` prints them.",
                    "flows": {
                        "clientCredentials": {
                            "tokenUrl": "/oauth/token",
                            "scopes": {f"{name}:{{projectKey}}": meaning for name, meaning in _SCOPES.items()},
                        }
                    },
                },
                "client": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "An API client's id and secret themselves, at the endpoints of OAuth.",
                },
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "An access token, as `sample-resource token` prints one.",
                },
            },
        },
    }


def _used(kind: str, components: Mapping[str, Document], paths: Document) -> Document:
    """The components that the paths refer to; no endpoint answers 405 to its own method."""
    text = json.dumps(paths)
    return {name: value for name, value in components.items() if f'"#/components/{kind}/{name}"' in text}


_SCOPES = dict(
    zip(
        SCOPE_NAMES,
        (
            "read and write resources",
            "read resources",
            "search both projections",
            "search the current projection",
        ),
        strict=True,
    )
)


def _servers(settings: Settings) -> list[Document]:
    if settings.base_domain is None:
        return [{"url": "/", "description": "this server"}]
    return [
        {
            "url": f"https://api.{{region}}.{{cloudProvider}}.{settings.base_domain}",
            "variables": {"region": {"default": "europe-west1"}, "cloudProvider": {"default": "gcp"}},
        }
    ]


def _describe_actions(schemas: Document) -> None:
    """The body of update by id: one schema an action, told apart by ``action``."""
    names = {action: f"{action[0].upper()}{action[1:]}Action" for action in ACTION_SCHEMAS}
    for action, name in names.items():
        members = ACTION_SCHEMAS[action].fields.items()
        schemas[name] = {
            "type": "object",
            "description": REGISTRY[action].MEANING,
            "required": [public for public, field in members if field.required],
            "properties": {
                public: {"type": "string", "const": action} if public == "action" else _plain(field.metadata)
                for public, field in members
            },
            "additionalProperties": False,
        }
    schemas["UpdateAction"] = {
        "oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in names.values()],
        "discriminator": {
            "propertyName": "action",
            "mapping": {action: f"#/components/schemas/{name}" for action, name in names.items()},
        },
    }
    schemas["Update"]["properties"]["actions"] = {
        "type": "array",
        "maxItems": 500,
        "items": {"$ref": "#/components/schemas/UpdateAction"},
    }


def _plain(metadata: Mapping[Any, Any]) -> Document:
    return dict(metadata)


_METHODS = ("POST", "GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS")
"""So that the examples of a page succeed from its top to its end: what is read has been made, and goes last."""


def _paths(app: Flask, made: Document) -> Document:
    """Every described view, in the order of the code: the reader's order."""
    paths: Document = {}
    for rule in app.url_map.iter_rules():
        view_class = getattr(app.view_functions[rule.endpoint], "view_class", None)
        if view_class is None:
            continue
        for method in sorted(view_class.methods or (), key=_METHODS.index):
            view = getattr(view_class, method.lower())
            described: Operation | None = getattr(view, _MARK, None)
            if described is not None:
                found = made[_smorest_path(rule.rule)][method.lower()]
                made_operation = _operation(view, described, found, rule)
                paths.setdefault(_template(rule.rule), {})[method.lower()] = made_operation
    return paths


def _smorest_path(rule: str) -> str:
    return _replaced(rule, lambda variable: variable)


def _template(rule: str) -> str:
    return _replaced(rule, lambda variable: PATH_PARAMETERS[variable][0])


def _replaced(rule: str, name_of: Callable[[str], str]) -> str:
    """A rule's path with each variable as ``{name}``."""
    parts: list[str] = []
    for piece in rule.split("<"):
        variable, bracket, rest = piece.partition(">")
        parts.append(f"{{{name_of(variable.rpartition(':')[2])}}}{rest}" if bracket else piece)
    return "".join(parts)


def _path_parameter(variable: str) -> Document:
    name, schema, meaning, example = PATH_PARAMETERS[variable]
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": meaning,
        "schema": schema,
        "example": example,
    }


def _operation(view: Any, described: Operation, found: Document, rule: Rule) -> Document:
    body: Document | None = found.get("requestBody")
    query: list[Document] = found.get("parameters", [])
    if described.form is not None and described.form in FORMS:
        fields = FORMS[described.form]().fields
        query = [_query_parameter(name, field) for name, field in fields.items()]
        body = {"required": False, "content": {_FORM: {"schema": _reference(described.form), **_encoding(fields)}}}
    made: Document = {
        "operationId": described.id,
        "summary": found["summary"].rstrip("."),
        "description": _unwrapped(found.get("description", "")),
        "tags": [TAGS[rule.endpoint.partition(".")[0]][0]],
        "parameters": [
            *(_path_parameter(name) for name in sorted(rule.arguments)),
            *query,
            *(_request_header(name) for name in (*described.headers, "X-Correlation-ID")),
        ],
    }
    if body is not None:
        made["requestBody"] = body
    elif described.form is not None:
        made["requestBody"] = {"required": True, "content": {_FORM: {"schema": _reference(described.form)}}}
    for media in made.get("requestBody", {}).get("content", {}).values():
        schema_name = media["schema"]["$ref"].rpartition("/")[2]
        media["example"] = BODY_EXAMPLES.get(described.id) or BODY_EXAMPLES[schema_name]
    scopes = accepted_scopes(view) or ()
    made["security"] = [{"clientCredentials": [f"{scope}:{{projectKey}}"]} for scope in scopes]
    if scopes:
        made["security"].append({"bearer": []})
    elif "invalid_client" in described.refusals:
        made["security"] = [{"client": []}, {}]  # none: the credentials may be fields of the form
    has_json = body is not None and "application/json" in body["content"]
    codes = _codes(view, described, is_of_a_project="project_key" in rule.arguments, has_json=has_json)
    made["responses"] = _refusals(codes) | {str(answer.status): _answer(answer) for answer in described.answers}
    if view.__name__ == "head":
        for response in made["responses"].values():
            response.pop("content", None)
    return made


_FORM = "application/x-www-form-urlencoded"


def _reference(schema: str) -> Document:
    return {"$ref": f"#/components/schemas/{schema}"}


def _form_schema(fields: Mapping[str, Any]) -> Document:
    """A form of parameters, each described as it is in a query string; all of them may stand there instead."""
    return {
        "type": "object",
        "properties": {
            field.data_key or name: {**field.schema, "description": field.meaning} for name, field in fields.items()
        },
        "additionalProperties": False,
    }


def _encoding(fields: Mapping[str, Any]) -> Document:
    """How arrays and families are written in a form: each item, each member as a field of its own."""
    exploded = [
        field.data_key or name
        for name, field in fields.items()
        if isinstance(field, ParameterFamily) or getattr(field, "repeatable", False)
    ]
    return {"encoding": {name: {"style": "form", "explode": True} for name in exploded}}


def _query_parameter(name: str, field: Any) -> Document:
    """A parameter that the form has too, where pages fill in its example: most may not stand in both."""
    made: Document = {
        "name": field.data_key or name,
        "in": "query",
        "required": False,
        "schema": dict(field.schema),
        **_parameter_of(None, field),
    }
    made["schema"]["examples"] = [made.pop("example")]
    return made


_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n|[0-9]+[.] |[-#])\s*")


def _unwrapped(text: str) -> str:
    """Markdown without line breaks inside its paragraphs and items: some readers show them."""
    return _LINE_BREAK.sub(" ", text.strip())


def _request_header(name: str) -> Document:
    return {"name": name, "in": "header", "required": False, **REQUEST_HEADERS[name]}


def _answer(answer: Answer) -> Document:
    made: Document = {"description": answer.description, "headers": _header_references(answer.headers)}
    if answer.schema is not None:
        schema = _reference(answer.schema)
        made["content"] = {media_type: {"schema": schema} for media_type in answer.media_types}
        if "application/json" in made["content"]:
            made["content"]["application/json"]["example"] = ANSWER_EXAMPLES[answer.schema]
    if answer.links:
        made["links"] = {name: {"$ref": f"#/components/links/{name}"} for name in answer.links}
    return made


def _header_references(names: Sequence[str]) -> Document:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (*names, "X-Correlation-ID")}


_REFUSAL_HEADERS = {401: ("WWW-Authenticate",), 403: ("WWW-Authenticate",), 405: ("Allow",), 503: ("Retry-After",)}


def _codes(view: Any, described: Operation, *, is_of_a_project: bool, has_json: bool) -> list[str]:
    """Every code of the catalogue that a view can answer with."""
    # Wherever a request goes, its host may be one that is not served, and its headers may be too large.
    codes = ["General", "OverCapacity", "InvalidInput", "RequestRejected", *described.refusals]
    if accepted_scopes(view):
        codes += ["invalid_token", "insufficient_scope"]
    if is_of_a_project:
        codes.append("ResourceNotFound")  # a project key that none can have is an unknown URL
    if has_json:
        codes += ["InvalidJsonInput", "InvalidField", "ContentTooLarge", "UnsupportedMediaType"]
    elif described.form is not None:
        codes.append("ContentTooLarge")
    if described.form in FORMS:
        codes.append("UnsupportedMediaType")
    return list(dict.fromkeys(codes))


def _refusals(codes: Sequence[str]) -> Document:
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(errors.CATALOGUE[code].status, []).append(code)
    return {
        str(status): {
            "description": "; ".join(errors.CATALOGUE[code].meaning for code in of_status),
            "headers": _header_references(_REFUSAL_HEADERS.get(status, ())),
            "content": {
                "application/json": {
                    "schema": _reference("Error"),
                    "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in of_status},
                }
            },
        }
        for status, of_status in sorted(by_status.items())
    }


# How apispec sees the parameters' fields


def describe_fields(api: Api) -> None:
    """Let flask-smorest's generator read parameters off their fields; to be called before routes are registered."""
    converter = cast("Any", api).ma_plugin.converter
    converter.add_attribute_function(_schema_of)
    converter.add_parameter_attribute_function(_parameter_of)


def _schema_of(_converter: Any, field: Any, **_: Any) -> Document:
    return dict(field.schema) if isinstance(field, Parameter | ParameterFamily) else {}


def _parameter_of(_converter: Any, field: Any, **_: Any) -> Document:
    if not isinstance(field, Parameter | ParameterFamily):
        return {}
    made: Document = {"description": field.meaning} if field.meaning else {}
    if field.example is not None:
        made["example"] = field.example
    if isinstance(field, ParameterFamily) or field.repeatable:
        made |= {"style": "form", "explode": True}
    return made
