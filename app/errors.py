"""The error catalogue: every error code with its status and meaning, and the body of error answers.

Code raises :class:`ApiError`, mostly through the functions of this module. Nothing else builds an error body. The codes
of 400, 401, 403 and 409 are those of the platform, because its clients map codes to classes and fail on unknown codes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A row of the catalogue: an error code, its HTTP status and its meaning."""

    code: str
    status: int
    meaning: str


CATALOGUE: dict[str, ErrorCode] = {
    entry.code: entry
    for entry in (
        ErrorCode("InvalidInput", 400, "a path, query, form or header value is malformed, or the request is ambiguous"),
        ErrorCode("InvalidJsonInput", 400, "the body is not JSON, or a field is missing, unknown or of another type"),
        ErrorCode("InvalidField", 400, "a field of the body has the right type but an invalid value"),
        ErrorCode("DuplicateField", 400, "another resource of the project has the key"),
        ErrorCode("SearchFacetPathNotFound", 400, "a facet on a path that resources cannot have"),
        ErrorCode("invalid_request", 400, "a request to an OAuth endpoint lacks a parameter, or is malformed"),
        ErrorCode("invalid_scope", 400, "the requested scope is unknown, or the client does not have it"),
        ErrorCode("invalid_grant", 400, "the token to be revoked was issued to another client"),
        ErrorCode("unsupported_grant_type", 400, "the token endpoint does not support the grant type"),
        ErrorCode("invalid_token", 401, "the access token is missing, malformed, expired or revoked"),
        ErrorCode("invalid_client", 401, "the client's credentials are wrong"),
        ErrorCode("insufficient_scope", 403, "the access token lacks a scope for this project"),
        ErrorCode("ResourceNotFound", 404, "no such resource in this project, or no such URL"),
        ErrorCode("MethodNotAllowed", 405, "the URL does not have this method; Allow lists its methods"),
        ErrorCode("ConcurrentModification", 409, "the expected version is not the actual one; see currentVersion"),
        ErrorCode("PreconditionFailed", 412, "If-Match or If-None-Match does not hold"),
        ErrorCode("ContentTooLarge", 413, "the body has more than 65,536 bytes"),
        ErrorCode(
            "UnsupportedMediaType",
            415,
            "the body has a Content-Type that the endpoint does not take, or a Content-Encoding",
        ),
        ErrorCode("RequestRejected", 431, "the headers are too large"),
        ErrorCode("General", 500, "an error in the service"),
        ErrorCode(
            "OverCapacity",
            503,
            "the service or its database is busy or away, or is being stopped; try again after Retry-After",
        ),
    )
}
"""The catalogue: the row of each error code, by the code."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a request: an entry of ``errors`` in the body of the answer."""

    code: str
    message: str
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


FAULTS_AT_MOST = 50
"""The most faults that one answer lists, so that a request with a thousand faults does not get a huge answer. Long
checks stop at this number of faults."""


