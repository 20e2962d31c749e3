"""No module of the service is longer than a reader takes in, and no folder holds more than a reader overlooks."""

from pathlib import Path

import pytest

from tests.support.pages import ROOT

LINES_AT_MOST = 450

FILES_AT_MOST = 15

MODULES = sorted(ROOT.glob("app/**/*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_has_at_most_450_lines(path: Path) -> None:
    lines = len(path.read_text("utf-8").splitlines())
    assert lines <= LINES_AT_MOST, f"{lines} lines: divide it by what changes for another reason"


def test_a_folder_has_at_most_15_modules() -> None:
    folders = {path.parent for path in MODULES}
    counted = {str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) for folder in folders}
    assert {name: files for name, files in counted.items() if files > FILES_AT_MOST} == {}
