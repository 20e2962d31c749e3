"""The command line: ``sample-resource``.

Only ``serve`` is defined here, and this module imports little: its process supervises the service and stays in memory
as long as that runs. The other commands are in :mod:`app.cli.commands`, which is imported when one of them is called.
"""

import os
import subprocess
import sys

import click

from app.config import InvalidSetting, Settings
from app.serving import supervisor
from app.serving.errors import ServeError
from app.serving.gunicorn_process import REPOSITORY


class _LazyGroup(click.Group):
    """The commands of this module, and those of :mod:`app.cli.commands`, which is imported on demand.

    ``tests/cli/test_upstream.py`` checks the two methods of click that are overridden.
    """

    @property
    def _lazy_commands(self) -> click.Group:
        from app.cli.commands import commands

        return commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *self._lazy_commands.list_commands(ctx)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or self._lazy_commands.get_command(ctx, cmd_name)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sample-resource")
@click.pass_context
def main(context: click.Context) -> None:
    """The sample resource service. Settings come from the environment; docs/reference.md lists them."""
    try:
        context.obj = Settings.from_environment()
    except InvalidSetting as error:
        raise click.ClickException(str(error)) from None


@main.command()
@click.pass_obj
def serve(settings: Settings) -> None:
    """Run the service: the embedded PostgreSQL unless DATABASE_URL is set, migrations, gunicorn."""
    sys.exit(supervisor.serve(settings, prepare_in_subprocess))


def prepare_in_subprocess(url: str) -> str:
    """Prepare a database (:mod:`app.cli.preparation`) in a process of its own, and return the text that it prints.

    The supervisor would never free the memory of the modules that this needs.

    :raises ServeError: if the preparation fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", "prepare"],
        cwd=REPOSITORY,
        env={**os.environ, "DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # so that Ctrl-C in a terminal reaches only the supervisor
    )
    if done.returncode != 0:
        raise ServeError(done.stderr.strip().removeprefix("Error: ") or "the database cannot be prepared")
    return done.stdout.rstrip("\n")
