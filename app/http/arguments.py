"""The arguments of views: decorators record them, and :class:`Endpoint` loads all of them before it calls the view.

flask-smorest describes the arguments in the OpenAPI document. Its own decorators also load them, each by a wrapper
around the view, so that the first faulty part of a request would end it. :class:`Endpoint` loads all parts, so that the
error lists the faults of all.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

from flask import request
from flask.views import MethodView
from flask_smorest import Blueprint as SmorestBlueprint
from marshmallow import Schema, ValidationError
from werkzeug.datastructures import MultiDict

from app import errors
from app.http.bodies import LARGE_EXPRESSIONS_BYTES, decoded_pairs, read_form, read_json, wait_for_turn
from app.values.json_fields import faults_of
from app.values.parameters import QuerySchema
from app.values.strict_json import is_utf8

AnyView = TypeVar("AnyView", bound=Callable[..., Any])

_LOCATIONS = ("path", "query", "headers", "form", "json")
"""The parts of a request, in the order in which an error lists their faults."""

_PARTS = "_parts"
"""The attribute of a view that contains its parts of the request."""

_DESCRIPTION = "_apidoc"
"""The attribute in which flask-smorest keeps the description of a view."""


_Part = tuple[str, Callable[[], Any]]
"""The location of a part of the request, and the function that loads it before the view is called."""


class Blueprint(SmorestBlueprint):
    """A blueprint whose views take their arguments from an :class:`Endpoint`.

    The view gets the results of its decorators in the order of the decorators. It names a result ``_`` if the decorator
    is only there to refuse requests.
    ``tests/http/test_upstream.py`` checks the internals of flask-smorest on which :meth:`arguments` relies.
    """

    def arguments(  # pyright: ignore[reportIncompatibleMethodOverride] -- keeps the view, and its type
        self, schema: Schema, *, location: str = "json"
    ) -> Callable[[AnyView], AnyView]:
        """Decorate a view to get a part of the request, loaded by a schema, and describe this part in the OpenAPI
        document.

        :param location: ``json``, ``query``, or ``form`` for the query string and the form together.
        """
        describe: Callable[[AnyView], Any] = super().arguments(schema, location=location)
        take = self.loads(location, partial(_LOADERS[location], schema))

        def decorate(view: AnyView) -> AnyView:
            # flask-smorest writes the description to a wrapper of the view. The wrapper would load the part again,
            # after Endpoint has loaded it. So the description is copied to the view, and the wrapper is dropped.
            # ``take`` records on the view how Endpoint loads the part.
            setattr(view, _DESCRIPTION, getattr(describe(view), _DESCRIPTION))
            return take(view)

        return decorate

    def loads(self, location: str, load: Callable[[], object]) -> Callable[[AnyView], AnyView]:
        """Decorate a view to get the result of a function that reads the current request. :class:`Endpoint` calls the
        function before the view, and passes the result to the view as an argument.

        :param location: the part of the request that the function reads: ``path``, ``headers``, ``query``, ``form`` or
            ``json``.
        :param load: the function. It may raise an ApiError. If the status of the error is 400, :class:`Endpoint` goes
            on with the other parts, and then answers the faults of all parts in one error. Any other error ends the
            request at once.
        """

        def take(view: AnyView) -> AnyView:
            # Python applies the lowest decorator first, so each part is put before those of the decorators below.
            setattr(view, _PARTS, ((location, load), *getattr(view, _PARTS, ())))
            return view

        return take


class Endpoint(MethodView):
    """The base class of the views of a URL, a method for each HTTP method. One object serves all requests."""

    init_every_request = False

    def dispatch_request(self, **path: Any) -> Any:
        """Load the arguments of the view's method for the current request, and call it."""
        name = request.method.lower()
        view = getattr(self, name, None) or getattr(self, "get")  # noqa: B009 -- HEAD, which Flask answers by GET
        return view(*_load_all(getattr(view, _PARTS, ())), **path)


def _load_all(parts: Sequence[_Part]) -> list[Any]:
    """Load the arguments of a view in the order of :data:`_LOCATIONS`, and return them in the order of ``parts``.

    :raises ApiError: 400 if any part has a fault. The error lists the faults of all parts, but at most
        :data:`app.errors.FAULTS_AT_MOST`: those of the path first and those of the body last. If loading a part raises
        an error with another status, such as 413 or 415, this error is raised at once, and the faults that were found
        before are dropped.
    """
    loaded: dict[_Part, Any] = {}
    faults: list[errors.Fault] = []
    for part in sorted(parts, key=lambda part: _LOCATIONS.index(part[0])):
        try:
            loaded[part] = part[1]()
        except errors.ApiError as error:
            if error.status != 400:
                raise
            faults += error.faults
    if faults:
        raise errors.ApiError(faults)
    return [loaded[part] for part in parts]


# How each location is loaded


def _load_query_and_form(schema: QuerySchema) -> Any:
    """Load the parameters of the query string and the fields of the form together.

    A name in both has the values of both, so the schema refuses it unless the parameter is repeatable.
    """
    # A long query waits for its turn, and then has to be parsed without another wait in between (see wait_for_turn).
    # Reading the form may wait for the client, so the form is read first. Then _query_parameters waits for the turn of
    # the query if the query is long, and the schema parses the query right after that.
    fields, faults_of_form = read_form(request)
    query, faults = _query_parameters()
    return _loaded(schema, MultiDict([*query.items(multi=True), *fields]), faults, faults_of_form)


def _query_parameters() -> tuple[MultiDict[str, str], list[errors.Fault]]:
    """The parameters of the query string whose names and values are UTF-8, and faults for the others. A long query
    string first waits for its turn, because all other requests of the process wait while it is parsed
    (:func:`~app.http.bodies.wait_for_turn`)."""
    query = request.query_string
    if len(query) > LARGE_EXPRESSIONS_BYTES:
        wait_for_turn()
    # One check of the whole query, without its percent-encoding, is enough: if the whole is UTF-8, every name and every
    # value is UTF-8, because "&" and "=" are never part of another character in UTF-8. Only if the whole is not UTF-8,
    # decoded_pairs checks each name and value. A query of ASCII characters without "%" needs no check.
    if (b"%" in query or not query.isascii()) and not is_utf8(unquote_to_bytes(query)):
        pairs, faults = decoded_pairs(query)
        return MultiDict(pairs), faults
    return request.args, []


def _loaded(
    schema: QuerySchema, fields: MultiDict[str, str], before: list[errors.Fault], after: Sequence[errors.Fault] = ()
) -> Any:
    """Load the parameters of a request with a schema.

    :param before: faults that were found when the query string was decoded. An error lists them before those of the
        schema.
    :param after: faults that were found when the form was read. An error lists them after those of the schema.
    :raises ApiError: 400 with all these faults, if there is at least one.
    """
    try:
        loaded = schema.load(fields)
    except errors.ApiError as error:
        raise errors.ApiError([*before, *error.faults, *after]) from None
    if before or after:
        raise errors.ApiError([*before, *after])
    return loaded


def _load_json(schema: Schema) -> Any:
    """Load the JSON body of the current request."""
    value = read_json(request)
    try:
        return schema.load(value)
    except ValidationError as error:
        raise errors.ApiError(faults_of(error.messages)) from None


_LOADERS: dict[str, Callable[[Any], Any]] = {
    "query": lambda schema: _loaded(schema, *_query_parameters()),
    "form": _load_query_and_form,
    "json": _load_json,
}
