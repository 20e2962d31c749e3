"""The command line: ``sample-resource``.

Only ``serve`` is defined here, and this module imports little, because the process of ``serve`` supervises the service
and stays in memory as long as the service runs. With the modules of all commands it would take 44 MiB instead of 18,
and start 0.2 s later. So each of the other commands is imported when it is called, or listed by ``--help``.
"""

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, Concatenate, ParamSpec

import click

from app.config import InvalidSetting, Settings
from app.extension import adapted_to_extension, installed_package, reason_of_failed_load

Options = ParamSpec("Options")

_COMMANDS: Mapping[str, str] = {
    "client": "app.cli.identity_commands",
    "db": "app.cli.commands",
    "openapi": "app.cli.commands",
    "seed": "app.cli.commands",
    "token": "app.cli.identity_commands",
}
"""The module of each other command. A module lists its commands in ``COMMANDS``."""


class _LazyGroup(click.Group):
    """A group with the commands of this module and of others, which are imported on demand, as click's documentation
    shows."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, also of those that are not imported yet (click calls it for ``--help``)."""
        return sorted([*super().list_commands(ctx), *_COMMANDS, *installed_package().commands])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, and import its module if necessary. If no command has the name, return
        None. If a command of an extension cannot be loaded, print the reason and return None."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            return found
        if cmd_name in _COMMANDS:
            return _import_command(cmd_name, _COMMANDS[cmd_name])
        module = installed_package().commands.get(cmd_name)
        try:
            return None if module is None else _import_command(cmd_name, module)
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- the modules of a package may raise anything
            # Not raised, because --help calls this for each command.
            click.echo(f"The command {cmd_name} {reason_of_failed_load(error)}", err=True)
            return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command. An unknown command may be a command of an extension. So if the extension's package is
        unusable, the error about the unknown command also says why the package is unusable."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            reason = installed_package().unusable
            if reason is None:
                raise
            raise click.UsageError(f"{error.format_message()} A command of an extension {reason}.", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke a command. If the command raises an error for which :func:`app.cli.common.message_for` has a message,
        print this message in place of a traceback, and end with exit code 1."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            from app.cli.common import message_for

            message = message_for(error)
            if message is None:
                raise
            raise click.ClickException(message) from None


def _import_command(name: str, module: str) -> click.Command:
    """Import a module, and return the command with this name from the module's ``COMMANDS``."""
    return next(command for command in import_module(module).COMMANDS if command.name == name)


def pass_settings(command: Callable[Concatenate[Settings, Options], None]) -> Callable[Options, None]:
    """Decorate a command, so that it gets the settings as its first argument.

    The settings are read when the command runs, so ``--help`` works without valid settings. If a setting is invalid,
    the command prints the error in one line, and exits with code 1.
    """

    @wraps(command)
    def with_settings(*arguments: Options.args, **options: Options.kwargs) -> None:
        try:
            settings = adapted_to_extension(Settings.from_environment())
        except InvalidSetting as error:
            click.echo(f"error: {error}", err=True)  # as gunicorn does, if it is started directly
            sys.exit(1)
        command(settings, *arguments, **options)

    return with_settings


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sample-resource")
def main() -> None:
    """The sample resource service. Settings come from the environment; docs/reference.md lists them."""


@main.command()
@pass_settings
def serve(settings: Settings) -> None:
    """Run the service: the embedded PostgreSQL unless DATABASE_URL is set, migrations, gunicorn."""
    from app.serving import supervisor

    sys.exit(supervisor.serve(settings))
