"""The command that generates resources of a project: ``seed``."""

import sys
from collections.abc import Generator, Iterable
from typing import TypeVar

import click
import psycopg

from app.bulk import seed as made_up
from app.cli.common import ProjectKeyParameter, errors_in_one_line, open_connection
from app.config import Settings
from app.resource import bulk_store

Item = TypeVar("Item")

_SHOWN_EVERY = 10_000
"""The number of items between two lines of progress, if standard error is not a terminal."""

_TIDIED_FROM = 1_000
"""The number of loaded resources from which the command vacuums the tables, which takes some seconds for a million."""


@click.command()
@click.option("--project", "project_key", type=ProjectKeyParameter(), required=True, help="The project's key.")
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
            bulk_store.copy_in(connection, project_key, _with_progress(resources, count))
            if count >= _TIDIED_FROM:
                bulk_store.tidy(connection)
        except psycopg.errors.UniqueViolation:
            raise click.ClickException(
                f"The project {project_key} has resources of --seed {number} already; nothing was loaded."
            ) from None


def _with_progress(items: Iterable[Item], count: int) -> Generator[Item]:
    """Yield the items, and show progress on standard error: a bar on a terminal, else a line for many items."""
    if sys.stderr.isatty():
        with click.progressbar(items, length=count, label="Seeding", file=sys.stderr, update_min_steps=500) as bar:
            yield from bar
        return
    number = 0
    for number, item in enumerate(items, start=1):
        yield item
        if number % _SHOWN_EVERY == 0:
            click.echo(f"Seeding: {number} of {count}", err=True)
    click.echo(f"Seeding: {number}, done.", err=True)


COMMANDS = (seed,)
