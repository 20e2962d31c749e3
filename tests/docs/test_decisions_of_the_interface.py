"""``docs/decisions-of-the-interface.md`` names clauses that exist, and says for each decision what it is of."""

import re
from collections import Counter

from tests.specification.clauses import CLAUSES
from tests.support.pages import ROOT

PAGE = (ROOT / "docs/decisions-of-the-interface.md").read_text()

ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split(" | "))
    for line in PAGE.splitlines()
    if re.match(r"\| [1-9]", line)
]
"""Number, what is open, what is decided and why, clauses, what another server might have."""

LINK = re.compile(r"\[([^\]]+)\]\(specification\.md#([^)]+)\)")


def test_numbers_count_letters_within_their_section() -> None:
    assert len(ROWS) > 50
    counted: Counter[str] = Counter()
    for number, *_ in ROWS:
        section, _, letter = number.rpartition("-")
        assert letter == chr(ord("a") + counted[section]), number
        counted[section] += 1


def test_each_decision_names_clauses_one_of_which_was_decided_here_or_follows_the_platform() -> None:
    sources = {clause.clause: clause.source for clause in CLAUSES}
    for number, _, here, clauses, elsewhere in ROWS:
        assert here, number
        assert elsewhere, number
        if clauses == "—":
            continue
        named = LINK.findall(clauses)
        assert clauses == ", ".join(f"[{text}](specification.md#{text})" for text, _ in named), number
        assert any(not re.fullmatch(r"interface [0-9.]+", sources[text]) for text, _ in named), number
