"""The command for sandbox projects and runs: ``report``."""

import json
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from http.client import HTTPException
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import click

from app.cli.common import ProjectKeyParameter, errors_in_one_line
from app.config import Settings
from app.database.connection import Connection, connect
from app.sandbox.analysis.coverage import clauses
from app.sandbox.analysis.findings import BY_ID
from app.sandbox.analysis.report import as_text, percent_of
from app.sandbox.analysis.report import report as reported
from app.sandbox.analysis.report_junit import as_junit
from app.sandbox.analysis.report_page import as_page
from app.sandbox.journal import store as journal_store
from app.sandbox.projects import store as project_store
from app.sandbox.projects.bus import Bus, Message
from app.sandbox.reading.lists import entries_of
from app.serving import embedded
from app.setting_values import is_loopback
from app.values.suggestions import did_you_mean

NOT_GOOD_ENOUGH = 1
NOT_JUDGED = 2
"""Also of options that are wrong."""

_TIMEOUT_S = 60.0
_REDIRECTS = (301, 302, 303, 307, 308)

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _as_json(made: Mapping[str, Any]) -> str:
    return json.dumps(made, indent=2)


_FORMATS = {"text": as_text, "json": _as_json, "html": as_page, "junit": as_junit}


class _Profiles(click.ParamType[tuple[str, ...]]):
    """Profiles of the specification, separated by commas."""

    name = "profiles"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        known = dict.fromkeys(clause.profile for clause in clauses())
        profiles = tuple(dict.fromkeys(each.strip() for each in value.split(",")))
        for each in profiles:
            if each not in known:
                hint = did_you_mean(each, known)
                self.fail(f"there is no profile {each!r}: choose from {', '.join(known)}.{hint}", param, ctx)
        return profiles


class _AllowedFindings(click.ParamType[frozenset[str]]):
    """``none``, or a file with the ids of findings, one a line."""

    name = "findings"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> frozenset[str]:
        if value == "none":
            return frozenset()
        try:
            lines = Path(value).read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            self.fail(f"'none' or a file is expected: {error}", param, ctx)
        found: set[str] = set()
        for number, line in enumerate(lines, 1):
            each = line.partition("#")[0].strip()
            if each and each not in BY_ID:
                self.fail(
                    f"{value}, line {number}: there is no finding {each!r}.{did_you_mean(each, BY_ID)}", param, ctx
                )
            found |= {each} - {""}
        return frozenset(found)


class _Url(click.ParamType[str]):
    """The address of a service."""

    name = "url"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            self.fail(f"{value!r} is no URL of a service, as http://127.0.0.1:8000", param, ctx)
        return value.rstrip("/")


class _NotJudged(click.ClickException):
    exit_code = NOT_JUDGED


