"""Pages of documentation whose tables and examples are tests."""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Page:
    """A page of documentation, by its sections.

    :param path: its path from the root of the repository.
    """

    def __init__(self, path: str) -> None:
        self.text = (ROOT / path).read_text("utf-8")

    def section(self, title: str) -> str:
        """What stands below a heading of the second level."""
        found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", self.text, re.MULTILINE | re.DOTALL)
        assert found is not None, f"no section {title}"
        return found.group(1)

    def rows(self, title: str) -> list[list[str]]:
        """The rows of all tables of a section, without their heads; code without its backticks."""
        lines = [line for line in self.section(title).splitlines() if line.startswith("|")]
        marks = [number for number, line in enumerate(lines) if set(line) <= set("|-")]
        heads = {number - 1 for number in marks} | set(marks)
        cells = [line.strip("|").split("|") for number, line in enumerate(lines) if number not in heads]
        assert cells, title
        return [[re.sub("^`(.*)`$", r"\1", cell.strip()) for cell in row] for row in cells]

    def block(self, language: str) -> str:
        """The first block of code in a language."""
        match = re.search(rf"```{language}\n(.*?)\n```", self.text, re.DOTALL)
        assert match is not None
        return match.group(1)

    def resources(self) -> list[dict[str, Any]]:
        """The resources that the examples of the page are about."""
        return json.loads(self.block("json"))


def keys(cell: str) -> list[str]:
    """The keys that a cell lists."""
    return [key for key in cell.split(", ") if key]
