"""The commands for the database, for generated resources and the OpenAPI document.

The commands for clients and tokens are in :mod:`app.cli.identity_commands`, which imports less.
"""

import json
import sys
from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import TypeVar

import click
import psycopg

from app import create_app
from app.bulk import all_projects
from app.bulk import seed as made_up
from app.cli import pass_settings
from app.cli.common import ProjectKeyParameter, database_url, open_connection
from app.config import Settings
from app.database import distribute, migrate
from app.extension import installed_package, package_of
from app.identity import clients
from app.resource import bulk_store

Item = TypeVar("Item")

_SEED = click.IntRange(0, 999_999_999)

_SHOWN_EVERY = 10_000
"""The number of items between two lines of progress, if standard error is not a terminal."""

_TIDIED_FROM = 1_000
"""The number of loaded resources from which the command vacuums the tables, which takes some seconds for a million."""


@click.group()
def db() -> None:
    """Migrations, projects, unused words, distribution."""


@db.command()
@pass_settings
def upgrade(settings: Settings) -> None:
    """Apply the migrations that are missing."""
    with database_url(settings) as url:
        applied = migrate.upgrade(url, package_of(settings).migrations)
    click.echo("\n".join(f"applied  {name}" for name in applied) or "Nothing to apply.")


@db.command()
@pass_settings
def status(settings: Settings) -> None:
    """List the migrations; exit with 1 if one is missing."""
    with database_url(settings) as url:
        migrations = migrate.status(url, package_of(settings).migrations)
    for name, is_applied in migrations.items():
        click.echo(f"{'applied' if is_applied else 'missing'}  {name}")
    if not all(migrations.values()):
        sys.exit(1)


@db.command()
@click.option("--bytes", "sizes", is_flag=True, help="Show the bytes of the documents too; this reads every row.")
@pass_settings
def projects(settings: Settings, sizes: bool) -> None:
    """List the projects that have resources: key and number of resources, separated by a tab."""
    with open_connection(settings, has_time_limits=False) as connection:
        for project_key, resources in all_projects.projects(connection):
            numbers = bulk_store.count_and_bytes(connection, project_key) if sizes else (resources,)
            click.echo("\t".join(map(str, (project_key, *numbers))))


