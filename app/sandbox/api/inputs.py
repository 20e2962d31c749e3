"""The bodies and queries of the sandbox's routes, as checked values."""

import re
from functools import partial
from typing import Any, cast

from flask import Request
from marshmallow import ValidationError

from app import errors
from app.http.bodies import read_body, read_json
from app.identity.token_profile import SCOPE_NAMES, TOKEN_LIFETIME_S
from app.resource.schemas import ResourceDraft, ResourceDraftSchema
from app.sandbox.api.explain import OPERATIONS
from app.sandbox.journal.store import KEPT, Narrowing
from app.sandbox.projects.clock import check_clock
from app.sandbox.projects.ids import check_ids
from app.sandbox.projects.orders import NewProject
from app.sandbox.rules.rules import METHODS
from app.values.json_fields import (
    MISSING,
    OBJECT_EXPECTED,
    Check,
    RefusedValue,
    between,
    check_boolean,
    check_items,
    check_text,
    faults_of,
    object_check,
    one_of,
    refuse_shape,
    refuse_value,
)
from app.values.large_values import LARGE_FROM, beside_other_requests
from app.values.parameters import Parameter, QuerySchema, read_integer, read_text
from app.values.project_keys import PROJECT_KEY_PATTERN
from app.values.suggestions import did_you_mean

TTL_S = (60, 604_800)
RESOURCES_AT_MOST = 10_000
LIMIT_AT_MOST = 500
BODY_BYTES_AT_MOST = 1024 * 1024
PROJECT_BYTES_AT_MOST = 8 * 1024 * 1024
"""Of a new project with its resources."""

RUN_PATTERN = "[A-Za-z0-9_.-]{1,64}"

_RUN = re.compile(RUN_PATTERN, re.ASCII)
_SNAPSHOT = re.compile("[A-Za-z0-9_-]{1,64}", re.ASCII)
_KEY = re.compile(PROJECT_KEY_PATTERN)


def read_checked(
    request: Request,
    check: Check,
    *,
    optional: bool = True,
    takes_long: bool = False,
    at_most: int = BODY_BYTES_AT_MOST,
) -> Any:
    """The JSON body of a request, checked.

    :param optional: whether no body means ``{}``.
    :param takes_long: whether other requests have to go on while it is checked.
    :param at_most: bytes.
    :raises ApiError: 400 with the place of each fault, 413, 415.
    """
    if optional and not read_body(request, at_most):
        body: Any = {}
    else:
        body = read_json(request, at_most)
    try:
        return beside_other_requests(lambda: check(body)) if takes_long else check(body)
    except ValidationError as error:
        raise errors.ApiError(faults_of(error.messages)) from None


def _check_key(value: Any) -> str:
    text = check_text(value)
    if _KEY.fullmatch(text) is None:
        refuse_value(text, "1 to 64 letters, digits, underscores and hyphens are expected.")
    return text


def _check_run(value: Any) -> str:
    text = check_text(value)
    if _RUN.fullmatch(text) is None:
        refuse_value(text, "1 to 64 letters, digits, underscores, dots and hyphens are expected.")
    return text


def _check_scope(value: Any) -> list[tuple[str, str | None]]:
    """Scopes, separated by blanks: each a name, and the project if one is given."""
    found: list[tuple[str, str | None]] = []
    for scope in check_text(value).split():
        name, colon, project_key = scope.partition(":")
        if name not in SCOPE_NAMES:
            refuse_value(scope, f"A scope is one of {', '.join(SCOPE_NAMES)}.{did_you_mean(name, SCOPE_NAMES)}")
        found.append((name, project_key if colon else None))
    if not found:
        refuse_value("", "At least one scope is expected.")
    return found


_draft = ResourceDraftSchema()


def _check_draft(value: Any) -> ResourceDraft:
    if not isinstance(value, dict):
        refuse_shape(OBJECT_EXPECTED)
    draft: ResourceDraft = _draft.load(cast("dict[str, Any]", value))
    for name in ("id", "version"):
        if getattr(draft, name) is not None:
            raise ValidationError({name: ["The server makes ids and versions."]})
    return draft


_number_of_resources = between(0, RESOURCES_AT_MOST)


def _check_resources(value: Any) -> Any:
    """How many made-up ones, or all of them as POST takes them."""
    if not isinstance(value, list):
        return _number_of_resources(value)
    listed = cast("list[Any]", value)
    if len(listed) > RESOURCES_AT_MOST:
        refuse_value(len(listed), f"At most {RESOURCES_AT_MOST} resources are expected.")
    drafts: list[ResourceDraft] = check_items(listed, _check_draft)
    known: set[str] = set()
    for index, draft in enumerate(drafts):
        if draft.key in known:
            raise ValidationError(cast(Any, {index: {"key": [RefusedValue(draft.key, "Another one has this key.")]}}))
        if draft.key is not None:
            known.add(draft.key)
    return tuple(drafts)


