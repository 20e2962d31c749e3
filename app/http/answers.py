"""HTTP plumbing that all routes share: path segments, body and query parsing, answers, error pages."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl, unquote_to_bytes, urlsplit

from flask import Flask, Request, Response, current_app, request
from flask.views import MethodView
from flask_smorest import Blueprint as SmorestBlueprint
from gunicorn.http.errors import ParseException
from marshmallow import ValidationError
from webargs.flaskparser import FlaskParser
from werkzeug.datastructures import Headers, MultiDict
from werkzeug.exceptions import (
    ClientDisconnected,
    HTTPException,
    MethodNotAllowed,
    NotFound,
    RequestEntityTooLarge,
    UnsupportedMediaType,
)
from werkzeug.http import parse_options_header
from werkzeug.routing import BaseConverter
from werkzeug.urls import iri_to_uri

from app import errors
from app.database.pool import Database
from app.database.replica import ReadingDatabase
from app.resource.model import PROJECT_KEY_PATTERN, Preconditions, Resource, Written
from app.resource.preconditions import matches, parse, refusal
from app.telemetry.metrics import metrics
from app.values import strict_json
from app.values.json_fields import OBJECT_EXPECTED, faults_of

AnyView = TypeVar("AnyView", bound=Callable[..., Any])

JSON_TYPE = "application/json; charset=utf-8"
FORM_TYPE = "application/x-www-form-urlencoded"

_FIELDS_AT_MOST = 1000
"""Fields of a form: more than any search can use, and few enough to be parsed in no time."""


def database() -> Database:
    """The current application's database: for writes, and for reads that see what was just written."""
    return current_app.extensions["database"]


def reading_database() -> ReadingDatabase:
    """Where lists, existence and search read: the replica of ``DATABASE_READ_URL``, if there is one."""
    return current_app.extensions["reading_database"]


# Paths


class RawPath:
    """WSGI middleware that keeps ``%2F`` inside its path segment, and bytes that are no UTF-8 as they are.

    A WSGI server decodes the whole path, after which an encoded slash cannot be told from a separator, and werkzeug's
    replaces what is no UTF-8. From the undecoded target, which gunicorn and werkzeug pass on, the path is decoded
    again, but for ``%2F`` and ``%25``; the path converters decode these two.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        target: str = environ.get("RAW_URI") or environ.get("REQUEST_URI") or ""
        if "%" in target:
            path = re.split("[?#]", target, maxsplit=1)[0] if target.startswith("/") else urlsplit(target).path
            decoded = unquote_to_bytes(_ENCODED_AGAIN.sub(r"%25\1", path)).decode("latin-1")
            environ["PATH_INFO"] = decoded.removeprefix(environ.get("SCRIPT_NAME", ""))
        return self._application(environ, start_response)


_ENCODED_AGAIN = re.compile("%(25|2[Ff])")


class PathPrefix:
    """WSGI middleware that believes a proxy's ``X-Forwarded-Prefix`` only if it is the beginning of a path.

    Stands behind werkzeug's ``ProxyFix``, which takes any text. It ends up in ``Location`` and in links, where
    ``//host`` would lead away.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        if _PATH_PREFIX.fullmatch(environ["SCRIPT_NAME"]) is None:
            environ["SCRIPT_NAME"] = environ["werkzeug.proxy_fix.orig"]["SCRIPT_NAME"]
        return self._application(environ, start_response)


_PATH_PREFIX = re.compile(r"(?:/(?!\.\.?(?:/|$))[A-Za-z0-9._~-]+)*/?", re.ASCII)


_LEFT_ENCODED = re.compile("%(?:25|2[Ff])")


class Segment(BaseConverter):
    """One path segment of any text, also the empty one."""

    regex = "[^/]*"
    part_isolating = True

    def to_python(self, value: str) -> str:
        return _LEFT_ENCODED.sub(lambda match: "%" if match.group() == "%25" else "/", value)


class FilledSegment(Segment):
    """One path segment of any text but the empty one."""

    regex = "[^/]+"


_FIXED_WORDS = (
    "searchApiPattern",
    "sorted-query-parameters",
    "description-with-urn-links",
    "product-projection-search",
)


class ResourceId(Segment):
    """The ``{id}`` segment: anything that is neither ``key=...`` nor one of the fixed words.

    Without this, another method on one of those would reach the resource with that id instead of being refused.
    """

    regex = f"(?!key=|(?:{'|'.join(_FIXED_WORDS)})(?:/|$))[^/]+"


class ProjectKey(BaseConverter):
    """The first path segment of the interface."""

    regex = PROJECT_KEY_PATTERN


# Requests


