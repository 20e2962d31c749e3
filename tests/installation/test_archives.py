"""Wheels and sdists of service and workbench: reproducible, complete, with metadata that an index accepts."""

import re
from pathlib import Path

import pytest
from readme_renderer import markdown
from trove_classifiers import classifiers, deprecated_classifiers

from tests.installation.archives import archives_in, metadata_of, names_in, packaged_files, place_in_wheel
from tests.support.built import Built, build
from tests.support.server import ROOT

WORKBENCH = sorted(path.parent.name for path in ROOT.glob("workbench/*/pyproject.toml"))
PACKAGES = ("service", *WORKBENCH)


@pytest.fixture(scope="module")
def archives(built: Built) -> tuple[Path, Path]:
    """The service's sdist and wheel."""
    return archives_in(built("service"))


@pytest.fixture(scope="module")
def wheel(archives: tuple[Path, Path]) -> Path:
    return archives[1]


@pytest.mark.parametrize("package", PACKAGES)
def test_building_twice_makes_the_same_bytes(built: Built, package: str, tmp_path: Path) -> None:
    again = archives_in(build(package, tmp_path / "again", umask=0o077))
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in archives_in(built(package))]


def test_the_wheel_contains_every_file_of_the_package_and_every_migration(wheel: Path) -> None:
    """A folder that ``packages`` of setup.cfg does not list, or a file that ``package_data`` does not, is missing."""
    assert {place_in_wheel(path) for path in packaged_files()} - names_in(wheel) == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_the_description_renders_and_links_to_nothing_beside_it(built: Built, package: str) -> None:
    metadata = metadata_of(archives_in(built(package))[1])
    assert metadata["Description-Content-Type"].startswith("text/markdown")
    text = str(metadata.get_payload())
    rendered = markdown.render(text) or ""
    assert ("<table>" in rendered) == ("\n|---" in text)
    assert "<h1" in rendered
    assert re.findall(r"\]\((?!https?://)[^)]*\)", text) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_the_metadata_are_complete(built: Built, package: str) -> None:
    metadata = metadata_of(archives_in(built(package))[1])
    for name in ("Name", "Version", "Summary", "Author", "Keywords", "Requires-Python"):
        assert metadata[name], name
    assert (metadata["License-Expression"].split(" AND ")[0], metadata["License-File"]) == ("MIT", "LICENSE")
    given = metadata.get_all("Classifier") or []
    assert set(given) <= classifiers - deprecated_classifiers.keys()
    assert not any(name.startswith("License ::") for name in given), "License-Expression replaces it"


@pytest.mark.parametrize("package", WORKBENCH)
def test_a_wheel_of_the_workbench_contains_its_package_and_nothing_else(built: Built, package: str) -> None:
    source = f"workbench/{package}/src"
    listed = {path.removeprefix(f"{source}/") for path in packaged_files(source)}
    assert {name for name in names_in(archives_in(built(package))[1]) if ".dist-info/" not in name} == listed
