"""The processes of the service: the supervisor behind ``serve``, the embedded PostgreSQL, and gunicorn.

``docs/architecture.md`` follows a start through the modules. ``supervised_settings``, ``gunicorn_settings``,
``preparation``, ``stopping``, ``worker`` and ``turns`` are loaded by gunicorn in its own processes, and not by the
supervisor.

This module has the errors that keep the service, or its PostgreSQL, from starting. Their messages are for the person
who starts it.
"""


class ServeError(Exception):
    """The error for a service that cannot be started."""


class EmbeddedError(Exception):
    """The error for an embedded PostgreSQL that cannot be started or used."""


class DataDirInUse(EmbeddedError):
    """The error for a data folder that another running process owns."""
