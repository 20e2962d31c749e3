"""Tables of the documentation that are measured: read, and written anew."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page, behind a mark."""

    page: Path
    mark: str

    def shown(self) -> str:
        """The table as the page has it."""
        return self.page.read_text().partition(self.mark)[2].partition("\n\n")[0].strip() + "\n"

    def write(self, table: str) -> None:
        """Put a table into the page, in place of the one that is there."""
        head, mark, rest = self.page.read_text().partition(self.mark)
        after = rest if rest.startswith("\n") else "\n" + rest.partition("\n\n")[2]
        self.page.write_text(f"{head}{mark}{table}{after}")
