"""Faults of tokens and scopes."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

from planted import alter, alter_errors, app, fault, wrap
from small_server.serving import SmallServer


@fault("A-8")
def a_scope_counts_for_all_projects(server: SmallServer) -> None:
    identity = app(server).identity
    identity.suffices = lambda token, project, scopes: any(scope.partition(":")[0] in scopes for scope in token.scopes)


@fault("A-2")
def a_request_without_a_token_is_served(server: SmallServer) -> None:
    identity = app(server).identity

    def admitted(method: Any, authorization: str | None, *given: Any) -> Any:
        return method(authorization or f"Bearer {next(iter(identity.tokens))}", *given)

    wrap(identity, "admitted", admitted)
    identity.suffices = lambda token, project, scopes: (
        token is next(iter(identity.tokens.values())) or type(identity).suffices(identity, token, project, scopes)
    )


@fault("A-4")
def a_401_does_not_say_how_to_authenticate(server: SmallServer) -> None:
    def change(made: Any) -> None:
        if made.headers.get("WWW-Authenticate", "").startswith("Bearer"):
            del made.headers["WWW-Authenticate"]

    alter_errors(server, 401, change)


@fault("A-7")
def a_403_does_not_say_how_to_authenticate(server: SmallServer) -> None:
    alter_errors(server, 403, lambda made: made.headers.pop("WWW-Authenticate"))


@fault("A-6")
def missing_scopes_are_named_with_their_project(server: SmallServer) -> None:
    wrap(app(server).identity, "insufficient", lambda method, scopes: method(tuple(f"{each}:p" for each in scopes)))


@fault("A-10")
def who_may_read_may_write(server: SmallServer) -> None:
    wrap(
        app(server).identity,
        "suffices",
        lambda method, token, project, scopes: method(
            token, project, ("manage_test", "view_test") if scopes == ("manage_test",) else scopes
        ),
    )


@fault("A-9")
def reading_needs_the_scope_of_writing(server: SmallServer) -> None:
    wrap(
        app(server).identity,
        "suffices",
        lambda method, token, project, scopes: method(
            token, project, ("manage_test",) if "view_test" in scopes else scopes
        ),
    )


@fault("A-12")
def the_product_search_takes_any_scope(server: SmallServer) -> None:
    wrap(
        app(server).identity,
        "suffices",
        lambda method, token, project, scopes: method(
            token, project, (*scopes, "manage_test", "view_test") if "view_products" in scopes else scopes
        ),
    )


@fault("A-36")
def revoking_does_nothing(server: SmallServer) -> None:
    app(server).identity.revoke = lambda client, form: None


@fault("A-39")
def any_client_revokes_a_token(server: SmallServer) -> None:
    identity = app(server).identity
    identity.revoke = lambda client, form: identity.tokens.pop(identity.named(form), None)  # type: ignore[assignment] -- in place of a method


@fault("A-16")
def the_answer_with_a_token_may_be_kept(server: SmallServer) -> None:
    def change(request: Any, made: Any) -> None:
        if request.path == "/oauth/token":
            made.headers.pop("Cache-Control", None)

    alter(server, change)


@fault("A-18")
def all_scopes_are_told_of_each_token(server: SmallServer) -> None:
    wrap(
        app(server).identity,
        "grant",
        lambda method, client, form: {**method(client, form), "scope": " ".join(client.scopes)},
    )


@fault("A-25")
def any_scope_can_be_requested(server: SmallServer) -> None:
    identity = app(server).identity
    wrap(
        identity,
        "scopes",
        lambda method, client, asked: tuple(asked.split()) if ":" in asked else method(client, asked),
    )


@fault("A-23")
def wrong_credentials_are_a_bad_request(server: SmallServer) -> None:
    def change(made: Any) -> None:
        if made.body["error"] == "invalid_client":
            made.status = made.body["statusCode"] = 400

    alter_errors(server, 401, change)


@fault("A-34")
def introspection_tells_nothing(server: SmallServer) -> None:
    app(server).identity.introspect = lambda form: {"active": True}


@fault("A-35")
def introspection_counts_milliseconds(server: SmallServer) -> None:
    def introspect(method: Any, form: Any) -> Any:
        made = method(form)
        return {**made, "exp": made["exp"] * 1000} if "exp" in made else made

    wrap(app(server).identity, "introspect", introspect)


@fault("2.1-4")
def the_key_of_another_project_is_found(server: SmallServer) -> None:
    store = app(server).store

    def by_key(method: Any, project: str, key: str) -> Any:
        projects = [project, *(other for other in list(store.projects) if other != project)]
        return next((found for each in projects if (found := method(each, key)) is not None), None)

    application = app(server)

    def get_by_key(method: Any, call: Any) -> Any:
        original = store.by_key
        found = by_key(original, call.project, call.path[1])
        return application.one(found, call.request) if found else method(call)

    wrap(application, "get_by_key", get_by_key)


@fault("2.1-5")
def the_resource_of_another_project_is_deleted(server: SmallServer) -> None:
    store, writes = app(server).store, app(server).writes

    def delete(method: Any, project: str, wanted: str, *given: Any) -> Any:
        owner = next((each for each in list(store.projects) if store.by_id(each, wanted)), project)
        return method(owner, wanted, *given)

    wrap(writes, "delete", delete)


@fault("A-41")
def the_form_counts_more_than_the_query(server: SmallServer) -> None:
    def form(method: Any, content_type: str, body: bytes, query: str) -> Any:
        names = {name for name, _ in parse_qsl(body.decode("utf-8", "replace"))}
        kept = [(name, value) for name, value in parse_qsl(query) if name not in names]
        return method(content_type, body, urlencode(kept))

    wrap(app(server).identity, "form", form)
