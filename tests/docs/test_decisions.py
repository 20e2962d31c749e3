"""The records in ``docs/decisions`` all have the same sections, and their index is complete."""

import re

from tests.support.pages import ROOT

FOLDER = ROOT / "docs/decisions"
RECORDS = sorted(path.name for path in FOLDER.glob("*.md") if path.name != "README.md")


def test_the_index_of_decisions_lists_every_record_with_its_title() -> None:
    listed = re.findall(r"^\| (\d+) \| \[(.+)\]\((.+)\) \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    titles = [(FOLDER / name).read_text().splitlines()[0] for name in RECORDS]
    assert [f"# {number}. {title}" for number, title, _ in listed] == titles
    assert [name for _, _, name in listed] == RECORDS
