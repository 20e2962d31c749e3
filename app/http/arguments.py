"""Arguments of views: flask-smorest's, loaded strictly from the query string, a JSON body or a form.

The schemas say themselves which names they know and refuse the others with :class:`app.errors.ApiError`; what is left
to do here is to hand them the whole of each location.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, update_wrapper
from typing import Any, NoReturn, TypeVar, cast
from urllib.parse import unquote_to_bytes

from flask import Request, current_app, request
from flask.views import MethodView
from flask_smorest import Blueprint as SmorestBlueprint
from marshmallow import Schema, ValidationError
from webargs.flaskparser import FlaskParser
from werkzeug.datastructures import ImmutableMultiDict, MultiDict

from app import errors
from app.http.bodies import decoded_pairs, read_body, read_form, read_json
from app.http.large_bodies import LARGE_FROM, beside_other_requests
from app.resource.model import Preconditions
from app.resource.preconditions import parse
from app.values.json_fields import faults_of
from app.values.strict_json import is_utf8

AnyView = TypeVar("AnyView", bound=Callable[..., Any])

# unknown=None: the schemas' own setting holds for every location; webargs would drop unknown parameters of a query.
_parser = FlaskParser(unknown=None)

_NO_PARAMETERS: MultiDict[str, str] = ImmutableMultiDict()


@_parser.location_loader("query")
def load_query(request: Request, schema: Schema | None = None) -> MultiDict[str, str]:
    """All parameters of the query string.

    :param schema: if it is given, an error has the faults of the other parameters too.
    :raises ApiError: 400 naming the parameters that are not UTF-8.
    """
    query = request.query_string
    # No character of UTF-8 extends across "&" or "=", so the whole is UTF-8 if all names and values are.
    if (b"%" in query or not query.isascii()) and not is_utf8(unquote_to_bytes(query)):
        pairs, faults = decoded_pairs(query)
        raise errors.ApiError([*faults, *_faults_in(MultiDict(pairs), schema)])
    return request.args


@_parser.location_loader("form")
def load_form(request: Request, schema: Schema | None = None) -> MultiDict[str, str]:
    """The parameters of the query string, and then the fields of a form, which may be the same.

    :raises ApiError: as :func:`app.http.bodies.read_form` does, with the faults of the query string before its own;
        and 400 naming the parameters of the query string that are not UTF-8.
    """
    fields = MultiDict(load_query(request, schema))
    try:
        form = read_form(request, current_app.config["MAX_CONTENT_LENGTH"])
    except errors.ApiError as error:
        if error.status != 400:
            raise
        raise errors.ApiError([*_faults_in(fields, schema), *error.faults]) from None
    for name, value in form:
        fields.add(name, value)
    return fields


def _faults_in(fields: MultiDict[str, str], schema: Schema | None) -> tuple[errors.Fault, ...]:
    try:
        if schema is not None:
            schema.load(fields)
    except errors.ApiError as error:
        return error.faults
    return ()


@_parser.location_loader("json")
def _load_json(request: Request, schema: Schema) -> Any:  # noqa: ARG001 -- webargs' signature  # pyright: ignore[reportUnusedFunction] -- webargs calls it
    return read_json(request, current_app.config["MAX_CONTENT_LENGTH"])


@_parser.error_handler
def _refuse(error: ValidationError, *_: Any, **__: Any) -> NoReturn:  # pyright: ignore[reportUnusedFunction] -- webargs calls it
    """Tell of every fault of a body at once; webargs has put the name of the location around them."""
    raise errors.ApiError(faults_of(next(iter(error.messages_dict.values())))) from None


class Blueprint(SmorestBlueprint):
    """A blueprint whose arguments are parsed strictly, and whose errors have the faults of all parts of a request.

    flask-smorest describes the arguments of a view. It also wraps the view once for each location, so that the first
    faulty location would end the request; here one wrapper loads all of them. ``tests/http/test_upstream.py`` checks
    what that relies on.
    """

    ARGUMENTS_PARSER = _parser

    def arguments(  # pyright: ignore[reportIncompatibleMethodOverride] -- keeps the type of the view
        self, schema: Schema, *, location: str = "json", **options: Any
    ) -> Callable[[AnyView], AnyView]:
        """Load a part of the request with a schema, and pass the result to the view.

        As flask-smorest's decorator: several of them pass their results in the order in which they stand.

        :param location: ``json``, ``query`` or ``form``.
        """
        describe: Callable[[AnyView], Any] = super().arguments(schema, location=location, **options)
        load: Callable[[], Any] = partial(_parser.parse, schema, location=location)
        if location == "query":
            load = _unless_empty(load, schema)
        elif location == "json":
            load = _beside_others_if_large(load)

        def decorate(view: AnyView) -> AnyView:
            return _loading(view, _Part(location, load), describe(view))

        return decorate

    def loads(self, location: str, load: Callable[[], object]) -> Callable[[AnyView], AnyView]:
        """Pass to the view what a function makes of the current request.

        :param location: the part of the request that it reads: ``path``, ``headers``, ``query``, ``form`` or ``json``.
        :param load: may raise an ApiError.
        """
        return lambda view: _loading(view, _Part(location, load), view)

    def checks(self, location: str, check: Callable[[], object]) -> Callable[[AnyView], AnyView]:
        """As :meth:`loads`, without passing anything."""
        return lambda view: _loading(view, _Part(location, check, is_argument=False), view)


def _unless_empty(parse: Callable[[], Any], schema: Schema) -> Callable[[], Any]:
    """Most reads have no query string, so what that loads to is computed once; it is never changed."""
    empty: Any = schema.load(_NO_PARAMETERS)
    return lambda: parse() if request.query_string else empty


def _beside_others_if_large(parse: Callable[[], Any]) -> Callable[[], Any]:
    def load() -> Any:
        if len(read_body(request, current_app.config["MAX_CONTENT_LENGTH"])) < LARGE_FROM:
            return parse()
        project: str = (request.view_args or {}).get("project_key", "")
        return beside_other_requests(parse, project)

    return load


_LOCATIONS = ("path", "query", "headers", "form", "json")
"""The parts of a request in the order in which their faults are told."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the request that is loaded or checked before the view is called."""

    location: str
    load: Callable[[], Any]
    is_argument: bool = True


