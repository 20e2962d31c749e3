"""Answers every refusal and every crash of a request with the error body of the interface."""

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from app import errors
from app.database.failures import Unavailable
from app.http.answers import json_answer
from app.http.paths import path_of_request
from app.http.request_log import add_log_fields, correlation_fields
from app.telemetry.metrics import metrics


def install_error_answers(app: Flask) -> None:
    """Register the error handler that answers every exception of a view, and of the hooks before the view.

    Flask does not call the handler for an HTTPException without a status. ``abort(response)`` raises such an exception,
    and Flask answers with this response. Only an extension could do that.
    """

    def answer(error: Exception) -> Response:
        """Answer an exception, count it by its code, and log it if the service has failed."""
        refusal = _refusal_of(error)
        if refusal is None:
            app.logger.error("The request failed.", exc_info=error, extra={"fields": correlation_fields()})
            refusal = errors.general()
        metrics.refusals.labels(refusal.faults[0].code).inc()
        if isinstance(refusal, Unavailable):
            add_log_fields(refusal=refusal.reason)
        response = json_answer(refusal.body(), refusal.status)
        response.headers.extend(refusal.headers)
        return response

    app.register_error_handler(Exception, answer)
    app.register_error_handler(HTTPException, answer)  # replaces flask-smorest's handler of HTTPException


def _refusal_of(error: Exception) -> errors.ApiError | None:
    """The refusal that an exception means; None if it means that the service has failed.

    A 404 and a 405 of werkzeug keep their status. Any other HTTPException with a status below 500 becomes a 400. To
    answer with another status, such as 409, an extension has to raise an ApiError.
    """
    match error:
        case errors.ApiError():
            return error
        case NotFound():
            return errors.unknown_url(path_of_request())
        case MethodNotAllowed():
            return errors.method_not_allowed(request.method, tuple(error.valid_methods or ()))
        case HTTPException() if (error.code or 500) < 500:  # or 500: for the type checker
            return errors.invalid_input(error.description or "The request is malformed.")
        case _:
            return None
