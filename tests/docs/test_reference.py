"""``docs/reference.md`` lists every setting, error code and command, with the texts of the code."""

import inspect
from collections.abc import Iterator
from dataclasses import fields

import click

from app.cli import main
from app.config import Settings
from app.errors import CATALOGUE
from app.extension import installed_package
from tests.support.pages import Page

PAGE = Page("docs/reference.md")


def test_docs_reference_lists_all_settings_with_default_and_meaning() -> None:
    shown = {name: (default, meaning) for name, default, meaning in PAGE.rows("Settings")}
    settings = {item.metadata["variable"]: item for item in fields(Settings) if item.metadata}
    assert list(shown) == list(settings), "the rows of Settings in docs/reference.md, in the order of app/config.py"
    for variable, (default, meaning) in shown.items():
        item = settings[variable]
        assert meaning == item.metadata["meaning"], f"the row of {variable} in docs/reference.md"
        if variable != "WORKERS":  # the default depends on the number of cores
            values = item.default if isinstance(item.default, tuple) else (item.default,)
            assert default == ",".join(str(value) for value in values if value is not None)


def test_docs_reference_lists_the_error_catalogue() -> None:
    shown = [(code, int(status), when) for code, status, when in PAGE.rows("Errors")]
    known = [(kind.code, kind.status, kind.meaning) for kind in CATALOGUE.values()]
    assert shown == known, "the rows of Errors in docs/reference.md, in the order of CATALOGUE in app/errors.py"


def commands(group: click.Group, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The full name of every command, and the first paragraph of its help."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix}{name} ")
        else:
            paragraph = inspect.cleandoc(command.help or "").partition("\n\n")[0]
            yield f"{prefix}{name}", " ".join(paragraph.split())


def test_docs_reference_lists_all_commands() -> None:
    own = [(name, what) for name, what in commands(main) if name not in installed_package().commands]
    shown = [(name, what) for name, what in PAGE.rows("Commands")]
    assert shown == own, "the rows of Commands in docs/reference.md, each with the first paragraph of its help"
