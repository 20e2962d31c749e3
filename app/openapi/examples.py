"""The examples of bodies, answers and errors. All of them succeed if a page tries them from top to bottom.

``parts.json`` has most of them. Here are those that contain an ObjectType, whose example follows from its fields, and
those of errors, which follow from the functions that make errors.
"""

from collections.abc import Mapping

from app import errors
from app.openapi.parts import PARTS, Document
from app.query.object_fields import OBJECT_FIELDS
from app.resource.schemas import KEY_REASON

_OBJECT_TYPE: Document = {row.name: row.example for row in OBJECT_FIELDS}

_DRAFT: Document = {"key": "my-pet", "objectTypeProperty": _OBJECT_TYPE}

BODY_EXAMPLES: Mapping[str, Document] = {
    **PARTS["requestExamples"],
    "ResourceDraft": _DRAFT,
    "overwriteResource": _DRAFT | {"version": 1},
}
"""The examples of request bodies, by operation id or by the name of the schema."""

_REFERENCE: Document = {"typeId": "api-client", "id": "V9Ir9nrm0EG1NhaCCVZBIJXe"}

_RESOURCE: Document = {
    "id": "018cc251-f400-7000-8000-000000000001",
    "version": 1,
    "key": "my-pet",
    "createdAt": "2024-01-01T00:00:00.000Z",
    "createdBy": _REFERENCE,
    "lastModifiedAt": "2024-01-01T00:00:00.000Z",
    "lastModifiedBy": _REFERENCE,
    "objectTypeProperty": _OBJECT_TYPE,
}

_FLAT_RESOURCE: Document = {
    name: _RESOURCE[name] for name in ("id", "version", "key", "createdAt", "lastModifiedAt")
} | _OBJECT_TYPE


def _page_with(result: Document, **more: Document) -> Document:
    return {"limit": 20, "offset": 0, "count": 1, "total": 1, "results": [result], **more}


_TERMS: Document = {
    "type": "terms",
    "dataType": "text",
    "missing": 0,
    "total": 1,
    "other": 0,
    "terms": [{"term": "dog", "count": 1}],
}

ANSWER_EXAMPLES: Mapping[str, Document] = {
    **PARTS["answerExamples"],
    "Resource": _RESOURCE,
    "ResourcePage": _page_with(_RESOURCE),
    "FlatResourcePage": _page_with(_FLAT_RESOURCE),
    "ProjectionPage": _page_with(_FLAT_RESOURCE | {"hasStagedChanges": False}, facets={"arrayOfStringExample": _TERMS}),
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
