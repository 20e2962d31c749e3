"""The sample resource service: one HTTP interface on PostgreSQL."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from app.config import Settings


def create_app(settings: "Settings | None" = None) -> "Flask":
    """Make the WSGI application.

    :param settings: read from the environment if not given.
    :raises InvalidSetting: for a setting that does not fit, or without ``DATABASE_URL``: only ``sample-resource serve``
        starts a database of its own.
    """
    # Not with the package: what supervises the service would hold all of it in its memory, and never use it.
    from app import application

    return application.create_app(settings)
