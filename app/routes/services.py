"""Typed access for views to four objects that the application has put into Flask's ``extensions``."""

from flask import current_app

from app.clock_and_ids import Clocks
from app.database.pool import Database
from app.database.readiness import Readiness
from app.identity.server import AuthorizationServer


def database() -> Database:
    """The pool of connections."""
    return current_app.extensions["database"]


def clocks() -> Clocks:
    """The clock and the source of resource ids for each project, and the clock of the tokens for each API client."""
    return current_app.extensions["clocks"]


def readiness() -> Readiness:
    """The readiness of this process."""
    return current_app.extensions["readiness"]


def authorization_server() -> AuthorizationServer:
    """The authorization server."""
    return current_app.extensions["authorization_server"]
