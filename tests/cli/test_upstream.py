"""What ``app/cli`` relies on in click: the three methods that its lazy group overrides."""

import inspect

import click
from click.testing import CliRunner

GROUP = "_LazyGroup in app/cli/__init__.py has to be adapted"


def test_groups_look_commands_up_by_methods_that_can_be_overridden() -> None:
    assert list(inspect.signature(click.Group.list_commands).parameters) == ["self", "ctx"], GROUP
    assert list(inspect.signature(click.Group.get_command).parameters) == ["self", "ctx", "cmd_name"], GROUP
    assert list(inspect.signature(click.Group.format_commands).parameters) == ["self", "ctx", "formatter"], GROUP


def test_help_and_calls_go_through_these_methods() -> None:
    called: list[str] = []

    class Group(click.Group):
        def list_commands(self, _: click.Context) -> list[str]:
            called.append("list_commands")
            return ["lazy"]

        def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
            called.append(f"get_command {cmd_name}")
            return click.Command(cmd_name, callback=lambda: click.echo("reached"), help="Loaded on demand.")

    group = Group("group")
    assert "Loaded on demand." in CliRunner().invoke(group, ["--help"]).output, GROUP
    assert called[0] == "list_commands", GROUP
    assert CliRunner().invoke(group, ["lazy"]).output == "reached\n", GROUP
    assert called[-1] == "get_command lazy", GROUP
