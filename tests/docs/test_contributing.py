"""``CONTRIBUTING.md`` names commands, suites, files and tables that exist."""

import re
import tomllib

from tests.support.pages import ROOT, Page

TEXT = Page("CONTRIBUTING.md").text


def test_tables_are_in_the_files_that_are_said_to_have_them() -> None:
    named = re.findall(r"`([A-Z_]+)`\s+in\s+`([^`]+\.py)`", TEXT)
    assert len(named) >= 5
    assert [(name, path) for name, path in named if f"\n{name}" not in (ROOT / path).read_text("utf-8")] == []


def test_targets_and_suites_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"\bmake ([a-z-]+)", TEXT))
    assert [target for target in sorted(targets) if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []
    markers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]["markers"]
    suites = set(re.findall(r"ARGS=-m(\w+)", TEXT))
    assert suites
    assert suites - {marker.partition(":")[0] for marker in markers} == set()
