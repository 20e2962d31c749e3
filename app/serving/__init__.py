"""The processes of the service: the supervisor behind ``serve``, the embedded PostgreSQL, and gunicorn.

``docs/architecture.md`` follows a start through the modules. gunicorn loads ``supervised_settings``,
``gunicorn_settings``, ``preparation``, ``stopping`` and ``worker`` in its own processes; nothing
else imports them.

This module has the errors that keep the service, or its PostgreSQL, from starting. Their messages are for the person
who starts it.
"""


class ServeError(Exception):
    """The error for a service that cannot be started."""


class EmbeddedError(Exception):
    """The error for an embedded PostgreSQL that cannot be started or used."""


class DataDirInUse(EmbeddedError):
    """The error for a data folder that another running process owns."""