_project = object_check(
    {
        "projectKey": _check_key,
        "scope": _check_scope,
        "ttlSeconds": between(*TTL_S),
        "resources": _check_resources,
        "tokenTtlSeconds": between(1, TOKEN_LIFETIME_S),
        "copyOf": _check_key,
        "run": _check_run,
        "clock": check_clock,
        "ids": check_ids,
    }
)


def check_project(value: Any) -> NewProject:
    """The body of ``POST /sandbox/projects``.

    :raises ValidationError: for one that cannot be.
    """
    order: dict[str, Any] = _project(value)
    if "copyOf" in order and order.get("resources"):
        raise ValidationError({"resources": ["Either resources or copyOf is expected, not both."]})
    scopes: list[tuple[str, str | None]] = order.get("scope", [(name, None) for name in SCOPE_NAMES])
    for name, project_key in scopes:
        if project_key is not None and project_key != order.get("projectKey"):
            # A client for another project would reach what the sandbox has not made.
            raise ValidationError({"scope": [f"{name}:{project_key} is for another project than this one."]})
    resources = order.get("resources", 0)
    return NewProject(
        project_key=order.get("projectKey"),
        scopes=tuple(dict.fromkeys(name for name, _ in scopes)),
        ttl_s=order.get("ttlSeconds", 3600),
        resources=resources if isinstance(resources, int) else 0,
        drafts=() if isinstance(resources, int) else resources,
        token_ttl_s=order.get("tokenTtlSeconds"),
        copy_of=order.get("copyOf"),
        run=order.get("run"),
        clock=order.get("clock", {}),
        ids=order.get("ids", {}),
    )


def read_project(request: Request) -> NewProject:
    """The body of ``POST /sandbox/projects``, which may have many resources.

    :raises ApiError: as :func:`read_checked`.
    """
    is_large = (request.content_length or 0) > LARGE_FROM
    return read_checked(request, check_project, takes_long=is_large, at_most=PROJECT_BYTES_AT_MOST)


KEEPABLE = ("rules", "requests")


def _check_kept(value: Any) -> str:
    text = check_text(value)
    if text not in KEEPABLE:
        refuse_value(text, f"One of {', '.join(KEEPABLE)} is expected.")
    return text


_reset = object_check({"keep": lambda value: check_items(value, _check_kept)})


def check_reset(value: Any) -> frozenset[str]:
    """The body of a reset: what is kept."""
    return frozenset(_reset(value).get("keep", ()))


_question = object_check({"operationId": one_of(*OPERATIONS), "query": check_text, "execute": check_boolean})


def check_question(value: Any) -> tuple[str, str, bool]:
    """The body of ``explain``: the operation, its query string, and whether it is executed too.

    :raises ValidationError: without an operation.
    """
    question: dict[str, Any] = _question(value)
    if "operationId" not in question:
        raise ValidationError({"operationId": [MISSING]})
    return question["operationId"], question.get("query", ""), question.get("execute", False)


def snapshot_name(text: str) -> str:
    """The name of a snapshot in a path.

    :raises ApiError: 400 for one that none can have.
    """
    if _SNAPSHOT.fullmatch(text) is None:
        raise errors.invalid_parameter("name", "1 to 64 letters, digits, underscores and hyphens are expected.")
    return text


# Queries


def _read_method(text: str) -> str:
    if text.upper() not in METHODS:
        raise ValidationError(f"One of {', '.join(METHODS)} is expected.")
    return text.upper()


class _NarrowingSchema(QuerySchema):
    """Which entries of a journal are wanted."""

    status = Parameter(partial(read_integer, minimum=100, maximum=599), {"type": "integer"})
    operation_id = Parameter(read_text, {"type": "string"}, data_key="operationId")
    method = Parameter(_read_method, {"type": "string"})


class _PageSchema(_NarrowingSchema):
    """The same, and how many of them."""

    limit = Parameter(partial(read_integer, minimum=0, maximum=LIMIT_AT_MOST), {"type": "integer"})
    offset = Parameter(partial(read_integer, minimum=0, maximum=KEPT), {"type": "integer"})


_NARROWING, _PAGE = _NarrowingSchema(), _PageSchema()


def read_narrowing(request: Request, *, paged: bool) -> tuple[Narrowing, int, int]:
    """Which entries a request asks for: by what, how many, and after how many.

    :param paged: whether it may say how many.
    :raises ApiError: 400 naming each parameter that is malformed, repeated or unknown.
    """
    values: dict[str, Any] = (_PAGE if paged else _NARROWING).load(request.args)
    narrowing = Narrowing(values.get("status"), values.get("operation_id"), values.get("method"))
    return narrowing, values.get("limit", 20), values.get("offset", 0)
