"""Makes the answers that contain one resource: entity tag, conditional reads, and the address of a new resource."""

from flask import Response, request

from app import errors
from app.http.answers import json_answer
from app.resource.model import Preconditions, Representation, Written
from app.resource.preconditions import matches
from app.resource.resource_json import representation_of


def resource_answer(resource: Representation, status: int = 200) -> Response:
    """The answer with one resource and its entity tag."""
    answer = json_answer(resource.json, status)
    answer.headers["ETag"] = _entity_tag(resource)
    return answer


def read_answer(resource: Representation, conditions: Preconditions) -> Response:
    """The answer to a read of one resource: 200, or 304 if the client has this version.

    :raises ApiError: 412 if If-Match does not list the version of the resource.
    """
    if conditions.if_match is not None and not matches(conditions.if_match, resource.version):
        raise errors.precondition_failed("If-Match", resource.version, has_other_tags=conditions.has_other_tags)
    if conditions.if_none_match is not None and matches(conditions.if_none_match, resource.version):
        return Response(status=304, headers={"ETag": _entity_tag(resource)})
    return resource_answer(resource)


def written_answer(written: Written, project_key: str) -> Response:
    """The answer to a write on the collection: 200, or 201 with ``Location`` if the resource is new.

    ``Content-Location`` says which resource the body meant (RFC 9110, section 8.7).
    """
    resource = representation_of(written.resource)
    answer = resource_answer(resource, 201 if written.is_new else 200)
    address = f"{request.script_root}/{project_key}/resource/{resource.id}"
    answer.headers["Content-Location"] = address
    if written.is_new:
        answer.headers["Location"] = address
    return answer


def _entity_tag(resource: Representation) -> str:
    return f'"{resource.version}"'
