"""The commands for the resources of a project: ``seed``, ``export`` and ``import``."""

import sys
from collections.abc import Generator, Iterable
from typing import BinaryIO, TextIO, TypeVar

import click
import psycopg

from app.bulk import seed as made_up
from app.bulk import transfer
from app.cli.common import ProjectKeyParameter, errors_in_one_line, open_connection
from app.config import Settings
from app.database.connection import unlimited
from app.resource import bulk_store

Item = TypeVar("Item")

_AUTHOR = "command-line"
"""The author of imported resources whose lines do not name one."""

_SHOWN_EVERY = 10_000
"""The number of items between two lines of progress, if standard error is not a terminal."""

_TIDIED_FROM = 1_000
"""The number of loaded resources from which the command vacuums the tables, which takes some seconds for a million."""

_PROJECT = click.option(
    "--project", "project_key", type=ProjectKeyParameter(), required=True, help="The project's key."
)


@click.command()
@_PROJECT
@click.option("--count", type=click.IntRange(0), required=True, help="How many resources.")
@click.option("--seed", "number", type=int, default=0, show_default=True, help="Another number, other resources.")
@click.pass_obj
@errors_in_one_line
def seed(settings: Settings, project_key: str, count: int, number: int) -> None:
    """Load generated resources, all or none. The same project, count and seed give the same resources."""
    with open_connection(settings, limited=False) as connection:
        first = [resource.id for resource in made_up.resources(project_key, min(count, 1), number)]
        try:
            if bulk_store.existing_ids(connection, project_key, first):
                # COPY also fails for an existing id, but on distributed tables its error does not have this SQLSTATE.
                raise psycopg.errors.UniqueViolation
            resources = made_up.resources(project_key, count, number)
            with unlimited(connection):
                bulk_store.copy_in(connection, project_key, _with_progress("Seeding", resources, count))
            if count >= _TIDIED_FROM:
                bulk_store.tidy(connection)
        except psycopg.errors.UniqueViolation:
            raise click.ClickException(
                f"The project {project_key} has resources of --seed {number} already; nothing was loaded."
            ) from None


@click.command()
@_PROJECT
@click.option("--output", type=click.File("w", encoding="utf-8", lazy=True), default="-", help="A file, else stdout.")
@click.pass_obj
@errors_in_one_line
def export(settings: Settings, project_key: str, output: TextIO) -> None:
    """Write the project's resources as lines of JSON, ordered by id, in the state of one moment.

    The last line counts the others, so that import notices if some are missing.
    """
    with open_connection(settings, limited=False) as connection:
        count = 0
        for line in _with_progress("Exporting", transfer.export_lines(connection, project_key)):
            output.write(line + "\n")
            count += 1
        output.write(transfer.last_line(count) + "\n")


@click.command("import")
@_PROJECT
@click.option("--input", "source", type=click.File("rb"), default="-", help="A file, else stdin.")
@click.pass_obj
@errors_in_one_line
def import_(settings: Settings, project_key: str, source: BinaryIO) -> None:
    """Read resources as lines of JSON, as export writes them; only objectTypeProperty is required.

    Lines are checked as the API checks bodies. A refused line is reported with its number and the reason, the others
    are imported, and the exit code is 1. It is 1, too, if an export was cut short. An interrupted import can be
    repeated: resources that exist are skipped.
    """
    progress = transfer.ImportProgress()
    with open_connection(settings, limited=False) as connection:
        shown = 0
        for progress in transfer.import_lines(connection, project_key, transfer.lines_of(source), _AUTHOR):
            for line in progress.newly_refused:
                click.echo(f"line {line.number}: {line.reason}", err=True)
            if progress.read - shown >= _SHOWN_EVERY:
                shown = progress.read
                click.echo(f"{progress.read} lines read", err=True)
        if progress.imported >= _TIDIED_FROM:
            bulk_store.tidy(connection)
    if progress.is_cut:
        click.echo(
            "The export was cut short: its last line, which counts the others, is missing. Only exports of 0.2.0 or"
            " earlier have no such line.",
            err=True,
        )
    click.echo(
        f"{progress.read} lines: {progress.imported} imported, {progress.present} already there,"
        f" {progress.refused} refused.",
        err=True,
    )
    if progress.refused or progress.is_cut:
        sys.exit(1)


def _with_progress(what: str, items: Iterable[Item], count: int | None = None) -> Generator[Item]:
    """Yield the items, and show progress on standard error: a bar on a terminal, else a line for many items."""
    if sys.stderr.isatty():
        with click.progressbar(items, length=count, label=what, file=sys.stderr, update_min_steps=500) as bar:
            yield from bar
        return
    number = 0
    for number, item in enumerate(items, start=1):
        yield item
        if number % _SHOWN_EVERY == 0:
            click.echo(f"{what}: {number}{'' if count is None else f' of {count}'}", err=True)
    click.echo(f"{what}: {number}, done.", err=True)


COMMANDS = (seed, export, import_)
