"""Helpers of all commands: connections, parameter types, messages of errors, and output as lines of JSON."""

import json
import re
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import click
import psycopg

from app.config import InvalidSetting, Settings
from app.database.connection import Connection, check_database_url, connect
from app.database.migrate import MigrationFailed
from app.identity.clients import SCOPES_LENGTH_AT_MOST, UnknownClient
from app.identity.scopes import SCOPE, SCOPE_NAMES
from app.serving import EmbeddedError, embedded
from app.values.patterns import PROJECT_KEY_PATTERN


class ScopesParameter(click.ParamType[tuple[str, ...]]):
    """The type of an option whose value is scopes, separated by spaces."""

    name = "scopes"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The scopes in their order, each once. An empty value, a text that is no scope, and scopes that are too long
        together are refused."""
        scopes = tuple(dict.fromkeys(value.split()))
        wrong = [scope for scope in scopes if SCOPE.fullmatch(scope) is None]
        if wrong or not scopes:
            refused = repr(" ".join(wrong)) if wrong else "An empty value"
            self.fail(
                f"{refused} is no scope. One is NAME:PROJECT, where NAME is"
                f" {', '.join(SCOPE_NAMES[:-1])} or {SCOPE_NAMES[-1]}, and PROJECT has 1 to 64 letters, digits,"
                " underscores and hyphens.",
                param,
                ctx,
            )
        if len(" ".join(scopes)) > SCOPES_LENGTH_AT_MOST:
            self.fail(f"All scopes together may have at most {SCOPES_LENGTH_AT_MOST} characters.", param, ctx)
        return scopes


class ProjectKeyParameter(click.ParamType[str]):
    """The type of an option whose value is the key of a project."""

    name = "project"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The key, if it has the form of one."""
        if re.fullmatch(PROJECT_KEY_PATTERN, value) is None:
            self.fail(f"{value!r} is no project key: 1 to 64 letters, digits, underscores and hyphens.", param, ctx)
        return value


def database_url(settings: Settings) -> AbstractContextManager[str]:
    """A context with the URL of a command's database: DATABASE_URL, or the embedded PostgreSQL, which is started if it
    does not run.

    Entering it raises EmbeddedError if the embedded PostgreSQL cannot be started.

    :raises InvalidSetting: for a DATABASE_URL that libpq cannot parse.
    """
    if settings.database_url is None:
        return embedded.database(settings.data_dir)
    return nullcontext(check_database_url(settings))


@contextmanager
def open_connection(settings: Settings, *, has_time_limits: bool = True) -> Generator[Connection]:
    """Open a connection to the database of a command.

    :param has_time_limits: whether the time limits of requests apply. Commands that read or write a whole project need
        more time.
    """
    with database_url(settings) as url, connect(url, settings, has_time_limits=has_time_limits) as connection:
        yield connection


_ON_A_CLUSTER = (
    "A project is on one machine of a cluster; clients and tokens are on all, and a change of them needs"
    " all. Repeat the command when the machine answers again."
)


def message_for(error: Exception) -> str | None:
    """The message that a command prints in place of a traceback; None for any other error, which is raised again.

    There is a message for errors of the database, the embedded PostgreSQL, the settings and the migrations, and for an
    unknown client. A UnicodeError has one, too: the command line has a client's name or id that is not UTF-8.
    """
    match error:
        case psycopg.errors.UndefinedTable() | psycopg.errors.UndefinedColumn():
            return (
                "The database is not migrated. Run 'sample-resource db upgrade'; if the service is being started for "
                "the first time, wait until it serves."
            )
        case psycopg.errors.ConnectionFailure():
            # This error comes from the server and not from libpq: the coordinator of Citus cannot reach a worker.
            reason = error.diag.message_primary or "no reason is given"
            return f"The database cannot reach one of its machines ({' '.join(reason.split())}). {_ON_A_CLUSTER}"
        case psycopg.errors.QueryCanceled():
            return (
                f"The database ended a statement ({error.diag.message_primary}). If the cause is STATEMENT_TIMEOUT_MS,"
                f" the database is busy, or a machine of a cluster does not answer. {_ON_A_CLUSTER}"
            )
        case (
            psycopg.Error() | EmbeddedError() | MigrationFailed() | UnknownClient() | InvalidSetting() | UnicodeError()
        ):
            return str(error).strip()
        case _:
            return None


def echo_json_line(**fields: Any) -> None:
    """Print the fields that are not None as one line of JSON, with times in ISO 8601, to the second."""
    known = {name: value for name, value in fields.items() if value is not None}
    click.echo(json.dumps(known, default=lambda time: time.isoformat(timespec="seconds")))
