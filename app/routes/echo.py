"""The views of the echo endpoints (interface 4.9 and 4.13)."""

from flask import Response, request
from werkzeug.http import parse_list_header

from app.echo import ComplexRecord, ComplexRecordSchema, EchoQuery, EchoQuerySchema, date_times, echo, form_encoded
from app.http.answers import accepted_types, json_answer
from app.http.arguments import Blueprint, Endpoint
from app.http.bodies import FORM, JSON
from app.http.paths import DESCRIPTION, raise_if_path_is_not_text
from app.identity.scopes import scopes
from app.openapi.marks import Answer, operation
from app.values.strict_json import encode

blueprint = Blueprint("echo", __name__, url_prefix="/<project_key:project_key>/resource")


def _described(status: int, *media_types: str) -> Answer:
    """The description, for the OpenAPI document, of a response that echoes the values of the request."""
    return Answer(status, "EchoedObjectType", "the values that arrived", ("Preference-Applied",), media_types)


@blueprint.route(
    "/artificially-complex/path/uri-parameter-one=<segment:uri_parameter_one>/<filled_segment:uri_parameter_two>"
)
class AllOptions(Endpoint):
    """The echo endpoint with parameters in path, query and body. The interface calls it a POST with all options."""

    @scopes("manage_test", "view_test")
    @operation(
        "postWithAllOptions",
        *(_described(status, JSON, FORM) for status in (200, 201, 203)),
        headers=("Prefer",),
    )
    @blueprint.arguments(ComplexRecordSchema())
    @blueprint.arguments(EchoQuerySchema(), location="query")
    @blueprint.loads("path", raise_if_path_is_not_text)
    def post(
        self,
        record: ComplexRecord,
        query: EchoQuery,
        _: object,  # of raise_if_path_is_not_text, which only checks
        project_key: str,
        uri_parameter_one: str,
        uri_parameter_two: str,
    ) -> Response:
        """Echo path, query and body (4.9).

        Stores nothing, and answers with the values that arrived, in arrays by type: integers, numbers, texts. If the
        body has both `createdAt` and `lastModifiedAt`, one more array has these two times, in milliseconds since 1970.
        `Prefer: code=201` chooses the status. `Accept` chooses between JSON and a form, and JSON is the answer unless
        the form is preferred.
        """
        arrays = echo((uri_parameter_one, uri_parameter_two), query, record)
        answer = Response(form_encoded(arrays), content_type=FORM) if _prefers_form() else json_answer(encode(arrays))
        return _with_preferred_status(answer, (200, 201, 203), "Accept, Prefer")


@blueprint.route(f"/{DESCRIPTION}")
class DescriptionWithLinks(Endpoint):
    """The echo endpoint that may also answer a time in every format. The interface calls it a description with
    links."""

    @scopes("manage_test", "view_test")
    @operation(
        "postDescriptionWithLinks",
        _described(200, JSON),
        Answer(202, "DateTimes", "the body's time in every format", ("Preference-Applied",)),
        headers=("Prefer",),
    )
    @blueprint.arguments(ComplexRecordSchema())
    @blueprint.arguments(EchoQuerySchema(), location="query")
    def post(self, record: ComplexRecord, query: EchoQuery, project_key: str) -> Response:
        """Echo query and body, or one time of the body in every format (4.13).

        Stores nothing. Without `Prefer: code=202` it answers with the values that arrived, in arrays by type: integers,
        numbers, texts. If the body has both `createdAt` and `lastModifiedAt`, one more array has these two times, in
        milliseconds since 1970. With `Prefer: code=202` it answers only with one time of the body: `lastModifiedAt` or,
        if the body does not have it, `createdAt`; a body with neither time is 400. The answer 202 has six fields, which
        show this time as a date, as a time of day, and as a date-time in several formats.
        """
        if _preferred_status() == 202:
            answer = json_answer(encode(date_times(record)))
        else:
            answer = json_answer(encode(echo((), query, record)))
        return _with_preferred_status(answer, (200, 202), "Prefer")


def _prefers_form() -> bool:
    """Whether ``Accept`` prefers a form to JSON (RFC 9110, section 12.5.1). Parameters other than ``q`` are ignored."""
    accepted = accepted_types(request)
    return accepted.quality(FORM) > accepted.quality(JSON)


def _preferred_status() -> int | None:
    """The status in ``Prefer: code=...`` (RFC 7240), or None. If ``code`` is sent more than once, only the first is
    read, even if it is no status."""
    for preference in parse_list_header(",".join(request.headers.getlist("Prefer"))):
        name, _, value = preference.partition(";")[0].partition("=")
        if name.strip().lower() == "code":
            text = value.strip().strip('"')
            return int(text) if text.isascii() and text.isdecimal() and len(text) == 3 else None
    return None


def _with_preferred_status(answer: Response, offered: tuple[int, ...], varies_by: str) -> Response:
    """Give an answer the status that the client prefers, and say so in ``Preference-Applied`` (RFC 7240). If the client
    prefers none of the offered statuses, the answer keeps its status 200, and does not get this header.

    :param offered: the statuses between which the client may choose.
    :param varies_by: the request headers on which the answer depends, for ``Vary``.
    """
    status = _preferred_status()
    if status in offered:
        answer.status_code = status
        answer.headers["Preference-Applied"] = f"code={status}"
    answer.headers["Vary"] = varies_by
    return answer
