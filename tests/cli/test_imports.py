"""What the command line imports: ``--help`` nothing heavy, ``token`` nothing of the web application."""

import subprocess
import sys

import click

from app.cli import main
from tests.support.pages import ROOT

HEAVY = (
    "flask",
    "flask_smorest",
    "gevent",
    "gunicorn",
    "joserfc",
    "marshmallow",
    "psycopg",
    "prometheus_client",
)


def imported_by(statements: str, modules: tuple[str, ...]) -> str:
    """Those of the modules that a new interpreter has imported after the statements."""
    script = f"{statements}\nimport sys\nprint(*(name for name in {modules!r} if name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()[-1]


def test_help_imports_nothing_heavy() -> None:
    assert imported_by("from app.cli import main\nmain(['--help'], standalone_mode=False)", HEAVY) == ""


def test_token_imports_nothing_of_the_web_application() -> None:
    needless = tuple(name for name in HEAVY if name not in ("psycopg", "joserfc"))
    assert imported_by("import app.cli.identity_commands", needless) == ""


def test_the_list_of_commands_says_what_each_command_says() -> None:
    context = click.Context(main)
    listed = main.get_help(context).partition("Commands:\n")[2].splitlines()
    shown = {line.split()[0]: " ".join(line.split()[1:]) for line in listed}
    commands = {name: main.get_command(context, name) for name in main.list_commands(context)}
    visible = {name: command for name, command in commands.items() if command is not None and not command.hidden}
    assert shown.keys() == visible.keys()
    for name, command in visible.items():
        assert " ".join((command.help or "").split()).startswith(shown[name].rstrip(".")), name
