"""The sample resource service: an HTTP interface on PostgreSQL."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from app.config import Settings


def create_app(settings: "Settings | None" = None) -> "Flask":
    """Make the WSGI application.

    :param settings: by default they are read from the environment.
    :raises InvalidSetting: for an invalid setting, or without ``DATABASE_URL``, because the application starts no
        database; ``sample-resource serve`` does, and passes its URL to gunicorn.
    """
    # Imported here and not with the package, because the supervisor imports the package and never needs the
    # application.
    from app import application

    return application.create_app(settings)
