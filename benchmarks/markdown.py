"""Tables in Markdown, and the marked parts of pages that they are put into."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; all columns but the first are flush right, as numbers are."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def part(name: str, page: str) -> tuple[str, str, str]:
    """A page as what stands before, between and after the marks of a part; the marks are in the first and the last."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, found, rest = page.partition(begin)
    between, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise ValueError(f"there is no part {name}")
    return before + begin, between, end + after