def _errors_are_not_judgements(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Exit with :data:`NOT_JUDGED` if there is no report, so that a build can tell that from one that is too bad."""

    @wraps(command)
    def run(*arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
        try:
            return command(*arguments, **options)
        except click.UsageError:
            raise
        except click.ClickException as error:
            raise _NotJudged(error.message) from None

    return run


@click.command()
@click.option("--url", type=_Url(), metavar="URL", help="Ask the service at this address; its token: SANDBOX_TOKEN.")
@click.option("--project", "project_key", type=ProjectKeyParameter(), help="The sandbox project's key.")
@click.option("--run", metavar="RUN", help="The run whose projects are reported on together; needs --url.")
@click.option(
    "--min",
    "minimum",
    type=click.IntRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if fewer clauses of the specification were exercised.",
)
@click.option(
    "--profile", "profiles", type=_Profiles(), metavar="A,B", help="Count only the clauses of these profiles for --min."
)
@click.option(
    "--findings",
    "allowed",
    type=_AllowedFindings(),
    metavar="none|FILE",
    help="Exit with 1 if there is a finding, or one whose id is no line of the file.",
)
@click.option(
    "--format", "format_", type=click.Choice(list(_FORMATS)), default="text", show_default=True, help="How to print it."
)
@click.pass_obj
@_errors_are_not_judgements
@errors_in_one_line
def report(
    settings: Settings,
    url: str | None,
    project_key: str | None,
    run: str | None,
    minimum: int | None,
    profiles: tuple[str, ...] | None,
    allowed: frozenset[str] | None,
    format_: str,
) -> None:
    """Print what the client of a sandbox project has exercised, and how it dealt with faults.

    With --url the service is asked over HTTP, for a project or for a run of tests. Without it, the journal of a project
    is read from the database of DATABASE_URL, else from that of the service that runs in this folder (DATA_DIR); no
    database is started or made.

    Exit codes: 0 if the report is good enough, 1 if it is not (--min, --findings), 2 if there is no report or an option
    is wrong.
    """
    if (project_key is None) == (run is None):
        raise click.UsageError("Either --project or --run is needed.")
    if url is None and run is not None:
        raise click.UsageError("--run needs --url: the service counts runs.")
    if url is None:
        made = _read(settings, project_key or "")
    else:
        made = _asked(url, settings.sandbox_token, f"projects/{project_key}" if run is None else f"runs/{run}")
    click.echo(_FORMATS[format_](made))
    reasons = list(_too_few(made, minimum, profiles)) + list(_too_many(made, allowed))
    for reason in reasons:
        click.echo(reason, err=True)
    if reasons:
        sys.exit(NOT_GOOD_ENOUGH)


def _too_few(made: Mapping[str, Any], minimum: int | None, profiles: tuple[str, ...] | None) -> list[str]:
    """Why too few clauses were exercised."""
    if minimum is None:
        return []
    shares = [each for each in made["specification"]["profiles"] if profiles is None or each["profile"] in profiles]
    exercised, observable = (sum(each[name] for each in shares) for name in ("exercised", "observable"))
    percent = percent_of(exercised, observable)
    if percent >= minimum:
        return []
    of = "the specification" if profiles is None else f"{', '.join(profiles)}"
    return [f"Exercised {percent} % of {of} ({exercised} of {observable}); at least {minimum} % were wanted."]


def _too_many(made: Mapping[str, Any], allowed: frozenset[str] | None) -> list[str]:
    """The findings that are not allowed."""
    if allowed is None:
        return []
    return [
        f"Finding {each['id']}, {each['count']} times: {each['title']}. {each['instead']}"
        for each in made["findings"]
        if each["id"] not in allowed
    ]


# Where the report comes from


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirect: the token of the sandbox would go along, to whatever host is named."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _asked(url: str, token: str | None, path: str) -> dict[str, Any]:
    """The report as a service makes it."""
    address = f"{url}/sandbox/{quote(path)}/report"
    headers = {"Accept": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    # A proxy reaches no other machine's loopback address, and without a token the sandbox answers to none.
    handlers = [ProxyHandler({})] if is_loopback(urlsplit(url).hostname or "") else []
    order = Request(address, headers=headers)  # noqa: S310 -- the type of --url lets http and https pass
    try:
        with build_opener(_NoRedirects, *handlers).open(order, timeout=_TIMEOUT_S) as answer:
            made = json.load(answer)
        if not isinstance(made, dict) or "specification" not in made or "profiles" not in made["specification"]:
            raise ValueError("this is no report")
        return made
    except HTTPError as error:
        with error:
            raise click.ClickException(f"{address} was answered {error.code}. {_message_of(error)}") from None
    except ValueError as error:
        raise click.ClickException(f"{address} answered no report of this version: {error}") from None
    except (OSError, HTTPException) as error:
        raise click.ClickException(f"{address} was not answered: {getattr(error, 'reason', error)}") from None


def _message_of(error: HTTPError) -> str:
    if error.code in _REDIRECTS:
        return f"It redirects to {error.headers.get('Location')!r}, and no redirect is followed."
    try:
        return str(json.loads(error.read())["message"])
    except (ValueError, LookupError, TypeError):
        return "Is it the address of a service with SANDBOX=on?"


def _read(settings: Settings, project_key: str) -> dict[str, Any]:
    """The report on a project, made of its journal in the database."""
    url = settings.database_url or embedded.running(settings.data_dir)
    if url is None:
        raise click.ClickException(
            f"There is no DATABASE_URL, and no service with a database of its own runs in {settings.data_dir}. Ask the"
            f" service with --url, or run this in the folder in which it was started."
        )
    with connect(url, settings) as connection:
        project = project_store.find(connection, project_key)
        if project is None or project.is_removed:
            raise click.ClickException(
                f"The sandbox has no project '{project_key}' in this database. Projects are removed when their"
                " ttlSeconds are over."
            )
        _have_journals_written(url, settings, connection, project_key)
        kept = journal_store.listed(connection, project_key)
        return reported(project_key, entries_of(kept), project_store.count_requests(connection, project_key))


def _have_journals_written(url: str, settings: Settings, connection: Connection, project_key: str) -> None:
    """Have the workers of a running service write what their journals have in memory."""
    bus = Bus(url, settings, hear=lambda _: None, load=lambda _: None)
    bus.start()
    try:
        notice = bus.ask(connection, Message("flush", project_key))
        bus.wait(notice, lambda: Bus.listeners(connection))
    finally:
        bus.stop()


COMMANDS = (report,)
