"""Helpers of all commands: connections, parameter types, errors in one line, and output as lines of JSON."""

import json
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import click
import psycopg

from app.config import Settings
from app.database.connection import Connection, connect
from app.database.migrate import MigrationFailed, UnsupportedServer
from app.identity.clients import SCOPES_LENGTH_AT_MOST
from app.identity.scopes import SCOPE, SCOPE_NAMES
from app.serving import embedded
from app.values.patterns import PROJECT_KEY_PATTERN

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class ScopesParameter(click.ParamType[tuple[str, ...]]):
    """The type of an option whose value is scopes, separated by spaces."""

    name = "scopes"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        scopes = tuple(dict.fromkeys(value.split()))
        wrong = [scope for scope in scopes if SCOPE.fullmatch(scope) is None]
        if wrong or not scopes:
            self.fail(
                f"{' '.join(wrong) or 'nothing'!r} is no scope. One is NAME:PROJECT, where NAME is"
                f" {', '.join(SCOPE_NAMES[:-1])} or {SCOPE_NAMES[-1]}, and PROJECT has 1 to 64 letters, digits,"
                " underscores and hyphens.",
                param,
                ctx,
            )
        if len(" ".join(scopes)) > SCOPES_LENGTH_AT_MOST:
            self.fail(f"All scopes together may have {SCOPES_LENGTH_AT_MOST} characters.", param, ctx)
        return scopes


class ProjectKeyParameter(click.ParamType[str]):
    """The type of an option whose value is the key of a project."""

    name = "project"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if re.fullmatch(PROJECT_KEY_PATTERN, value) is None:
            self.fail(f"{value!r} is no project key: 1 to 64 letters, digits, underscores and hyphens.", param, ctx)
        return value


@contextmanager
def database_url(settings: Settings) -> Generator[str]:
    """Yield the URL of a command's database: DATABASE_URL, or the embedded PostgreSQL, which is started if it does not
    run.

    :raises EmbeddedError: if the embedded PostgreSQL cannot be started.
    """
    if settings.database_url is not None:
        yield settings.database_url
        return
    with embedded.database(settings.data_dir) as url:
        yield url


@contextmanager
def open_connection(settings: Settings, *, limited: bool = True) -> Generator[Connection]:
    """Open a connection to the database of a command.

    :param limited: whether the time limits of requests apply. Commands that read or write a whole project need more
        time.
    """
    with database_url(settings) as url, connect(url, settings, limited=limited) as connection:
        yield connection


_ON_A_CLUSTER = (
    "A project is on one machine of a cluster; clients and tokens are on all, and a change of them needs"
    " all. Repeat the command when the machine answers again."
)


def errors_in_one_line(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Make a command print one line instead of a traceback for errors of the database and for missing entries."""

    @wraps(command)
    def run(*arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
        try:
            return command(*arguments, **options)
        except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
            raise click.ClickException(
                "The database is not migrated. Run 'sample-resource db upgrade'; if the service is being started for "
                "the first time, wait until it serves."
            ) from None
        except psycopg.errors.ConnectionFailure as error:
            # This error comes from the server and not from libpq: the coordinator of Citus cannot reach a worker.
            reason = error.diag.message_primary or "no reason is given"
            raise click.ClickException(
                f"The database cannot reach one of its machines ({' '.join(reason.split())}). {_ON_A_CLUSTER}"
            ) from None
        except psycopg.errors.QueryCanceled:
            raise click.ClickException(
                "The database did not finish a statement in time (STATEMENT_TIMEOUT_MS): it is busy, or a machine of a"
                f" cluster does not answer. {_ON_A_CLUSTER}"
            ) from None
        except (psycopg.Error, embedded.EmbeddedError, MigrationFailed, UnsupportedServer, LookupError) as error:
            raise click.ClickException(str(error).strip()) from None

    return run


def echo_json_line(**fields: Any) -> None:
    """Print the fields that are not None as one line of JSON, with times in ISO 8601, to the second."""
    known = {name: value for name, value in fields.items() if value is not None}
    click.echo(json.dumps(known, default=lambda time: time.isoformat(timespec="seconds")))
