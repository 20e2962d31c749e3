"""Makes the WSGI application. Only this module makes the parts of the service and joins them."""

from collections.abc import Callable, Sequence
from typing import Any

from flask import Flask, Request, Response, request
from flask.sessions import NullSession, SessionInterface
from werkzeug.middleware.proxy_fix import ProxyFix

from app.clock_and_ids import REAL_CLOCKS
from app.config import Settings
from app.database.connection import check_database_url
from app.database.pool import Database
from app.database.readiness import Readiness
from app.extension import adapted_to_extension, package_of
from app.http import request_log
from app.http.answers import complete_headers
from app.http.cors import cors_hooks
from app.http.error_answers import install_error_answers
from app.http.hosts import host_check
from app.http.malformed import check_request
from app.http.paths import CONVERTERS, PathPrefix, RawPath
from app.identity.gate import Gate
from app.identity.server import AuthorizationServer
from app.routes import install_routes
from app.telemetry.logs import configure_logging


class _NoSessions(SessionInterface):
    """Gives all requests one empty session, because the service has no sessions. Without this class Flask would make
    one for each request."""

    _none = NullSession()

    def open_session(self, app: Flask, request: Any) -> NullSession:  # noqa: ARG002 -- Flask's signature
        """Return the one empty session. Called by Flask for each request."""
        return self._none


def create_app(settings: Settings | None = None) -> Flask:
    """Make the WSGI application; see :func:`app.create_app`."""
    settings = adapted_to_extension(settings or Settings.from_environment())
    url = check_database_url(settings)
    configure_logging(settings)

    app = Flask("app", static_folder=None)
    app.session_interface = _NoSessions()
    app.config.update(API_TITLE="Sample Resource Service", API_VERSION="v1", OPENAPI_VERSION="3.1.0")
    app.url_map.merge_slashes = False  # else werkzeug redirects doubled slashes
    app.url_map.converters |= CONVERTERS

    database = Database(url, settings)
    package = package_of(settings)
    extension = package.extension(settings, database)
    database.around_writes = extension.writing  # only now, because the extension is made with the database
    clocks = extension.clocks or REAL_CLOCKS
    authorization_server = AuthorizationServer(database, clocks)
    app.extensions |= {
        "database": database,
        "readiness": Readiness(database, package.migrations),
        "authorization_server": authorization_server,
        "clocks": clocks,
        "settings": settings,
        "extension": extension,
    }

    # The hooks are called in the order of these tuples. An exception in a hook before the view ends the request, and is
    # answered like an exception in a view.
    before_the_view: tuple[_Hook, ...] = (
        request_log.start,  # correlation id, clock and count of SQL statements, which every answer needs
        check_request,  # a malformed request is reported without any other error
        host_check(settings),  # before the token, so that a refused host is reported without any other error
        Gate(app, authorization_server.verifier).check,  # token and scopes, before anything is parsed
        extension.before,  # only for requests that the gate lets pass
    )
    after_the_view: tuple[_AfterHook, ...] = (
        extension.after,
        complete_headers,
        request_log.finish,  # counts and logs every answer, even of a hook before the view or an error
        *cors_hooks(app, settings),  # lets pages of allowed origins read answers about resources and tokens
    )
    _install(app, before_the_view, after_the_view)

    request_log.create_metric_series(extension)
    install_routes(app, settings)
    install_error_answers(app)  # after flask-smorest, to replace its handler of HTTP errors
    app.wsgi_app = _middleware(app, settings)
    return app


_Hook = Callable[[Request], Any]
_AfterHook = Callable[[Request, Response], Response]


def _install(app: Flask, before_the_view: Sequence[_Hook], after_the_view: Sequence[_AfterHook]) -> None:
    """Register two functions with Flask: one calls the hooks before the view, in order, until one of them answers; the
    other calls all hooks after the view, in order.

    There are only two, because Flask takes time for each registered function. Each of the two resolves Flask's request
    proxy once, and passes the request itself to its hooks, because each use of the proxy also takes time.
    """
    proxy: Any = request  # its type lacks _get_current_object

    def before() -> Any:
        """Call the hooks before the view, until one of them answers (Flask's hook)."""
        current = proxy._get_current_object()
        for hook in before_the_view:
            if (answer := hook(current)) is not None:
                return answer
        return None

    def after(answer: Response) -> Response:
        """Call all hooks after the view (Flask's hook)."""
        current = proxy._get_current_object()
        for hook in after_the_view:
            answer = hook(current, answer)
        return answer

    app.before_request(before)
    app.after_request(after)


def _middleware(app: Flask, settings: Settings) -> Any:
    """The WSGI application of Flask, wrapped into the middleware. A request passes, in this order:

    - RawPath. It keeps ``%2F`` within a segment of the path. If the request line has a whole URL, RawPath puts the
      URL's host into the Host header.
    - ProxyFix, only with trusted proxies. It takes the client's address, the scheme, the host and the path prefix from
      the proxies' headers. ``X-Forwarded-Host`` replaces the Host header, even a Host header that RawPath has set.
    - PathPrefix, only with trusted proxies. ProxyFix has copied any ``X-Forwarded-Prefix`` to SCRIPT_NAME, even a
      malformed one. If the prefix is malformed, PathPrefix restores the earlier SCRIPT_NAME.
    """
    inner: Any = app.wsgi_app
    if settings.trusted_proxies:
        # Only the headers that docs/security.md tells the proxy to set. A client could send any other header itself.
        proxies = settings.trusted_proxies
        inner = ProxyFix(PathPrefix(inner), x_for=proxies, x_proto=proxies, x_host=proxies, x_prefix=proxies)
    return RawPath(inner)
