"""The fence of a sandbox project: who writes its resources passes it, and a reset, restore or removal closes it.

It is an advisory lock. A write holds it in shared mode from before its first statement until it is committed, and
looks within that time whether the project is still there. What replaces the whole project holds it alone, for its
transaction. So a write is either committed before a reset begins, and gone with it, or it begins after the reset and
stays. After a removal none begins.

A write that finds the fence closed gives its connection back before it waits, so that other projects have it meanwhile.
"""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import LiteralString

import psycopg
from flask import g, has_request_context

from app import errors
from app.database.admission import Lane
from app.database.connection import Connection
from app.database.failures import Unavailable
from app.database.pool import Database
from app.sandbox.projects import store as project_store
from app.sandbox.projects.model import SandboxProject

_PAUSE_S = 0.02
"""Between two looks of a write whether the fence is open."""

# A lock of the session and not of the transaction, so that a write can be several transactions. The space is "Fenc".
_TRY: LiteralString = "SELECT pg_try_advisory_lock_shared(1181052515, hashtext(%(project_key)s))"
_LEAVE: LiteralString = "SELECT pg_advisory_unlock_shared(1181052515, hashtext(%(project_key)s))"
_CLOSE: LiteralString = "SELECT pg_advisory_xact_lock(1181052515, hashtext(%(project_key)s))"


class Fence:
    """What writes of this process pass.

    :param find: finds a sandbox project by its key.
    :param patience_s: how long a write waits for a fence that is closed.
    """

    def __init__(self, database: Database, find: Callable[[str], SandboxProject | None], patience_s: float) -> None:
        self._database = database
        self._find = find
        self._patience_s = patience_s

    @contextmanager
    def writing(self, project_key: str, lane: Lane = Lane.FAST) -> Generator[Connection]:
        """A connection for writes to a project; for one that the sandbox has not made, any connection.

        :raises ApiError: 401 if the project has been removed, 503 if the fence stays closed.
        """
        project = self._project(project_key)
        if project is None:
            with self._database.connection(project_key, lane) as connection:
                yield connection
            return
        deadline = time.monotonic() + self._patience_s
        while True:
            with self._database.connection(project_key, lane) as connection:
                if _enter(connection, project_key):
                    try:
                        if not project_store.is_there(connection, project_key, project.client_id):
                            raise removed(project_key)
                        yield connection
                    finally:
                        _leave(connection, project_key)
                    return
            if time.monotonic() > deadline:
                raise Unavailable("lock_timeout", "The project is being reset, restored or removed.")
            time.sleep(_PAUSE_S)

    def _project(self, project_key: str) -> SandboxProject | None:
        """The project that the request was let in for: it may be gone by now, and its key may be that of another."""
        pinned = pinned_project()
        return pinned if pinned is not None and pinned.key == project_key else self._find(project_key)


def pin(project: SandboxProject) -> None:
    """Note the project that the current request was let in for."""
    g.sandbox_project = project


def pinned_project() -> SandboxProject | None:
    """The project that the current request was let in for; None outside of a request to a sandbox project."""
    return g.get("sandbox_project") if has_request_context() else None


def removed(project_key: str) -> errors.ApiError:
    """401, as for every token of a project that is gone."""
    return errors.unauthorized(project_key, "invalid_token", token_given=True)


def close(connection: Connection, project_key: str) -> None:
    """Wait for the writes that have passed, and let none pass until the transaction ends."""
    connection.execute(_CLOSE, {"project_key": project_key})


def _enter(connection: Connection, project_key: str) -> bool:
    row = connection.execute(_TRY, {"project_key": project_key}).fetchone()
    return row is not None and row[0]


def _leave(connection: Connection, project_key: str) -> None:
    """Unlock. If that fails, the connection is closed, and PostgreSQL unlocks."""
    if connection.closed:
        return
    try:
        connection.execute(_LEAVE, {"project_key": project_key})
    except psycopg.Error:
        connection.close()
    except BaseException:
        connection.close()
        raise