class ApiError(Exception):
    """The error answer to a request, with one or more faults of the same HTTP status.

    :param faults: at least one fault; the codes of all have one status. Faults beyond :data:`FAULTS_AT_MOST` are left
        out.
    :param headers: further response headers, such as ``Allow`` or ``Retry-After``.
    :param status: the HTTP status; None: the status that the catalogue has for the first fault's code. For a code that
        is not in the catalogue, the status has to be given.
    :param description: the ``error_description`` for a person; None: the message of the first fault. The body has it
        only for codes of OAuth, and for every 401 and 403.
    """

    def __init__(
        self,
        faults: Sequence[Fault],
        headers: Mapping[str, str] | None = None,
        status: int | None = None,
        description: str | None = None,
    ) -> None:
        super().__init__(faults[0].message)
        self.faults = tuple(faults[:FAULTS_AT_MOST])
        self.headers = dict(headers or {})
        self.status = status or CATALOGUE[faults[0].code].status
        self.description = description or faults[0].message

    def payload(self) -> dict[str, Any]:
        """The body as a dictionary: ``statusCode``, ``message``, ``errors``; for codes of OAuth, and for every 401 and
        403, also ``error`` and ``error_description``."""
        first = self.faults[0]
        body: dict[str, Any] = {
            "statusCode": self.status,
            "message": first.message,
            "errors": [{"code": fault.code, "message": fault.message, **fault.extra} for fault in self.faults],
        }
        # An extension can answer 401 or 403 with a code that is not of OAuth.
        if first.code in _OAUTH_CODES or self.status in (401, 403):
            body["error"] = first.code
            body["error_description"] = self.description
        return body

    def body(self) -> bytes:
        """The body as JSON in UTF-8. Lone surrogates, which UTF-8 cannot encode, are escaped."""
        text = json.dumps(self.payload(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8", "backslashreplace")


_OAUTH_CODES = frozenset(code for code in CATALOGUE if code.islower())
"""The codes of OAuth. The platform's own codes have capital letters."""


# Functions that make faults, which checks collect


def parameter_fault(name: str, reason: str) -> Fault:
    """The fault of a parameter of the query or of a form, or of a header: its name or its value is not accepted."""
    return Fault("InvalidInput", f"Malformed parameter: {name}: {reason}")


def facet_path_not_found(path: str, hint: str = "") -> Fault:
    """The fault of a facet on a path that resources cannot have."""
    return Fault("SearchFacetPathNotFound", f"Malformed parameter: facet: Facet path {path} not found.{hint}")


def shape_fault(detail: str) -> Fault:
    """The fault of a body that is not JSON, or whose structure is wrong; the platform has one message for both.
    ``detail`` is ``path -> to -> field: reason``, or only the reason if it is about the whole body."""
    message = f"Request body does not contain valid JSON. {detail}"
    return Fault("InvalidJsonInput", message, {"detailedErrorMessage": detail})


def value_fault(path: str, value: Any, reason: str) -> Fault:
    """The fault of a field of the right type whose value is not accepted."""
    return Fault(
        "InvalidField",
        f"The value '{quoted(value)}' is not valid for field '{path}'. {reason}",
        {"field": path, "invalidValue": _presentable(value)},
    )


def size_fault(path: str, size: int, at_most: int) -> Fault:
    """The fault of a field whose value has too many bytes as JSON text. The fault does not repeat the value."""
    return Fault(
        "InvalidField",
        f"The value is not valid for field '{path}'. Its JSON text has {size} bytes, {at_most} are accepted.",
        {"field": path},
    )


def quoted(value: Any) -> str:
    """A value as JSON for a message, cut to at most 200 characters."""
    return shortened(json.dumps(_presentable(value), ensure_ascii=False))


def shortened(text: str) -> str:
    """A text for a message, cut to at most 200 characters."""
    return text if len(text) <= 200 else text[:197] + "..."


_LONGEST_ECHO = 1000
"""The most characters of a refused text, id, key or list of scopes, and the most items of a refused array, that an
error repeats."""


def _presentable(value: Any) -> Any:
    """A refused value in a form that JSON can represent. Texts and arrays are cut to :data:`_LONGEST_ECHO`.

    The value is never an object. An object is refused only for its structure or its size, and the faults of these two
    kinds (:func:`shape_fault`, :func:`size_fault`) do not repeat the value.
    """
    if isinstance(value, float) and not isfinite(value):
        # JSON has no infinity, so the literal of the request, such as 1e999, is returned as a text. The decoder keeps
        # the literal in a HugeNumber (app.values.strict_json). No other infinity arrives here.
        return getattr(value, "literal", str(value))[:_LONGEST_ECHO]
    if isinstance(value, str):
        return value[:_LONGEST_ECHO]
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [_presentable(item) for item in items[:_LONGEST_ECHO]]
    return value


# Functions that make errors, which their callers raise


def invalid_parameter(name: str, reason: str) -> ApiError:
    """The error 400 for a malformed parameter or header."""
    return ApiError([parameter_fault(name, reason)])


def invalid_input(message: str) -> ApiError:
    """The error 400 for a request that is ambiguous or malformed as a whole."""
    return ApiError([Fault("InvalidInput", message)])


def duplicate_field(field_name: str, value: Any) -> ApiError:
    """The error 400 for a value that another resource of the project already has."""
    message = f"A duplicate value '{quoted(value)}' exists for field '{field_name}'."
    return ApiError([Fault("DuplicateField", message, {"field": field_name, "duplicateValue": value})])


def not_found_by_id(resource_id: str) -> ApiError:
    """The error 404 for an id that no resource of the project has, or that is not a UUID."""
    return ApiError([Fault("ResourceNotFound", f"The Resource with ID '{resource_id[:_LONGEST_ECHO]}' was not found.")])


def not_found_by_key(key: str) -> ApiError:
    """The error 404 for a key that no resource of the project has."""
    return ApiError([Fault("ResourceNotFound", f"The Resource with key '{key[:_LONGEST_ECHO]}' was not found.")])


def no_own_resource(project_key: str) -> ApiError:
    """The error 404 for a PATCH whose body names neither id nor key, if there is no resource for it to change. Such a
    PATCH changes the youngest resource of the project that has no key and was created by the same API client."""
    message = (
        f"The project '{project_key}' has no Resource without a key that this API client has created. "
        "A body without id and key means the youngest of these."
    )
    return ApiError([Fault("ResourceNotFound", message)])


def unknown_url(path: str) -> ApiError:
    """The error 404 for a path without an endpoint."""
    return ApiError([Fault("ResourceNotFound", f"URI not found: {path}")])


def method_not_allowed(method: str, allowed: Sequence[str]) -> ApiError:
    """The error 405 for a method that the URL does not have, with ``Allow`` (RFC 9110, section 15.5.6)."""
    listed = ", ".join(sorted(allowed))
    fault = Fault("MethodNotAllowed", f"The method {method} is not allowed here. Allowed: {listed}.")
    return ApiError([fault], {"Allow": listed})


def concurrent_modification(resource_id: str, expected: int | float, actual: int) -> ApiError:
    """The error 409 for a version that is not the actual one, with ``currentVersion`` (interface 4.10 and 7).

    :param expected: the number that the client sent. It may be one that no version can have, such as 1.5.
    """
    message = f"Object {resource_id} has a different version than expected. Expected: {expected} - Actual: {actual}."
    return ApiError([Fault("ConcurrentModification", message, {"currentVersion": actual})])


def precondition_failed(header: str, version: int | None, *, has_unusable_tags: bool = False) -> ApiError:
    """The error 412 for If-Match or If-None-Match that does not hold (RFC 9110, section 15.5.13).

    :param version: the version of the resource, which also becomes the ``ETag``; None if there is no resource.
    :param has_unusable_tags: whether the header has tags that no version has, such as weak ones; the message explains
        them.
    """
    message = f"The precondition {header} does not hold: "
    if version is None:
        return ApiError([Fault("PreconditionFailed", f"{message}there is no such Resource.")])
    message += f'the Resource has version {version}, its entity tag is "{version}".'
    if has_unusable_tags:
        message += (
            " A tag that is weak, or that a proxy has changed when it compressed the answer, never matches "
            f'(W/"{version}", "{version}-gzip").'
        )
    return ApiError([Fault("PreconditionFailed", message)], {"ETag": f'"{version}"'})


def target_too_long() -> ApiError:
    """The error 414 for a request target that is too long (RFC 9110, section 15.5.15). The platform has no code for
    414, so the code is ``InvalidInput``, whose usual status is 400."""
    return ApiError([Fault("InvalidInput", "The request target is too long.")], status=414)


def headers_too_large() -> ApiError:
    """The error 431 for headers that are too large (RFC 6585, section 5)."""
    return ApiError([Fault("RequestRejected", "The request headers are too large.")])


def content_too_large(limit: int) -> ApiError:
    """The error 413 for a body that is too large, with the limit in bytes."""
    return ApiError([Fault("ContentTooLarge", f"Content too large. At most {limit} bytes are accepted.")])


def unsupported_content_encoding() -> ApiError:
    """The error 415 for a body with a Content-Encoding, with ``Accept-Encoding`` (RFC 9110, section 12.5.3)."""
    fault = Fault("UnsupportedMediaType", "The request body must be sent as it is, without a Content-Encoding.")
    return ApiError([fault], {"Accept-Encoding": "identity"})


def unsupported_media_type(expected: str, method: str = "POST") -> ApiError:
    """The error 415 for a body whose Content-Type is missing, is another media type than the endpoint accepts, or names
    a charset other than UTF-8. The answer to a PATCH has ``Accept-Patch`` (RFC 5789, section 2.2).

    :param expected: the media type that the endpoint accepts.
    """
    message = f"The request body must have Content-Type {expected}, in UTF-8."
    return ApiError([Fault("UnsupportedMediaType", message)], {"Accept-Patch": expected} if method == "PATCH" else {})


def token_missing(realm: str, message: str) -> ApiError:
    """The error 401 for a missing token. Its ``WWW-Authenticate`` has no ``error`` (RFC 6750, section 3.1)."""
    return ApiError([Fault("invalid_token", message)], {"WWW-Authenticate": f'Bearer realm="{realm}"'})


def token_refused(realm: str, reason: str) -> ApiError:
    """The error 401 for an invalid token, with ``WWW-Authenticate`` (RFC 6750, section 3.1).

    :param reason: the fault of the token, in ASCII without quotes.
    """
    description = f"The access token is not valid: {reason}."
    challenge = f'Bearer realm="{realm}", error="invalid_token", error_description="{description}"'
    # As on the platform, the message is only the code. error_description says why the token is refused.
    return ApiError([Fault("invalid_token", "invalid_token")], {"WWW-Authenticate": challenge}, description=description)


def insufficient_scope(realm: str, scopes: Sequence[str], granted: Iterable[str]) -> ApiError:
    """The error 403 for a token without an accepted scope (RFC 6750, section 3.1).

    :param realm: the key of the project.
    :param scopes: the names of the accepted scopes, without the project.
    :param granted: the scopes of the token, for the description.
    """
    message = f"Insufficient scope. One of the following scopes is missing: {', '.join(scopes)}."
    needed = [f"{scope}:{realm}" for scope in scopes]
    held = " ".join(sorted(granted)) or "none"
    has = held if len(held) <= _LONGEST_ECHO else "others, too many to list"
    description = f"The access token needs {' or '.join(needed)} for the project '{realm}'. It has: {has}."
    challenge = f'Bearer realm="{realm}", error="insufficient_scope", scope="{" ".join(needed)}"'
    return ApiError([Fault("insufficient_scope", message)], {"WWW-Authenticate": challenge}, description=description)


def oauth_error(code: str, message: str) -> ApiError:
    """The error 400 of an OAuth endpoint, with a code of RFC 6749, section 5.2. The message may repeat what a client
    has sent, as on the platform, although that section allows only some characters in ``error_description``."""
    return ApiError([Fault(code, message)])


def invalid_client() -> ApiError:
    """The error 401 for missing or wrong client credentials, with ``WWW-Authenticate`` (RFC 6749, section 5.2). It does
    not say which part is wrong, so that nobody learns which ids exist."""
    fault = Fault("invalid_client", "Please provide valid client credentials using HTTP Basic Authentication.")
    return ApiError([fault], {"WWW-Authenticate": 'Basic realm="sample-resource", charset="UTF-8"'})


def over_capacity(message: str, retry_after_s: int = 1) -> ApiError:
    """The error 503 for a service that is busy or has no database, with ``Retry-After`` (RFC 9110, section 10.2.3)."""
    return ApiError([Fault("OverCapacity", message)], {"Retry-After": str(retry_after_s)})


def general() -> ApiError:
    """The error 500 for a fault of the service. Only the log has the cause, under the correlation id of the answer."""
    return ApiError([Fault("General", "An unexpected error occurred. The request may be tried again.")])
