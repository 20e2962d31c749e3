"""gunicorn's configuration for ``gunicorn wsgi:app`` in a checkout; the settings are those of the package."""

from app.serving.gunicorn_settings import *  # noqa: F403 -- gunicorn reads the names of this module
