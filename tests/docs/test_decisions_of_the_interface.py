"""``docs/decisions-of-the-interface.md`` decides each place that the interface leaves open."""

import re
from collections import Counter

from tests.specification.clauses import CLAUSES
from tests.support.open_points import NEEDS_NO_DECISION, NOT_SHOWN, OPEN_POINTS
from tests.support.pages import ROOT

PAGE = (ROOT / "docs/decisions-of-the-interface.md").read_text()

ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split(" | "))
    for line in PAGE.splitlines()
    if re.match(r"\| [1-9]", line)
]
"""Number, what is open, what is decided and why, clauses, what another server might have."""

LEVELS = {clause.clause: clause.level for clause in CLAUSES}

LINK = re.compile(r"\[([^\]]+)\]\(specification\.md#([^)]+)\)")


def test_each_open_place_is_decided_once_in_the_order_of_the_list() -> None:
    assert [row[:2] for row in ROWS] == [(point.number, point.text) for point in OPEN_POINTS]


def test_numbers_count_letters_within_their_section() -> None:
    counted: Counter[str] = Counter()
    for point in OPEN_POINTS:
        section, _, letter = point.number.rpartition("-")
        assert letter == chr(ord("a") + counted[section]), point.number
        counted[section] += 1


def test_each_section_that_says_not_shown_has_as_many_points() -> None:
    said = {
        section: sum("not shown" in point.text for point in OPEN_POINTS if point.number.rpartition("-")[0] == section)
        for section in NOT_SHOWN
    }
    wanted = {section: count for section, count in NOT_SHOWN.items() if section not in NEEDS_NO_DECISION}
    assert {section: count for section, count in said.items() if count < wanted.get(section, 0)} == {}


def test_each_decision_has_its_reason_its_clauses_and_what_another_server_might_do() -> None:
    for number, _, here, clauses, elsewhere in ROWS:
        assert len(here) > 15, number
        assert elsewhere, number
        named = LINK.findall(clauses)
        assert named or clauses == "—", number
        assert all(text == target and target in LEVELS for text, target in named), number
        assert clauses == ", ".join(f"[{text}](specification.md#{text})" for text, _ in named) or clauses == "—", number


def test_each_decision_is_a_should_in_one_of_its_clauses_or_follows_the_platform() -> None:
    for number, _, _, clauses, _ in ROWS:
        sources = {clause.source for clause in CLAUSES if clause.clause in dict(LINK.findall(clauses))}
        from_the_interface_alone = {source for source in sources if re.fullmatch(r"interface [0-9.]+", source)}
        assert not sources or sources - from_the_interface_alone, number