class ArgumentsParser(FlaskParser):
    """webargs with the service's strictness: undeclared names are refused, every fault is a 400 of the catalogue."""

    def parse(self, argmap: Any, req: Request | None = None, *, location: str | None = None, **_: Any) -> Any:
        """Load a schema from one place of a request: ``json``, ``query`` or ``form``.

        The schemas say themselves what becomes of undeclared names, and nothing is validated beside them, so of what
        webargs does between the two steps there is nothing left to do.
        """
        asked: Request = cast("Any", request)._get_current_object() if req is None else req
        if location == "query":
            return argmap.load(self.load_querystring(asked, argmap) if asked.query_string else {})
        if location == "form":
            return argmap.load(self.load_form(asked, argmap))
        try:
            return argmap.load(self.load_json(asked, argmap))
        except ValidationError as error:
            raise errors.ApiError(faults_of(error.messages)) from None

    def load_json(self, req: Request, schema: Any) -> Any:  # noqa: ARG002 -- webargs' signature
        data = read_body(req, current_app.config["MAX_CONTENT_LENGTH"])
        if not data:
            raise errors.ApiError([errors.shape_fault(OBJECT_EXPECTED)])
        if not _is_in_utf8(req.environ.get("CONTENT_TYPE", ""), "application/json"):
            raise errors.unsupported_media_type("application/json")
        try:
            return strict_json.decode(data)
        except strict_json.InvalidJson as error:
            raise errors.ApiError([errors.shape_fault(str(error))]) from None

    def load_form(self, req: Request, schema: Any) -> Any:
        """The fields of a form, after the parameters of the query string, which takes the same."""
        fields: MultiDict[str, str] = MultiDict(self.load_querystring(req, schema))
        data = read_body(req, current_app.config["MAX_CONTENT_LENGTH"])
        if data:
            if not _is_in_utf8(req.environ.get("CONTENT_TYPE", ""), FORM_TYPE):
                raise errors.unsupported_media_type(FORM_TYPE)
            try:
                pairs = parse_qsl(
                    data.decode(), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS_AT_MOST
                )
            except UnicodeDecodeError:
                raise errors.invalid_input("Malformed form: it is not UTF-8.") from None
            except ValueError:
                raise errors.invalid_input(f"Malformed form: it has more than {_FIELDS_AT_MOST} fields.") from None
            for name, value in pairs:
                fields.add(name, value)
        return fields

    def load_querystring(self, req: Request, schema: Any) -> Any:  # noqa: ARG002 -- webargs' signature
        query = req.query_string
        if b"%" in query or not query.isascii():
            try:
                unquote_to_bytes(query).decode("utf-8")
            except UnicodeDecodeError:
                raise errors.invalid_input("Malformed query string: it is not UTF-8.") from None
        return req.args


@lru_cache(maxsize=64)
def _is_in_utf8(content_type: str, media_type: str) -> bool:
    """Whether a Content-Type names a media type, and no other character encoding than UTF-8."""
    found, parameters = parse_options_header(content_type)
    return found.lower() == media_type and parameters.get("charset", "utf-8").lower() in ("utf-8", "utf8")


def read_body(req: Request, limit: int) -> bytes:
    """The body, of at most so many bytes.

    :raises ApiError: 413 for a longer one; 400 if the client stops sending.
    :raises ClientDisconnected: 400 as well, if it hangs up.
    """
    try:
        length = req.environ.get("CONTENT_LENGTH", "")
        # Gunicorn lets no length pass that is not a number, and gives no more than so many bytes.
        data = _read_length(req, int(length), limit) if _LENGTH.fullmatch(length) else _read_chunks(req, limit)
    except RequestEntityTooLarge:
        raise errors.content_too_large(limit) from None
    except TimeoutError:
        raise errors.invalid_input("Malformed request body: it did not arrive in time.") from None
    if len(data) > limit:
        raise errors.content_too_large(limit)
    return data


_LENGTH = re.compile("[0-9]{1,15}", re.ASCII)


def _read_length(req: Request, length: int, limit: int) -> bytes:
    """A body whose length is known: read past the limits and counters that werkzeug puts around it."""
    if length > limit:
        raise RequestEntityTooLarge
    data: bytes = req.environ["wsgi.input"].read(length)
    if len(data) < length:
        raise ClientDisconnected
    return data


def _read_chunks(req: Request, limit: int) -> bytes:
    """A body in chunks, or none. A byte more is let through, since werkzeug cuts it at its limit without a word."""
    req.max_content_length = limit + 1
    return req.get_data(cache=False)


class Blueprint(SmorestBlueprint):
    """A blueprint whose arguments are parsed strictly."""

    ARGUMENTS_PARSER = ArgumentsParser()

    def arguments(self, schema: Any, *, location: str = "json", **options: Any) -> Callable[[AnyView], AnyView]:  # pyright: ignore[reportIncompatibleMethodOverride] -- what this service uses of it
        """As flask-smorest's, which documents the arguments, but with one call around the view instead of four."""
        document = super().arguments(schema, location=location, **options)
        parser = self.ARGUMENTS_PARSER

        def decorate(view: AnyView) -> AnyView:
            @wraps(document(view))
            def with_arguments(*positional: Any, **named: Any) -> Any:
                return view(*positional, parser.parse(schema, location=location), **named)

            return cast("AnyView", with_arguments)

        return decorate


