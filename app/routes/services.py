"""The objects that the application has made for its views. Flask's ``extensions`` keep them."""

from flask import current_app

from app.clock_and_ids import Clocks
from app.database.pool import Database
from app.database.readiness import Readiness
from app.database.replica import ReadingDatabase
from app.identity.server import AuthorizationServer


def database() -> Database:
    """The primary database, for writes, and for reads that must see the latest writes."""
    return current_app.extensions["database"]


def reading_database() -> ReadingDatabase:
    """The database for lists, existence checks and searches: the replica of ``DATABASE_READ_URL`` if there is one, else
    the primary."""
    return current_app.extensions["reading_database"]


def clocks() -> Clocks:
    """The clocks and sources of ids of all projects and clients."""
    return current_app.extensions["clocks"]


def readiness() -> Readiness:
    """The readiness of this process."""
    return current_app.extensions["readiness"]


def authorization_server() -> AuthorizationServer:
    """The authorization server."""
    return current_app.extensions["authorization_server"]
