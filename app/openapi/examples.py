"""The examples of bodies, answers and errors. All of them succeed if a page tries them from top to bottom."""

from collections.abc import Mapping

from app import errors
from app.openapi.components import Document
from app.query.object_fields import OBJECT_FIELDS
from app.resource.schemas import KEY_REASON

_EXAMPLE_OBJECT_TYPE: Document = {row.name: row.example for row in OBJECT_FIELDS}

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
"""The examples of request bodies, by operation id or by the name of the schema."""

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
    "EchoedObjectType": {
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
"""The examples of answers, by the name of the schema."""

ERROR_EXAMPLES: Mapping[str, errors.ApiError] = {
    error.faults[0].code: error
    for error in (
        errors.invalid_parameter("limit", '"501" is out of range, a whole number from 0 to 500 is expected.'),
        errors.ApiError(
            [
                errors.shape_fault(
                    "objectTypeProperty -> arrayOfIntExample -> 3: JSON Number without a fraction expected."
                )
            ]
        ),
        errors.ApiError([errors.value_fault("key", "a b", KEY_REASON)]),
        errors.duplicate_field("key", "my-pet"),
        errors.ApiError([errors.facet_path_not_found("color")]),
        errors.ApiError([errors.Fault("invalid_request", "Missing required parameter: grant_type.")]),
        errors.ApiError([errors.Fault("invalid_scope", "Malformed parameter: scope: Invalid scope.")]),
        errors.ApiError([errors.Fault("invalid_grant", "The token was issued to another client.")]),
        errors.ApiError(
            [errors.Fault("unsupported_grant_type", "Invalid parameter: grant_type: Invalid grant type: 'password'")]
        ),
        errors.token_refused("demo", "it has expired"),
        errors.ApiError(
            [errors.Fault("invalid_client", "Please provide valid client credentials using HTTP Basic Authentication.")]
        ),
        errors.insufficient_scope("demo", ("manage_test", "view_test"), ("manage_test:other",)),
        errors.not_found_by_id("018cc251-f400-7000-8000-000000000001"),
        errors.method_not_allowed("PUT", ("GET", "HEAD")),
        errors.concurrent_modification("018cc251-f400-7000-8000-000000000001", 1, 2),
        errors.precondition_failed("If-Match"),
        errors.content_too_large(2_097_152),
        errors.unsupported_media_type("application/json"),
        errors.headers_too_large(),
        errors.general(),
        errors.over_capacity("The database is not available."),
    )
}
"""The example of each error code."""
