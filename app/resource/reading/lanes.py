"""The lane of a read: slow if it may read much of a project, by what indexes answer of it, or if its page is large.

What an index answers stands in the rows of fields (``indexed``) and of operators, and a clause and an order keep what
the compiler has written by an index. A selection is as fast as the fastest of the conditions that all have to hold.
"""

from collections.abc import Callable

from app.database.admission import Lane
from app.database.connection import Connection
from app.database.replica import ReadingDatabase
from app.resource.reading.listing import Page, Selected

FAR_OFFSET = 1_000
"""A page behind more results than these may be slow, since they all have to be read."""


def read_page(database: ReadingDatabase, project_key: str, lane: Lane, compose: Callable[[Connection], Page]) -> bytes:
    """Read a page. If it is large, it is read in the slow lane, so that a process has few of them at a time.

    :param compose: makes the page; it may send statements.
    """

    def read(connection: Connection) -> tuple[Page, bytes | None]:
        page = compose(connection)
        return page, page.read(connection)

    page, found = database.read(read, project_key, lane)
    return database.read(page.read_large, project_key, Lane.SLOW) if found is None else found


def lane_of_existence(selected: Selected) -> Lane:
    """The lane of the check whether any resource is selected."""
    is_found = not selected.clauses or selected.finds_few or selected.side_by_side_in is not None
    return Lane.FAST if is_found else Lane.SLOW


def lane_of_page(page: Page) -> Lane:
    """The lane of a page. One with facets is slow, since they count all that is selected."""
    first, last = page.terms[0], page.terms[-1]
    # The last one is the id, in which an index has the ties of one other field.
    is_ordered = first.in_order_of is not None and len(page.terms) <= 2 and first.descending is last.descending
    is_found = not page.selected.clauses or page.selected.finds_few or page.is_one_stretch
    is_near = page.paging.offset <= FAR_OFFSET
    return Lane.FAST if is_ordered and is_found and is_near and not page.extras.queries else Lane.SLOW