@db.command("remove-project")
@click.option("--project", "project_key", type=ProjectKeyParameter(), required=True, help="The project's key.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@pass_settings
def remove_project(settings: Settings, project_key: str, yes: bool) -> None:
    """Delete everything of a project: its clients, its resources and their words.

    A client that also has scopes of another project stays. The command prints the ids of such clients, but not of
    revoked ones. The data of an extension stay, too. The service refuses the tokens of deleted clients within 5
    seconds. Tokens that the command 'token' has issued belong to the client 'command-line', which is not deleted: they
    are valid until they expire or 'command-line' is revoked.

    Stop the project's writers first. A resource that is written at the end of the command may stay, while its words and
    the project's count of resources are deleted. Then searches may miss the resource, and the 'total' in the project's
    pages may be wrong, until this command runs again and deletes the resource.
    """
    if not yes:
        click.confirm("Delete everything of this project?", abort=True)
    with open_connection(settings, has_time_limits=False) as connection:
        found = [each for each in clients.list_clients(connection) if project_key in each.projects]
        own = [each for each in found if each.projects == {project_key}]
        for each in own:
            clients.remove_client(connection, each.client_id)
        resources = bulk_store.delete_in_parts(connection, project_key)
        with connection.transaction():  # the words, the counts, and resources that were written during delete_in_parts
            bulk_store.delete_all(connection, project_key)
    click.echo(f"Deleted {resources} resources and {len(own)} clients of {project_key}.")
    for each in found:
        if each not in own and each.revoked_at is None:
            click.echo(
                f"The client {each.client_id} has scopes of other projects too and stays: {' '.join(each.scopes)}"
            )


@db.command("remove-words")
@pass_settings
def remove_words(settings: Settings) -> None:
    """Remove from each project's dictionary the words that no resource has any more.

    Such words find nothing, and stay until this command removes them. The service may run during the command, but the
    command 'seed' must not.

    A write does not add a word that is already in the dictionary. If this command removes that word before the write
    ends, the dictionary lacks a word of a resource, and a search may miss the resource. So after a removal the command
    waits for three times STATEMENT_TIMEOUT_MS, until every such write has ended. Then the command adds the words of all
    resources again. If the command is interrupted, run it again.
    """
    with open_connection(settings, has_time_limits=False) as connection:
        # A write may have found a word in the dictionary just before the removal of this word. The statement of the
        # write then ends within STATEMENT_TIMEOUT_MS. After it, the transaction may be idle for twice that time
        # (idle_in_transaction_session_timeout in connection.py), so the wait is three times STATEMENT_TIMEOUT_MS.
        wait_ms = 3 * settings.statement_timeout_ms
        for project_key, removed in all_projects.remove_unused_words(connection, wait_ms / 1000):
            if removed:
                click.echo(f"{project_key}  {removed} words removed")


@db.command("distribute")
@click.option(
    "--shards", type=click.IntRange(1, 1024), default=32, show_default=True, help="Number of shards of each table."
)
@pass_settings
def distribute_(settings: Settings, shards: int) -> None:
    """Distribute the projects over the workers of a Citus cluster; can be repeated.

    Needs the PostgreSQL extension citus with registered workers, and all migrations. Requests wait meanwhile.
    """
    # The tables are those of the installed package, even if its extension (app.extension) is switched off: an extension
    # that was on before has left its tables in the database, and distribute.distribute refuses a database with a table
    # that is neither the service's own nor among the arguments. The migrations are those of package_of(settings), which
    # has none while the extension is off: then the extension's migrations need not be applied.
    package = installed_package()
    with open_connection(settings, has_time_limits=False) as connection:
        try:
            tables = package.distributed_tables, package.local_tables
            for name, done in distribute.distribute(connection, shards, *tables, package_of(settings).migrations):
                click.echo(f"{name}  {done}")
        except distribute.CannotDistribute as error:
            raise click.ClickException(str(error)) from None


@click.command()
@click.option("--project", "project_key", type=ProjectKeyParameter(), required=True, help="The project's key.")
@click.option("--count", type=click.IntRange(0), required=True, help="How many resources.")
@click.option("--seed", "of_seed", type=_SEED, default=0, show_default=True, help="Another number, other resources.")
@pass_settings
def seed(settings: Settings, project_key: str, count: int, of_seed: int) -> None:
    """Load generated resources, all or none. The same project and seed give the same resources; a smaller count gives
    the first of them."""
    with open_connection(settings, has_time_limits=False) as connection:
        # The id of the first resource, which is the same for every count; no id for the count 0. If it is stored, the
        # seed has been loaded before.
        first_ids = [resource.id for resource in made_up.resources(project_key, min(count, 1), of_seed)]
        try:
            if bulk_store.existing_ids(connection, project_key, first_ids):
                # On distributed tables COPY fails with another error than UniqueViolation, which the except clause
                # below would not catch. So the id is looked up before COPY.
                raise psycopg.errors.UniqueViolation
            resources = made_up.resources(project_key, count, of_seed)
            bulk_store.copy_in(connection, project_key, _with_progress(resources, count))
            if count >= _TIDIED_FROM:
                bulk_store.tidy(connection)
        except psycopg.errors.UniqueViolation:
            raise click.ClickException(
                f"Nothing was loaded: {project_key} has resources of --seed {of_seed} already, or one of their keys."
            ) from None


def _with_progress(items: Iterable[Item], count: int) -> Generator[Item]:
    """Yield the items, and show progress on standard error: a bar on a terminal, else a line after every
    :data:`_SHOWN_EVERY` items and after the last."""
    if sys.stderr.isatty():
        with click.progressbar(items, length=count, label="Seeding", file=sys.stderr, update_min_steps=500) as bar:
            yield from bar
        return
    for number, item in enumerate(items, start=1):
        yield item
        if number % _SHOWN_EVERY == 0 or number == count:
            click.echo(f"Seeding: {number} of {count}", err=True)


@click.command()
@pass_settings
def openapi(settings: Settings) -> None:
    """Print the document of /openapi.json."""
    # The application demands a URL, but opens no connection for the document, so any valid one will do.
    app = create_app(replace(settings, database_url="dbname=none"))
    click.echo(json.dumps(app.extensions["openapi"], indent=2))


COMMANDS = (db, openapi, seed)
