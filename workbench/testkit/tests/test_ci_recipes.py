"""The files of ``docs/workbench/ci.md`` are what their systems take, and use commands, options and extras that exist.

``test_sandbox_docs.py`` runs the commands that judge a run.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.pages import Page

FILES = dict(re.findall(r"^```yaml\n# (\S+)\n(.*?)^```$", Page("docs/workbench/ci.md").text, re.MULTILINE | re.DOTALL))
WORKFLOWS = [name for name in FILES if name.startswith(".github/")]
TOOLS = Path(sys.executable).parent


def commands(start: str) -> list[list[str]]:
    """The commands of all files that begin with this word, as their arguments."""
    lines: list[str] = []
    for text in FILES.values():
        for job in (yaml.safe_load(text).get("jobs") or yaml.safe_load(text)).values():
            steps = [step["run"] for step in job.get("steps", ()) if "run" in step] + job.get("script", [])
            lines += [line for step in steps for line in step.replace("\\\n", " ").splitlines()]
    words = [shlex.split(line) for line in lines]
    return [each[1:] for each in words if each[0] == start]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files at their places."""
    folder = tmp_path_factory.mktemp("repository")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def tool(repository: Path, *command: str) -> str:
    done = subprocess.run(
        [TOOLS / command[0], *command[1:]], cwd=repository, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_there_is_a_file_for_each_system() -> None:
    assert (len(WORKFLOWS), ".gitlab-ci.yml" in FILES, len(FILES)) == (2, True, 3)


def test_the_files_have_their_schemas_and_pass_the_linter(repository: Path) -> None:
    tool(repository, "zizmor", "--offline", "--quiet", ".github")
    tool(repository, "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)
    schema = ("--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci")
    tool(repository, "check-jsonschema", *schema, ".gitlab-ci.yml")


def test_pytest_takes_the_options_of_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    sessions = commands("pytest")
    assert len(sessions) == 1
    for options in sessions:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "--collect-only",
                *options,
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
