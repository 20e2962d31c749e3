"""What the application has made for its views, kept in Flask's ``extensions``."""

from flask import current_app

from app.clock_and_ids import Clocks
from app.database.pool import Database
from app.database.readiness import Readiness
from app.database.replica import ReadingDatabase
from app.identity.server import AuthorizationServer


def database() -> Database:
    """The database, for writes and for reads that must see what was just written."""
    return current_app.extensions["database"]


def reading_database() -> ReadingDatabase:
    """Where lists, existence and search read: the replica of ``DATABASE_READ_URL``, if there is one."""
    return current_app.extensions["reading_database"]


def clocks() -> Clocks:
    """Where writes take their times and ids from."""
    return current_app.extensions["clocks"]


def readiness() -> Readiness:
    """The readiness of this process."""
    return current_app.extensions["readiness"]


def authorization_server() -> AuthorizationServer:
    """The authorization server."""
    return current_app.extensions["authorization_server"]