class Endpoint(MethodView):
    """The methods of one URL; they keep nothing, so that one object serves all requests."""

    init_every_request = False


def preconditions(expected: Any = None) -> Preconditions:
    """The current request's preconditions: its headers, and the version that its body or query expects."""
    environ = request.environ
    return parse(environ.get("HTTP_IF_MATCH"), environ.get("HTTP_IF_NONE_MATCH"), expected)


def raise_if_path_is_not_text(parameters: Mapping[str, str]) -> None:
    """Refuse path parameters that are no UTF-8 or that hold what no text of the service can hold.

    :raises ApiError: 400 with a fault for each.
    """
    path: str = request.environ["PATH_INFO"]
    if not path.isascii():
        try:
            path.encode("latin-1").decode("utf-8")
        except UnicodeDecodeError:
            raise errors.invalid_input("Malformed path: it is not UTF-8.") from None
    found = {name: strict_json.unstorable_character(text) for name, text in parameters.items()}
    errors.raise_if_any(
        [errors.parameter_fault(name, f"A text cannot hold {what}.") for name, what in found.items() if what]
    )


# Answers


class _Finished(Response):
    """A response with a body, whose headers are as they go out: no relative ``Location``, no text beyond ASCII."""

    def get_wsgi_headers(self, environ: Any) -> Headers:  # noqa: ARG002 -- werkzeug's signature
        return self.headers


def json_answer(body: str, status: int = 200) -> Response:
    """A JSON text as a response."""
    return _Finished(body, status, content_type=JSON_TYPE)


def resource_answer(resource: Resource, status: int = 200) -> Response:
    """A single resource with its entity tag."""
    answer = json_answer(resource.json, status)
    answer.headers.add("ETag", _entity_tag(resource))
    return answer


def read_answer(resource: Resource) -> Response:
    """A resource that was read: 200, or 304 if the client has this version, or 412 if it wants another."""
    environ = request.environ
    if "HTTP_IF_MATCH" not in environ and "HTTP_IF_NONE_MATCH" not in environ:
        return resource_answer(resource)
    conditions = preconditions()
    refused = refusal(replace(conditions, if_none_match=None), resource.id, resource.version)
    if refused is not None:
        raise refused
    if conditions.if_none_match is not None and matches(conditions.if_none_match, resource.version):
        return Response(status=304, headers={"ETag": _entity_tag(resource)})
    return resource_answer(resource)


def _entity_tag(resource: Resource) -> str:
    return f'"{resource.version}"'


def written_answer(written: Written, project_key: str) -> Response:
    """A resource that was written: 201 with its address if it is new."""
    if not written.created:
        return resource_answer(written.resource)
    answer = resource_answer(written.resource, 201)
    prefix = _prefix_of(request.environ["SCRIPT_NAME"])
    answer.headers.add("Location", f"{prefix}/{project_key}/resource/{written.resource.id}")
    return answer


@lru_cache(maxsize=16)
def _prefix_of(script_name: str) -> str:
    """Where the service begins, as a header says it."""
    return iri_to_uri(script_name.encode("latin-1").decode(errors="replace").rstrip("/"))


# Errors


def install_error_answers(app: Flask) -> None:
    """Answer every refusal and every crash with the one error body."""

    def answer(error: errors.ApiError) -> Response:
        metrics.refusals.labels(error.faults[0].code).inc()
        return Response(error.body(), error.status, content_type=JSON_TYPE, headers=error.headers)

    def answer_http(error: HTTPException) -> Response:
        return answer(_of_http(error, app))

    def answer_malformed(error: ParseException) -> Response:
        # Chunks are parsed while the application reads the body.
        return answer(errors.invalid_input(f"Malformed request body: {type(error).__name__}."))

    def answer_crash(error: Exception) -> Response:
        app.logger.error("The request failed.", exc_info=error)
        return answer(errors.general())

    app.register_error_handler(errors.ApiError, answer)
    app.register_error_handler(HTTPException, answer_http)
    app.register_error_handler(ParseException, answer_malformed)
    app.register_error_handler(Exception, answer_crash)


def _of_http(error: HTTPException, app: Flask) -> errors.ApiError:
    match error:
        case NotFound():
            return errors.unknown_url(request.path)
        case MethodNotAllowed():
            return errors.method_not_allowed(request.method, tuple(error.valid_methods or ()))
        case RequestEntityTooLarge():
            return errors.content_too_large(cast("int", app.config["MAX_CONTENT_LENGTH"]))
        case UnsupportedMediaType():
            return errors.unsupported_media_type("application/json")
        case _ if (error.code or 500) < 500:
            return errors.invalid_input(error.description or "The request is malformed.")
        case _:
            return errors.general()
