"""The command for sandbox projects: ``report``."""

import json
import sys
from collections.abc import Mapping
from typing import Any

import click

from app.cli.common import ProjectKeyParameter, database_url, errors_in_one_line
from app.config import Settings
from app.database.connection import Connection, connect
from app.sandbox.analysis.report import as_text
from app.sandbox.analysis.report import report as reported
from app.sandbox.analysis.report_page import as_page
from app.sandbox.journal import store as journal_store
from app.sandbox.projects import store as project_store
from app.sandbox.projects.bus import Bus, Message
from app.sandbox.reading.lists import entries_of


def _as_json(made: Mapping[str, Any]) -> str:
    return json.dumps(made, indent=2)


_FORMATS = {"text": as_text, "json": _as_json, "html": as_page}


@click.command()
@click.option("--project", "project_key", type=ProjectKeyParameter(), required=True, help="The sandbox project's key.")
@click.option(
    "--min",
    "minimum",
    type=click.IntRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if fewer clauses of the specification were exercised.",
)
@click.option(
    "--format", "format_", type=click.Choice(list(_FORMATS)), default="text", show_default=True, help="How to print it."
)
@click.pass_obj
@errors_in_one_line
def report(settings: Settings, project_key: str, minimum: int | None, format_: str) -> None:
    """Print what the client of a sandbox project has exercised, and how it dealt with faults.

    It is judged from the project's journal, the last 1,000 requests. The journal is read from the database of
    DATABASE_URL, else from the embedded one in DATA_DIR, so no token is needed, and the service may run or not. For a
    service elsewhere, ask it: GET /sandbox/projects/PROJECT/report.
    """
    with database_url(settings) as url, connect(url, settings) as connection:
        project = project_store.find(connection, project_key)
        if project is None or project.is_removed:
            raise click.ClickException(
                f"The sandbox has no project '{project_key}' in this database. Projects are removed when their"
                " ttlSeconds are over."
            )
        _have_journals_written(url, settings, connection, project_key)
        kept = journal_store.listed(connection, project_key)
        made = reported(project_key, entries_of(kept), project_store.count_requests(connection, project_key))
    click.echo(_FORMATS[format_](made))
    percent: int = made["specification"]["percent"]
    if minimum is not None and percent < minimum:
        click.echo(f"Exercised {percent} % of the specification; at least {minimum} % were wanted.", err=True)
        sys.exit(1)


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
