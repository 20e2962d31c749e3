"""Every path and module that a document, a comment, a docstring or a configuration file names exists."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from tests.support.pages import ROOT


@cache
def tracked() -> tuple[str, ...]:
    """All files of the repository, or of an archive of it, which has no history to ask."""
    listed = subprocess.run(("git", "ls-files"), cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return tuple(listed.stdout.splitlines())
    return tuple(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file())


CONFIGURATION = (".cfg", ".toml", ".yml", ".yaml", ".conf", ".ini", ".sh", ".txt", "Makefile", "Dockerfile", ".example")

FILES = [name for name in tracked() if name.endswith((".py", ".sql", ".lark", ".js", ".md", *CONFIGURATION))]

FOLDERS = sorted({name.partition("/")[0] for name in tracked() if "/" in name})

PATH = re.compile(rf"(?<![\w/.:@{{}}<>$~-])((?:{'|'.join(map(re.escape, FOLDERS))})/[\w./*-]*[\w*])")
"""A path from the root of the repository, or of the folder ``testkit``."""

FILE = re.compile(r"(?<![\w/.:@{}<>$~*-])([\w-]+\.(?:py|sql|lark|md|cfg|toml))(?![\w/(])")
"""The name of a file alone."""

MODULE = re.compile(r"(?<![\w/.])app(?:\.[a-z_]+)+")

ELSEWHERE = {
    *("tests/a.py", "tests/b.py", "tests/test_it.py"),  # made up by tests
    *("mmap_dict.py", "multiprocess.py", "psycopg.sql", "boolean.py"),  # of libraries
    *(".github/workflows/client.yml", ".github/workflows/client-any.yml", "data.sql"),  # of users
    "app.migrations",  # the name that the wheel gives to migrations/
}


READ_IN_PYTHON = re.compile(r'"""[^"]*(?:"(?!"")[^"]*)*"""|#.*')
"""Long texts, which docstrings are, and comments. Parsing the code for them takes twenty times as long."""


def words_of(name: str) -> Iterator[str]:
    """What a person reads: of Python comments and long texts, of anything else all of it."""
    text = (ROOT / name).read_text("utf-8")
    if not name.endswith(".py"):
        yield text
        return
    yield from READ_IN_PYTHON.findall(text)


@cache
def made_by_tools() -> tuple[str, ...]:
    """Paths that git ignores, since a command makes them."""
    lines = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    return tuple(line.strip("/") for line in lines if line and not line.startswith("#"))


def exists(path: str, named_in: str) -> bool:
    """Whether a path is there, from the root or from a folder that the file that names it is in."""
    if path in made_by_tools() or any(part in made_by_tools() for part in PurePosixPath(path).parts):
        return True
    places = [ROOT, *(ROOT / folder for folder in Path(named_in).parents)]
    return any(next(place.glob(path.rstrip("/")), None) is not None for place in places)


def test_what_files_name_exists() -> None:
    known_files = {PurePosixPath(each).name for each in tracked()}
    missing: dict[str, set[str]] = {}
    for name in FILES:
        for text in words_of(name):
            paths = {path for path in PATH.findall(text) if not exists(path, name)}
            files = {file for file in FILE.findall(text) if file not in known_files and not is_module(file)}
            modules = {module for module in MODULE.findall(text) if not is_module(module)}
            unknown = (paths | files | modules) - ELSEWHERE
            if unknown:
                missing.setdefault(name, set()).update(unknown)
    assert missing == {}


def is_module(dotted: str) -> bool:
    """Whether a dotted name is a module, or stands in one."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:end])
        if place.with_suffix(".py").exists():
            return True
        if place.is_dir():
            inside = place / "__init__.py"
            return end == len(parts) or (inside.exists() and parts[end] in inside.read_text("utf-8"))
    return False
