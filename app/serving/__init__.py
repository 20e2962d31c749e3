"""The processes of the service: ``serve`` and what it starts, the embedded PostgreSQL, and gunicorn's worker.

``docs/architecture.md`` follows a start through the modules. gunicorn loads ``supervised_settings``,
``gunicorn_settings``, ``private_ports``, ``stopping`` and ``worker`` in its own processes; nothing else imports them.

Here are the reasons why the service, or its PostgreSQL, cannot be started. Messages are for the person who starts it.
"""


class ServeError(Exception):
    """The service cannot be started."""


class EmbeddedError(Exception):
    """The embedded PostgreSQL cannot be started or used."""


class DataDirInUse(EmbeddedError):
    """Another running process owns the data folder."""
