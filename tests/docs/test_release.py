"""The checks of ``make release``, in temporary repositories. No test builds or tags this repository."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from pathlib import Path

import pytest

from tests.support.pages import ROOT

CHANGELOG = """# Changes

## [Unreleased]

## [1.2.3] - 2026-11-22

### Added

- Something new.

## [1.2.2] - 2026-10-01

- Something old.
"""


def git(repository: Path, *arguments: str) -> str:
    """Run git in a repository and return what it printed."""
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=repository, capture_output=True, text=True, check=True
    ).stdout


def commit(repository: Path, **files: str) -> None:
    """Write files and commit them. An underscore in a name stands for a dot: ``setup_cfg``."""
    for name, text in files.items():
        (repository / name.replace("_", ".")).write_text(text)
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message", "A change")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository that is ready for release 1.2.3."""
    (tmp_path / "ops/make").mkdir(parents=True)
    shutil.copy(ROOT / "ops/make/release.py", tmp_path / "ops/make/release.py")
    (tmp_path / "tests/sql").mkdir(parents=True)
    (tmp_path / "tests/sql/released.json").write_text('{"version": "1.2.3", "statements": []}')
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path, setup_cfg="[metadata]\nname = example\nversion = 1.2.3\n", CHANGELOG_md=CHANGELOG)
    return tmp_path


def test_all_packages_have_and_require_one_version() -> None:
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    workbench = ROOT / "workbench"
    named = [json.loads((workbench / "testkit-js/package.json").read_text())["version"]]
    for folder in ("sandbox", "testkit"):
        text = (workbench / folder / "pyproject.toml").read_text()
        named += [
            tomllib.loads(text)["project"]["version"],
            *re.findall(r"sample-resource(?:-sandbox)?==([^\"]+)", text),
        ]
    assert named == [setup["metadata"]["version"]] * 5


def release(repository: Path) -> subprocess.CompletedProcess[str]:
    """Run the checks of a release in a repository."""
    command = [sys.executable, "ops/make/release.py", "--check-only"]
    return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)


def test_release_checks_pass_for_a_repository_in_order(repository: Path) -> None:
    done = release(repository)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "example 1.2.3: work tree, version, CHANGELOG.md and tag are in order.\n"
    assert git(repository, "tag") == ""


def test_the_newest_release_in_the_changelog_is_the_version_of_setup_cfg() -> None:
    setup = ConfigParser(interpolation=None)
    setup.read(ROOT / "setup.cfg")
    changelog = (ROOT / "CHANGELOG.md").read_text()
    headings = [line for line in changelog.splitlines() if line.startswith("## ")]
    assert headings[0] == "## [Unreleased]"
    assert headings[1].startswith(f"## [{setup['metadata']['version']}] - ")
