"""Why the service, or its PostgreSQL, cannot be started. Messages are for the person who starts it."""


class ServeError(Exception):
    """The service cannot be started."""


class EmbeddedError(Exception):
    """The embedded PostgreSQL cannot be started or used."""


class DataDirInUse(EmbeddedError):
    """Another running process owns the data folder."""
