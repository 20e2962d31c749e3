"""Files, modules, links and headings that the documents name exist."""

import re
from pathlib import Path

import pytest

from tests.support.pages import ROOT

PAGES = sorted(str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))


def anchor(heading: str) -> str:
    """The fragment of a link to a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def headings(page: Path) -> set[str]:
    """The anchors of a page: of its headings, and named ones.

    Code blocks are skipped, since a comment in them begins with # like a heading.
    """
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    named = set(re.findall(r'^<a id="([^"]+)"></a>', text, re.MULTILINE))
    return named | {anchor(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES)
def test_links_in_documents_have_a_target(page: str) -> None:
    source = ROOT / page
    links = re.findall(r"\]\(([^)\s]+)\)", source.read_text())
    broken: list[str] = []
    for link in links:
        if "://" in link:
            continue
        path, _, part = link.partition("#")
        target = source.parent / path if path else source
        if not target.exists() or (part and part not in headings(target)):
            broken.append(link)
    assert broken == []
