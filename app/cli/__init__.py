"""The command line: ``sample-resource``.

Only ``serve`` is defined here, and this module imports little: its process supervises the service and stays in memory
as long as that runs, and ``--help`` is there at once. Each other command is imported when it is called.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

import click

from app import extensions
from app.config import InvalidSetting, Settings, file_variable


class _Elsewhere(NamedTuple):
    """A command of another module, in its ``COMMANDS``; a name without a dot is that of a module of this package."""

    module: str
    summary: str | None
    """How the command's help begins, which a test compares; None: not listed."""


_COMMANDS: Mapping[str, _Elsewhere] = {
    "client": _Elsewhere("identity_commands", "API clients."),
    "db": _Elsewhere("commands", "Migrations."),
    "export": _Elsewhere("data_commands", "Write the project's resources as lines of JSON."),
    "import": _Elsewhere("data_commands", "Read resources as lines of JSON."),
    "key": _Elsewhere("identity_commands", "Keys that sign access tokens."),
    "openapi": _Elsewhere("commands", "Print the document of /openapi.json."),
    "prepare": _Elsewhere("preparation", None),
    "revoke-token": _Elsewhere("identity_commands", "Revoke the access token on standard input."),
    "seed": _Elsewhere("data_commands", "Load generated resources."),
    "token": _Elsewhere("identity_commands", "Print one access token, and nothing else."),
    **{name: _Elsewhere(*where) for name, where in extensions.COMMANDS.items()},
}


class _LazyGroup(click.Group):
    """The commands of this module, and those elsewhere, which are imported on demand.

    ``tests/cli/test_upstream.py`` checks the three methods of click that are overridden.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *_COMMANDS])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = super().get_command(ctx, cmd_name)
        if found is None and cmd_name in _COMMANDS:
            name = _COMMANDS[cmd_name].module
            module = import_module(name if "." in name else f"app.cli.{name}")
            found = next(command for command in module.COMMANDS if command.name == cmd_name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 -- click's signature
        """List the commands without importing them."""
        rows = [(name, command.get_short_help_str(60)) for name, command in self.commands.items()]
        rows += [(name, where.summary) for name, where in _COMMANDS.items() if where.summary is not None]
        with formatter.section("Commands"):
            formatter.write_dl(sorted(rows))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sample-resource")
@click.pass_context
def main(context: click.Context) -> None:
    """The sample resource service. Settings come from the environment; docs/reference.md lists them."""
    try:
        context.obj = extensions.settled(Settings.from_environment())
    except InvalidSetting as error:
        click.echo(f"error: {error}", err=True)  # as gunicorn without this command says it
        context.exit(1)


@main.command()
@click.pass_obj
def serve(settings: Settings) -> None:
    """Run the service: the embedded PostgreSQL unless DATABASE_URL is set, migrations, gunicorn."""
    from app.serving import supervisor

    sys.exit(supervisor.serve(settings, prepare_in_subprocess))


def prepare_in_subprocess(url: str) -> str:
    """Prepare a database (:mod:`app.cli.preparation`) in a process of its own, and return the text that it prints.

    The supervisor would never free the memory of the modules that this needs.

    :raises ServeError: if the preparation fails.
    """
    from app.serving import ServeError, processes

    # This process has read the file of DATABASE_URL_FILE, if it is set; both together would be refused.
    others = {name: value for name, value in os.environ.items() if name != file_variable("DATABASE_URL")}
    done = subprocess.run(  # noqa: S603 -- our own module
        processes.own_module("app.cli", "prepare"),
        cwd=processes.ROOT,
        env={**others, "DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # so that Ctrl-C in a terminal reaches only the supervisor
    )
    if done.returncode != 0:
        raise ServeError(re.sub("^[Ee]rror: ", "", done.stderr.strip()) or "the database cannot be prepared")
    return done.stdout.rstrip("\n")
