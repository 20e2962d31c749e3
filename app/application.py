"""The WSGI application. Here the parts of the service meet, and nowhere else."""

from collections.abc import Callable
from typing import Any

from flask import Flask, Request
from flask.sessions import NullSession, SessionInterface
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import MapAdapter

from app.config import Settings
from app.database.pool import Database
from app.database.readiness import Readiness
from app.database.replica import ReadingDatabase
from app.http.answers import FilledSegment, PathPrefix, ProjectKey, RawPath, ResourceId, Segment, install_error_answers
from app.http.hosts import install_host_check
from app.http.request_log import configure_logging, install_request_log
from app.identity.gate import install_gate
from app.identity.server import AuthorizationServer
from app.routes import install_routes


class _NoSessions(SessionInterface):
    """The service keeps nothing between requests, so all have one session, in which nothing is kept."""

    _none = NullSession()

    def open_session(self, app: Flask, request: Any) -> NullSession:  # noqa: ARG002 -- Flask's signature
        return self._none


class Service(Flask):
    """Flask without what this service has no use for: each of these costs a read more than its authorisation does."""

    session_interface = _NoSessions()

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Match paths alone: routes have no hosts, which Flask would take apart for each request."""
        if request is None:
            return None
        environ = request.environ
        if self.config["TRUSTED_HOSTS"] is not None:
            request.trusted_hosts = self.config["TRUSTED_HOSTS"]
            request.host  # noqa: B018 -- refuses one that is not trusted
        return MapAdapter(
            self.url_map,
            server_name=environ.get("HTTP_HOST", ""),
            script_name=environ.get("SCRIPT_NAME", "").rstrip("/") + "/",
            subdomain="",
            url_scheme=environ["wsgi.url_scheme"],
            path_info=environ["PATH_INFO"].encode("latin-1").decode(errors="replace"),
            default_method=environ["REQUEST_METHOD"],
            query_args=environ.get("QUERY_STRING", ""),
        )

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Every function is synchronous; Flask would look at each of them in each request."""
        return func


def create_app(settings: Settings | None = None) -> Flask:
    """Make it; see :func:`app.create_app`."""
    settings = settings or Settings.from_environment()
    if settings.database_url is None:
        raise ValueError("DATABASE_URL is not set; 'sample-resource serve' starts an embedded PostgreSQL and sets it.")
    configure_logging(settings)

    app = Service("app", static_folder=None)
    app.config.update(
        MAX_CONTENT_LENGTH=settings.max_body_bytes,
        TRUSTED_HOSTS=list(settings.hosts) or None,
        API_TITLE="Sample Resource Service",
        API_VERSION="v1",
        OPENAPI_VERSION="3.1.0",
    )
    app.url_map.merge_slashes = False
    app.url_map.converters |= {
        "project_key": ProjectKey,
        "resource_id": ResourceId,
        "segment": Segment,
        "filled_segment": FilledSegment,
    }

    database = Database(settings.database_url, settings)
    app.extensions["database"] = database
    read_url = settings.database_read_url
    replica = None if read_url is None else Database(read_url, settings, "replica")
    app.extensions["reading_database"] = ReadingDatabase(database, replica)
    app.extensions["readiness"] = Readiness(database)

    authorization_server = AuthorizationServer(settings, database)
    app.extensions["authorization_server"] = authorization_server

    install_request_log(app)
    install_host_check(app, settings.base_domain)
    install_gate(app, authorization_server.verifier)
    install_routes(app, settings)
    install_error_answers(app)  # after flask-smorest, which answers HTTP errors in a form of its own
    if settings.trusted_proxies:
        # Only what docs/security.md asks the proxy to set: a header that it passes through would be the client's word.
        proxies = settings.trusted_proxies
        app.wsgi_app = ProxyFix(
            PathPrefix(app.wsgi_app), x_for=proxies, x_proto=proxies, x_host=proxies, x_prefix=proxies
        )
    app.wsgi_app = RawPath(app.wsgi_app)
    return app
