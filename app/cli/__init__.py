"""The command line: ``sample-resource``.

Only ``serve`` is here, and little is loaded for it, since it runs as long as the service does: the other commands, and
all that they need, are in :mod:`app.cli.commands`, and loaded when one of them is asked for.
"""

import os
import subprocess
import sys

import click

from app.config import InvalidSetting, Settings
from app.serving import supervisor
from app.serving.errors import ServeError
from app.serving.gunicorn_process import REPOSITORY


class _Commands(click.Group):
    """The commands of this module, and those of :mod:`app.cli.commands`."""

    @property
    def _others(self) -> click.Group:
        from app.cli.commands import commands

        return commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *self._others.list_commands(ctx)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or self._others.get_command(ctx, cmd_name)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
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
    sys.exit(supervisor.serve(settings, prepared))


def prepared(url: str) -> str:
    """Have a database prepared by a process of its own, whose memory is free again then; what it says.

    :raises ServeError: if that fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", "prepare"],
        cwd=REPOSITORY,
        env={**os.environ, "DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # a terminal's Ctrl-C is for the supervisor alone
    )
    if done.returncode != 0:
        raise ServeError(done.stderr.strip().removeprefix("Error: ") or "the database cannot be prepared")
    return done.stdout.rstrip("\n")
