"""The clauses of ``docs/specification.md``: their form, and the data files that are made from them."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

DOCUMENT = ROOT / "docs/specification.md"

DATA = ROOT / "docs/specification.json"
"""The clauses as data. In the two packages it is a symbolic link, in what is built of them a file."""

LEVELS = ("must", "should")

PROFILES = ("core", "samples", "query", "search", "identity", "errors", "http", "races")

NUMBER = re.compile(r"([1-9][0-9]*(?:\.[0-9]+)?|[QSAEH])-([1-9][0-9]*)", re.ASCII)
"""The number of a clause: its theme and a count."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause, with its text in Markdown on one line, and the heading of its theme."""

    clause: str
    level: str
    profile: str
    source: str
    heading: str
    text: str

    @property
    def theme(self) -> str:
        """The section of the interface, or the letter, that its number begins with."""
        return self.clause.rpartition("-")[0]


_HEADING = re.compile(r"## (.+) \(`(.+)`\)")
_HEAD = re.compile(r'<a id="([^"]+)"></a>\*\*([^*]+)\*\* · (\w+) · (\w+) · (.+)\\')


class NotAClause(ValueError):
    """A part of the document that begins like a clause and is none."""


def read(document: str) -> Iterator[Clause]:
    """The clauses of a document in their order.

    :raises NotAClause: for a clause without text, or whose anchor, number and theme differ.
    """
    heading = theme = ""
    for block in document.split("\n\n"):
        first, _, text = block.strip().partition("\n")
        if match := _HEADING.fullmatch(first):
            heading, theme = match.groups()
        elif match := _HEAD.fullmatch(first):
            anchor, number, level, profile, source = match.groups()
            if not text or anchor != number or number.rpartition("-")[0] != theme:
                raise NotAClause(first)
            yield Clause(number, level, profile, source, heading, " ".join(text.split("\n")))
        elif "<a id=" in first or (first.startswith("## ") and theme):
            raise NotAClause(first)


def as_json(clauses: list[Clause]) -> str:
    """The data file: an array with a line for each clause."""
    lines = ",\n".join(json.dumps(asdict(clause), ensure_ascii=False) for clause in clauses)
    return f"[\n{lines}\n]\n"


CLAUSES = list(read(DOCUMENT.read_text("utf-8")))
"""All clauses."""
