"""The examples of bodies, answers and errors. The requests succeed if a page tries them from top to bottom, and, as
``docs.js`` does, puts the id and the version of the last answer in place of those of the examples.

``parts.json`` has most of them. Here ObjectTypes are added to them, whose example follows from their fields. The
examples of errors follow from the functions that make errors.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app import errors
from app.http.bodies import BODY_BYTES_AT_MOST
from app.query.object_fields import OBJECT_FIELDS
from app.resource.model import WRAPPER
from app.resource.schemas import KEY_REASON
from app.values.json_fields import INTEGER_EXPECTED

Document = dict[str, Any]

PARTS: Document = json.loads(Path(__file__).with_name("parts.json").read_text("utf-8"))
"""The parts of the OpenAPI document that are written by hand, in ``parts.json``, as they appear in the document, except
that code completes a few texts and one list of types.

- ``info``, without the description.
- ``tags``: the tag of each described blueprint, in the order of the documentation page.
- ``serverOfRegion``: the server at the host of a region and a cloud provider, without its URL.
- ``pathParameters``: the variables of URL rules, by the names that the rules give them.
- ``requestHeaders``. Documentation pages send an example that is next to the schema, so a request with such an example
  must succeed. An example inside the schema is for readers only. Entity tags have a pattern and no enum, because for an
  enum the page shows a list, in which nobody can type ``"1"``.
- ``components``: among them the schemas of bodies that no marshmallow schema describes: PostgreSQL, a view or a client
  of OAuth makes them; and links: operations whose parameters an answer contains.
- ``requestExamples``, by operation id or by the name of the schema, and ``answerExamples``, by the name of the schema.
  Resources lack their ObjectType and pages lack their results, which are added below.
"""

_OBJECT_TYPE: Document = {row.name: row.example for row in OBJECT_FIELDS}

_DRAFT: Document = {"key": "my-pet", "objectTypeProperty": _OBJECT_TYPE}

BODY_EXAMPLES: Mapping[str, Document] = {
    **PARTS["requestExamples"],
    "ResourceDraft": _DRAFT,
    "overwriteResource": _DRAFT | {"version": 1},
}
"""The examples of request bodies, by operation id or by the name of the schema."""

_BY_HAND: Document = PARTS["answerExamples"]
_RESOURCE: Document = _BY_HAND["Resource"] | {"objectTypeProperty": _OBJECT_TYPE}
_FLAT_RESOURCE: Document = {
    name: value for name, value in _BY_HAND["Resource"].items() if name not in ("createdBy", "lastModifiedBy")
} | _OBJECT_TYPE

ANSWER_EXAMPLES: Mapping[str, Document] = {
    **_BY_HAND,
    "Resource": _RESOURCE,
    "ResourcePage": _BY_HAND["ResourcePage"] | {"results": [_RESOURCE]},
    "FlatResourcePage": _BY_HAND["FlatResourcePage"] | {"results": [_FLAT_RESOURCE]},
    "ProjectionPage": _BY_HAND["ProjectionPage"] | {"results": [_FLAT_RESOURCE | {"hasStagedChanges": False}]},
}
"""The examples of answers, by the name of the schema."""

ERROR_EXAMPLES: Mapping[str, errors.ApiError] = {
    error.faults[0].code: error
    for error in (
        errors.invalid_parameter("limit", '"501" is out of range, a whole number from 0 to 500 is expected.'),
        errors.ApiError([errors.shape_fault(f"{WRAPPER} -> arrayOfIntExample -> 3: {INTEGER_EXPECTED}")]),
        errors.ApiError([errors.value_fault("key", "a b", KEY_REASON)]),
        errors.duplicate_field("key", "my-pet"),
        errors.ApiError([errors.facet_path_not_found("color")]),
        errors.oauth_error("invalid_request", "Missing required parameter: grant_type."),
        errors.oauth_error("invalid_scope", "Malformed parameter: scope: Invalid scope."),
        errors.oauth_error("invalid_grant", "The token was issued to another client."),
        errors.oauth_error("unsupported_grant_type", "Invalid parameter: grant_type: Invalid grant type: 'password'"),
        errors.token_refused("demo", "it has expired"),
        errors.invalid_client(),
        errors.insufficient_scope("demo", ("manage_test", "view_test"), ("manage_test:other",)),
        errors.not_found_by_id("018cc251-f400-7000-8000-000000000001"),
        errors.method_not_allowed("PUT", ("GET", "HEAD")),
        errors.concurrent_modification("018cc251-f400-7000-8000-000000000001", 1, 2),
        errors.precondition_failed("If-Match", 3),
        errors.content_too_large(BODY_BYTES_AT_MOST),
        errors.unsupported_media_type("application/json"),
        errors.headers_too_large(),
        errors.general(),
        errors.over_capacity("The database is not available."),
    )
}
"""The example of each error code."""
