"""Tables in Markdown, and the marked parts of pages that contain them."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table. All columns but the first are right-aligned, since they contain numbers."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def part(name: str, page: str) -> tuple[str, str, str]:
    """Divide a page at the marks of a part: the text before it with the first mark, the part, and the rest."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, found, rest = page.partition(begin)
    between, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise ValueError(f"there is no part {name}")
    return before + begin, between, end + after
