"""Reads tables and examples from pages of the documentation."""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Page:
    """A page of documentation.

    :param path: relative to the root of the repository.
    """

    def __init__(self, path: str) -> None:
        self.text = (ROOT / path).read_text("utf-8")

    def section(self, title: str) -> str:
        """The text from a heading of the second level to the next one."""
        found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", self.text, re.MULTILINE | re.DOTALL)
        assert found is not None, f"no section {title}"
        return found.group(1)

    def rows(self, title: str) -> list[list[str]]:
        """The rows of all tables of a section, without header rows; backticks around a cell are removed."""
        lines = [line for line in self.section(title).splitlines() if line.startswith("|")]
        marks = [number for number, line in enumerate(lines) if set(line) <= set("|-")]
        heads = {number - 1 for number in marks} | set(marks)
        cells = [line.strip("|").split("|") for number, line in enumerate(lines) if number not in heads]
        assert cells, title
        return [[re.sub("^`(.*)`$", r"\1", cell.strip()) for cell in row] for row in cells]

    def block(self, language: str) -> str:
        """The content of the first code block in a language."""
        match = re.search(rf"```{language}\n(.*?)\n```", self.text, re.DOTALL)
        assert match is not None
        return match.group(1)

    def resources(self) -> list[dict[str, Any]]:
        """The resources that the page's examples search: its first JSON block."""
        return json.loads(self.block("json"))


def keys(cell: str) -> list[str]:
    """The resource keys in a cell, which are separated by commas."""
    return [key for key in cell.split(", ") if key]