def _loading(view: AnyView, part: _Part, described: Any) -> AnyView:
    """The view behind a wrapper that loads this part and those of the decorators below.

    :param described: the view with the attributes that the wrapper gets, flask-smorest's description among them.
    """
    called, below = getattr(view, _LOADED_FOR, (view, ()))
    parts: tuple[_Part, ...] = (part, *below)

    if len(parts) == 1 and part.is_argument:  # most reads: nothing to collect

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return called(*args, part.load(), **kwargs)

    else:

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return called(*args, *_load_all(parts), **kwargs)

    update_wrapper(wrapper, described)
    setattr(wrapper, _LOADED_FOR, (called, parts))
    return cast("AnyView", wrapper)


_LOADED_FOR = "_loaded_for"
"""The attribute of a wrapper with the view that it calls and the parts that it loads."""


def _load_all(parts: Sequence[_Part]) -> list[Any]:
    """The arguments for the view, in the order of the parts.

    :raises ApiError: 400 with the faults of all parts, those of the path first and those of the body last; or 413 or
        415, which come before any 400.
    """
    loaded: dict[_Part, Any] = {}
    faults: list[errors.Fault] = []
    for part in sorted(parts, key=lambda part: _LOCATIONS.index(part.location)):
        try:
            loaded[part] = part.load()
        except errors.ApiError as error:
            if error.status != 400:
                raise
            faults += error.faults
    if faults:
        raise errors.ApiError(faults)
    return [loaded[part] for part in parts if part.is_argument]


class Endpoint(MethodView):
    """The methods of one URL; they keep nothing, so that one object serves all requests."""

    init_every_request = False


def preconditions() -> Preconditions:
    """If-Match and If-None-Match of the current request.

    :raises ApiError: 400 for a header that is neither ``*`` nor a list of quoted entity tags.
    """
    headers = request.headers  # each use of the proxy costs more than a look into the headers
    return parse(headers.get("If-Match"), headers.get("If-None-Match"))
