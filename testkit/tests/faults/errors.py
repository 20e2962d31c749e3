"""Faults of error bodies and of what comes first."""

from typing import Any

from planted import alter, alter_errors, app, fault, wrap
from small_server import refusals
from small_server.application import Answer, Request
from small_server.refusals import Refused
from small_server.serving import SmallServer


@fault("E-3")
def an_unknown_url_is_answered_with_html(server: SmallServer) -> None:
    def change(made: Answer) -> None:
        if isinstance(made.body, dict) and made.body["message"].startswith("URI not found"):
            made.body, made.headers["Content-Type"] = b"<h1>Not Found</h1>", "text/html"

    alter_errors(server, 404, change)


@fault("E-1")
def an_error_does_not_repeat_its_status(server: SmallServer) -> None:
    def change(request: Request, made: Answer) -> None:
        if made.status >= 400 and isinstance(made.body, dict):
            made.body.pop("statusCode")

    alter(server, change)


@fault("E-1")
def the_message_is_not_that_of_the_first_error(server: SmallServer) -> None:
    def change(request: Request, made: Answer) -> None:
        if made.status >= 400 and isinstance(made.body, dict):
            made.body["message"] = "Something is wrong."

    alter(server, change)


@fault("E-21")
def a_405_does_not_say_what_is_allowed(server: SmallServer) -> None:
    alter_errors(server, 405, lambda made: made.headers.pop("Allow"))


@fault("E-29")
def the_correlation_id_is_always_a_new_one(server: SmallServer) -> None:
    wrap(app(server), "correlation_id", lambda method, sent: method(""))


@fault("E-30")
def an_answer_has_no_correlation_id_of_its_own(server: SmallServer) -> None:
    def change(request: Request, made: Answer) -> None:
        if "x-correlation-id" not in request.headers:
            made.headers.pop("X-Correlation-ID")

    alter(server, change)


@fault("E-13")
def only_the_first_fault_is_told(server: SmallServer) -> None:
    def change(made: Answer) -> None:
        made.body["errors"] = made.body["errors"][:1]

    alter_errors(server, 400, change)


@fault("E-7", "E-10")
def paths_in_errors_have_dots(server: SmallServer) -> None:
    def change(made: Answer) -> None:
        for found in made.body["errors"]:
            for name in ("detailedErrorMessage", "field"):
                if name in found:
                    found[name] = found[name].replace(" -> ", ".")

    alter_errors(server, 400, change)


@fault("E-6")
def a_fault_of_a_body_is_not_explained(server: SmallServer) -> None:
    def change(made: Answer) -> None:
        for found in made.body["errors"]:
            found.pop("detailedErrorMessage", None)

    alter_errors(server, 400, change)


@fault("E-9")
def a_wrong_value_is_not_shown(server: SmallServer) -> None:
    def change(made: Answer) -> None:
        for found in made.body["errors"]:
            found.pop("invalidValue", None)

    alter_errors(server, 400, change)


@fault("E-5")
def a_wrong_parameter_is_not_named(server: SmallServer) -> None:
    def change(made: Answer) -> None:
        for found in made.body["errors"]:
            if found["message"].startswith("Malformed parameter: "):
                found["message"] = "Malformed parameter."
        made.body["message"] = made.body["errors"][0]["message"]

    alter_errors(server, 400, change)


@fault("E-17")
def a_body_is_looked_at_before_the_token(server: SmallServer) -> None:
    application = app(server)

    def admitted(method: Any, authorization: Any, project: str, scopes: Any) -> Any:
        try:
            return method(authorization, project, scopes)
        except Refused:
            if last[0].body and b"{" not in last[0].body:
                raise Refused(400, refusals.bad_structure((), "No JSON.")) from None
            raise

    last: list[Request] = []

    def dispatch(method: Any, request: Request) -> Answer:
        last[:] = [request]
        return method(request)

    wrap(application, "dispatch", dispatch)
    wrap(application.identity, "admitted", admitted)


@fault("E-19")
def an_unknown_id_is_told_before_faults_of_the_body(server: SmallServer) -> None:
    application = app(server)

    def update(method: Any, call: Any) -> Answer:
        application.writes.wanted(call.project, call.path[1])
        return method(call)

    wrap(application, "update", update)


@fault("E-22")
def a_body_may_have_any_size(server: SmallServer) -> None:
    wrap(
        app(server),
        "look_at_body",
        lambda method, request, endpoint: None if len(request.body) > 2_097_152 else method(request, endpoint),
    )


@fault("E-27")
def a_missing_variable_is_a_fault_of_the_server(server: SmallServer) -> None:
    def change(made: Answer) -> None:
        if "%00" in str(made.body) or "UTF-8" in str(made.body):
            made.status = made.body["statusCode"] = 500

    alter_errors(server, 400, change)


@fault("E-2")
def a_403_has_no_error(server: SmallServer) -> None:
    alter_errors(server, 403, lambda made: made.body.pop("error"))


@fault("E-12")
def a_duplicate_is_told_in_other_words(server: SmallServer) -> None:
    def change(made: Answer) -> None:
        for found in made.body["errors"]:
            if found["code"] == "DuplicateField":
                made.body["message"] = found["message"] = "The key is taken."

    alter_errors(server, 400, change)


@fault("2.1-12")
def an_unknown_url_is_an_empty_list(server: SmallServer) -> None:
    def change(made: Answer) -> None:
        if isinstance(made.body, dict) and made.body["message"].startswith("URI not found"):
            made.status, made.body = 200, []

    alter_errors(server, 404, change)
