"""What the command line imports: ``serve`` nothing heavy, ``token`` nothing of the web application."""

import subprocess
import sys

import click

from app.cli import main
from tests.support.pages import ROOT

HEAVY = ("flask", "flask_smorest", "gevent", "gunicorn", "marshmallow", "psycopg", "prometheus_client")


def imported_by(statements: str, modules: tuple[str, ...]) -> str:
    """Those of the modules that a new interpreter has imported after the statements."""
    script = f"{statements}\nimport sys\nprint(*(name for name in {modules!r} if name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()[-1]


def test_the_process_of_serve_imports_nothing_heavy() -> None:
    assert imported_by("import app.cli, app.serving.supervisor", HEAVY) == ""


def test_token_imports_nothing_of_the_web_application() -> None:
    needless = tuple(name for name in HEAVY if name != "psycopg")
    assert imported_by("import app.cli.identity_commands", needless) == ""


def test_help_lists_all_commands() -> None:
    context = click.Context(main)
    listed = main.get_help(context).partition("Commands:\n")[2].splitlines()
    assert {line.split()[0] for line in listed} == {*main.list_commands(context)}
