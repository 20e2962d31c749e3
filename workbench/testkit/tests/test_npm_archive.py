"""The npm package of ``testkit-js``: reproducible, complete, and in step with the Python package."""

import json
import tarfile
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


def test_what_it_exports_is_in_it(package: Path) -> None:
    described = json.loads((KIT / "package.json").read_text())
    with tarfile.open(package) as archive:
        names = set(archive.getnames())
    for places in described["exports"].values():
        assert {f"package/{place.removeprefix('./')}" for place in places.values()} <= names
    assert not described.keys() & {"dependencies", "peerDependencies", "optionalDependencies", "scripts"}
