"""Commands for the database and the OpenAPI document.

Those for clients, keys and tokens are in :mod:`app.cli.identity_commands`, those for resources in
:mod:`app.cli.data_commands`.
"""

import json
import sys
from dataclasses import replace

import click

from app import create_app
from app.bulk import consistency
from app.cli.common import database_url, errors_in_one_line, open_connection
from app.config import Settings
from app.database import distribute, migrate
from app.extension import installed_package, package_of


@click.group()
def db() -> None:
    """Migrations, projects, consistency, distribution."""


@db.command()
@click.pass_obj
@errors_in_one_line
def upgrade(settings: Settings) -> None:
    """Apply the migrations that are missing."""
    with database_url(settings) as url:
        applied = migrate.upgrade(url, package_of(settings).migrations)
    for name in applied:
        click.echo(f"applied  {name}")
    if not applied:
        click.echo("Nothing to apply.")


@db.command()
@click.pass_obj
@errors_in_one_line
def status(settings: Settings) -> None:
    """List the migrations; exit with 1 if one is missing."""
    with database_url(settings) as url:
        migrations = migrate.status(url, package_of(settings).migrations)
    for migration in migrations:
        click.echo(f"{'applied' if migration.applied else 'missing'}  {migration.id}")
    if not all(migration.applied for migration in migrations):
        sys.exit(1)


@db.command()
@click.pass_obj
@errors_in_one_line
def projects(settings: Settings) -> None:
    """List the projects that have resources: key and number, with a tab between."""
    with open_connection(settings, limited=False) as connection:
        for project_key, resources in consistency.projects(connection):
            click.echo(f"{project_key}\t{resources}")


@db.command()
@click.option("--repair", is_flag=True, help="Correct what differs.")
@click.pass_obj
@errors_in_one_line
def check(settings: Settings, repair: bool) -> None:
    """Compare derived data with the resources.

    Derived are the number of each project's resources, the dictionary of their words, and the values that facets count.
    Exits with 1 if something differs and is not repaired. Requests go on meanwhile; a million resources take some
    minutes.
    """
    projects = different = 0
    with open_connection(settings, limited=False) as connection:
        for found in consistency.check(connection, repair=repair):
            projects += 1
            if found.is_consistent:
                continue
            different += 1
            if found.kept not in (None, found.resources):
                click.echo(f"{found.project_key}  has {found.resources} resources, of which {found.kept} are counted")
            if found.missing_words:
                click.echo(f"{found.project_key}  searches do not find {found.missing_words} words")
            if found.wrong_arrays:
                click.echo(f"{found.project_key}  facets count wrong values of {found.wrong_arrays} resources")
    click.echo(f"{projects} projects, {different} with differences{', repaired' if different and repair else ''}.")
    if different and not repair:
        sys.exit(1)


@db.command("distribute")
@click.option(
    "--shards", type=click.IntRange(1, 1024), default=32, show_default=True, help="Number of shards of each table."
)
@click.pass_obj
@errors_in_one_line
def distribute_(settings: Settings, shards: int) -> None:
    """Distribute the projects over the workers of a Citus cluster; can be repeated.

    Needs the extension citus with registered workers, and all migrations. Writes wait meanwhile.
    """
    package = installed_package()
    with open_connection(settings, limited=False) as connection:
        try:
            for step in distribute.distribute(connection, shards, package.distributed_tables, package.local_tables):
                click.echo(f"{step.name}  {step.done}")
        except distribute.CannotDistribute as error:
            raise click.ClickException(str(error)) from None


@click.command()
@click.pass_obj
def openapi(settings: Settings) -> None:
    """Print the document of /openapi.json."""
    app = create_app(replace(settings, database_url=settings.database_url or "dbname=none"))
    click.echo(json.dumps(app.extensions["openapi"], indent=2))


COMMANDS = (db, openapi)
