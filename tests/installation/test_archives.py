"""Wheel and sdist: reproducible, complete, with metadata that a package index accepts."""

import re
import tarfile
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml
from readme_renderer import markdown
from trove_classifiers import classifiers, deprecated_classifiers

from tests.installation.archives import archives_in, metadata_of, names_in, packaged_files, place_in_wheel
from tests.support.built import Built, build
from tests.support.server import ROOT


@pytest.fixture(scope="module")
def archives(built: Built) -> tuple[Path, Path]:
    """The sdist and the wheel."""
    return archives_in(built("service"))


@pytest.fixture(scope="module")
def wheel(archives: tuple[Path, Path]) -> Path:
    return archives[1]


def test_building_twice_makes_the_same_bytes(archives: tuple[Path, Path], tmp_path: Path) -> None:
    again = archives_in(build("service", tmp_path / "again", umask=0o077))
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in archives]


def test_the_wheel_contains_every_file_of_the_package_and_every_migration(wheel: Path) -> None:
    """A folder that ``packages`` of setup.cfg does not list, or a file that ``package_data`` does not, is missing."""
    assert {place_in_wheel(path) for path in packaged_files()} - names_in(wheel) == set()


def test_sdist_and_wheel_contain_the_guide(archives: tuple[Path, Path]) -> None:
    sdist, wheel = archives
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    pages = {
        "index.html",
        "search.json",
        "guide.js",
        "docs/sandbox.html",
        "docs/sandbox.png",
        "docs/decisions/index.html",
    }
    assert {f"app/pages/guide/{name}" for name in pages} <= names_in(wheel) & in_sdist


def test_the_wheel_contains_two_packages_and_nothing_else(wheel: Path) -> None:
    name = "-".join(wheel.name.split("-")[:2])
    assert {path.partition("/")[0] for path in names_in(wheel)} == {"app", "sample_resource", f"{name}.dist-info"}


def test_the_description_of_the_package_renders(wheel: Path) -> None:
    metadata = metadata_of(wheel)
    assert metadata["Description-Content-Type"].startswith("text/markdown")
    text = str(metadata.get_payload())
    rendered = markdown.render(text)
    assert rendered is not None
    assert "<table>" in rendered
    assert "DATABASE_URL" in rendered
    # On a package index nothing is beside the page that a relative link could name.
    assert re.findall(r"\]\((?!https?://)[^)]*\)", text) == []


def test_the_metadata_are_complete(wheel: Path) -> None:
    metadata = metadata_of(wheel)
    for name in ("Name", "Version", "Summary", "Author", "Keywords", "Requires-Python"):
        assert metadata[name], name
    assert metadata["License-Expression"] == "MIT"
    assert metadata["License-File"] == "LICENSE"
    assert metadata.get_all("Project-URL") is None
    assert metadata["Home-page"] is None
    given = metadata.get_all("Classifier") or []
    assert set(given) <= classifiers - deprecated_classifiers.keys()
    assert not any(name.startswith("License ::") for name in given), "License-Expression replaces it"


def test_the_classifiers_name_the_versions_that_ci_tests(wheel: Path) -> None:
    given = "\n".join(metadata_of(wheel).get_all("Classifier") or [])
    versions = re.findall(r"^Programming Language :: Python :: (3\.\d+)$", given, re.MULTILINE)
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    assert versions == jobs["test"]["strategy"]["matrix"]["python"]


def test_the_archives_are_built_by_the_setuptools_that_pyproject_names() -> None:
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    (here,) = re.findall("^setuptools==.*$", config["options.extras_require"]["dev"], re.MULTILINE)
    assert f'requires = ["{here}"]' in (ROOT / "pyproject.toml").read_text()
