"""Wheel and sdist of the testkit: reproducible, complete, with metadata that a package index accepts."""

import re
import tomllib
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest
from readme_renderer import markdown
from trove_classifiers import classifiers, deprecated_classifiers

from tests.installation.archives import archives_in, metadata_of, names_in, packaged_files
from tests.support.built import Built, build
from tests.support.server import ROOT


@pytest.fixture(scope="module")
def archives(built: Built) -> tuple[Path, Path]:
    """The sdist and the wheel."""
    return archives_in(built("testkit"))


@pytest.fixture(scope="module")
def wheel(archives: tuple[Path, Path]) -> Path:
    return archives[1]


def test_building_twice_makes_the_same_bytes(archives: tuple[Path, Path], tmp_path: Path) -> None:
    again = archives_in(build("testkit", tmp_path / "again", umask=0o077))
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in archives]


def test_the_wheel_contains_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    listed = {path.removeprefix("testkit/src/") for path in packaged_files("testkit/src")}
    assert {name for name in names_in(wheel) if ".dist-info/" not in name} == listed


def test_the_description_renders_and_links_to_nothing_beside_it(wheel: Path) -> None:
    text = str(metadata_of(wheel).get_payload())
    rendered = markdown.render(text)
    assert rendered is not None
    assert "<table>" in rendered
    assert re.findall(r"\]\((?!https?://)[^)]*\)", text) == []


def test_the_metadata_are_complete(wheel: Path) -> None:
    metadata = metadata_of(wheel)
    for name in ("Name", "Version", "Summary", "Author", "Keywords", "Requires-Python"):
        assert metadata[name], name
    assert (metadata["License-Expression"], metadata["License-File"]) == ("MIT", "LICENSE")
    given = set(metadata.get_all("Classifier") or [])
    assert given <= classifiers - deprecated_classifiers.keys()
    required = metadata.get_all("Requires-Dist") or []
    assert [text for text in required if "extra ==" not in text] == ["h11<0.17,>=0.16", "joserfc<2,>=1.8"]


def test_command_and_plugin_are_found(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/entry_points.txt"))
        points = ConfigParser()
        points.read_string(archive.read(name).decode())
    assert dict(points["console_scripts"]) == {"sample-resource-conformance": "sample_resource_testkit.cli:main"}
    assert dict(points["pytest11"]) == {"sample_resource": "sample_resource_testkit.plugin"}


def test_licence_version_and_build_are_those_of_the_service() -> None:
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    kit = tomllib.loads((ROOT / "testkit/pyproject.toml").read_text())
    service = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert kit["project"]["version"] == config["metadata"]["version"]
    assert kit["project"]["requires-python"] == config["options"]["python_requires"]
    assert kit["build-system"] == service["build-system"]
    assert (ROOT / "testkit/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
