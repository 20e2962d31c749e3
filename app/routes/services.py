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
    """The object with the clocks and the sources of resource ids. Its method ``of_project`` returns the clock and the
    source of ids for requests to a project. Its method ``of_client`` returns the clock by which the tokens of an API
    client are issued and expire."""
    return current_app.extensions["clocks"]


def readiness() -> Readiness:
    """The readiness of this process."""
    return current_app.extensions["readiness"]


def authorization_server() -> AuthorizationServer:
    """The authorization server."""
    return current_app.extensions["authorization_server"]
