"""Answers every refusal and every crash of a request with the error body of the interface."""

from flask import Flask, Response, request
from gunicorn.http.errors import ParseException
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from app import errors
from app.database.failures import Unavailable
from app.http.answers import json_answer
from app.http.paths import path_of_request
from app.http.request_log import add_log_fields, correlation_fields
from app.telemetry.metrics import metrics


def install_error_answers(app: Flask) -> None:
    """Register the handlers that answer every exception of a view or a hook."""

    def answer(error: errors.ApiError) -> Response:
        metrics.refusals.labels(error.faults[0].code).inc()
        if isinstance(error, Unavailable):
            add_log_fields(refusal=error.reason)
        response = json_answer(error.body(), error.status)
        response.headers.extend(error.headers)
        return response

    def answer_http(error: HTTPException) -> Response:
        return answer(_of_http(error))

    def answer_malformed(error: ParseException) -> Response:
        # Gunicorn parses chunks while the application reads the body.
        return answer(errors.invalid_input(f"Malformed request body: {type(error).__name__}."))

    def answer_crash(error: Exception) -> Response:
        app.logger.error("The request failed.", exc_info=error, extra={"fields": correlation_fields()})
        return answer(errors.general())

    app.register_error_handler(errors.ApiError, answer)
    app.register_error_handler(HTTPException, answer_http)
    app.register_error_handler(ParseException, answer_malformed)
    app.register_error_handler(Exception, answer_crash)


def _of_http(error: HTTPException) -> errors.ApiError:
    match error:
        case NotFound():
            return errors.unknown_url(path_of_request())
        case MethodNotAllowed():
            return errors.method_not_allowed(request.method, tuple(error.valid_methods or ()))
        case _ if (error.code or 500) < 500:
            return errors.invalid_input(error.description or "The request is malformed.")
        case _:
            return errors.general()
