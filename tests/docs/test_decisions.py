"""The records in ``docs/decisions`` all have the same sections, and their index is complete."""

import re

import pytest

from tests.support.pages import ROOT

FOLDER = ROOT / "docs/decisions"
RECORDS = sorted(path.name for path in FOLDER.glob("*.md") if path.name != "README.md")


def test_the_index_of_decisions_lists_every_record_with_its_title() -> None:
    listed = re.findall(r"^\| (\d+) \| \[(.+)\]\((.+)\) \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    titles = [(FOLDER / name).read_text().splitlines()[0] for name in RECORDS]
    assert [f"# {number}. {title}" for number, title, _ in listed] == titles
    assert [name for _, _, name in listed] == RECORDS


def test_decision_records_are_numbered_without_gaps() -> None:
    assert [int(name[:4]) for name in RECORDS] == list(range(1, len(RECORDS) + 1))


@pytest.mark.parametrize("record", RECORDS)
def test_a_decision_record_has_context_decision_and_consequences(record: str) -> None:
    text = (FOLDER / record).read_text()
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
