"""Arguments of views: flask-smorest's, loaded strictly from the query string, a JSON body or a form.

The schemas say themselves which names they know and refuse the others with :class:`app.errors.ApiError`; what is left
to do here is to hand them the whole of each location.
"""

from typing import Any, NoReturn
from urllib.parse import unquote_to_bytes

from flask import Request, current_app, request
from flask.views import MethodView
from flask_smorest import Blueprint as SmorestBlueprint
from marshmallow import Schema, ValidationError
from webargs.flaskparser import FlaskParser
from werkzeug.datastructures import ImmutableMultiDict, MultiDict

from app import errors
from app.http.bodies import read_form, read_json
from app.resource.model import ExpectedVersion, Preconditions
from app.resource.preconditions import parse
from app.values.json_fields import faults_of

# unknown=None: the schemas' own setting holds for every location; webargs would drop unknown parameters of a query.
_parser = FlaskParser(unknown=None)

_NO_PARAMETERS: MultiDict[str, str] = ImmutableMultiDict()


@_parser.location_loader("query")
def load_query(request: Request, schema: Schema | None = None) -> MultiDict[str, str]:  # noqa: ARG001 -- webargs' signature
    """All parameters of the query string.

    :raises ApiError: 400 if it is not UTF-8.
    """
    query = request.query_string
    if not query:
        return _NO_PARAMETERS
    if b"%" in query or not query.isascii():
        try:
            unquote_to_bytes(query).decode("utf-8")
        except UnicodeDecodeError:
            raise errors.invalid_input("Malformed query string: it is not UTF-8.") from None
    return request.args


@_parser.location_loader("form")
def load_form(request: Request, schema: Schema | None = None) -> MultiDict[str, str]:  # noqa: ARG001 -- webargs' signature
    """The parameters of the query string, and then the fields of a form, which may be the same.

    :raises ApiError: as :func:`app.http.bodies.read_form` does, and 400 if the query string is not UTF-8.
    """
    fields = MultiDict(load_query(request))
    for name, value in read_form(request, current_app.config["MAX_CONTENT_LENGTH"]):
        fields.add(name, value)
    return fields


@_parser.location_loader("json")
def _load_json(request: Request, schema: Schema) -> Any:  # noqa: ARG001 -- webargs' signature  # pyright: ignore[reportUnusedFunction] -- webargs calls it
    return read_json(request, current_app.config["MAX_CONTENT_LENGTH"])


@_parser.error_handler
def _refuse(error: ValidationError, *_: Any, **__: Any) -> NoReturn:  # pyright: ignore[reportUnusedFunction] -- webargs calls it
    """Tell of every fault of a body at once; webargs has put the name of the location around them."""
    raise errors.ApiError(faults_of(next(iter(error.messages_dict.values())))) from None


class Blueprint(SmorestBlueprint):
    """A blueprint whose arguments are parsed strictly."""

    ARGUMENTS_PARSER = _parser


class Endpoint(MethodView):
    """The methods of one URL; they keep nothing, so that one object serves all requests."""

    init_every_request = False


def preconditions(expected: ExpectedVersion | None = None) -> Preconditions:
    """The current request's preconditions: its headers, and the version that its body or query expects.

    :raises ApiError: 400 for a header that is neither ``*`` nor a list of quoted entity tags.
    """
    headers = request.headers  # each use of the proxy costs more than a look into the headers
    return parse(headers.get("If-Match"), headers.get("If-None-Match"), expected)
