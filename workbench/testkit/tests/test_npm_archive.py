"""The npm package of ``testkit-js``: reproducible, complete, and in step with the Python package."""

import json
import re
import tarfile
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.installation.archives import packaged_files
from tests.support.built import Built, build
from tests.support.server import ROOT

KIT = ROOT / "workbench/testkit-js"


@pytest.fixture(scope="module")
def package(built: Built) -> Path:
    (package,) = built("testkit-js").iterdir()
    return package


def test_packing_twice_makes_the_same_bytes(package: Path, tmp_path: Path) -> None:
    (again,) = build("testkit-js", tmp_path / "again").iterdir()
    assert again.read_bytes() == package.read_bytes()


def test_it_has_code_types_and_texts_and_nothing_else(package: Path) -> None:
    with tarfile.open(package) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    code = {
        path.removeprefix("workbench/testkit-js/")
        for path in packaged_files("workbench/testkit-js/src", "workbench/testkit-js/types")
    }
    assert names == {*code, "LICENSE", "README.md", "package.json"}
    assert {name for name in names if name.startswith("types/")} == {
        f"types/{path.stem}.d.ts" for path in (KIT / "src").glob("*.js")
    }


@pytest.mark.parametrize("page", ["workbench/testkit-js/README.md", "docs/workbench/clients.md"])
def test_documents_install_the_archive_that_is_made(package: Path, page: str) -> None:
    named = re.findall(r"npm install --save-dev (?:CHECKOUT/)?dist/([^`\s]+)", (ROOT / page).read_text())
    assert [fnmatch(package.name, name) for name in named] == [True]


def test_what_it_exports_is_in_it(package: Path) -> None:
    described = json.loads((KIT / "package.json").read_text())
    with tarfile.open(package) as archive:
        names = set(archive.getnames())
    for places in described["exports"].values():
        assert {f"package/{place.removeprefix('./')}" for place in places.values()} <= names
    assert not described.keys() & {"dependencies", "peerDependencies", "optionalDependencies", "scripts"}


def test_name_version_and_licence_are_those_of_the_python_package() -> None:
    described = json.loads((KIT / "package.json").read_text())
    project = tomllib.loads((ROOT / "workbench/testkit/pyproject.toml").read_text())["project"]
    common = ("name", "version", "license")
    assert {name: described[name] for name in common} == {name: project[name] for name in common}
    assert (KIT / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
