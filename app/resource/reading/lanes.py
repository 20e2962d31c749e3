"""Chooses the lane of a read: the slow lane if it may read much of a project without an index.

Fields (``indexed``) and operators say which conditions an index serves, and the compiler marks each term and each order
accordingly. One condition that an index serves makes a selection fast, because all conditions have to hold.
"""

from app.database.admission import Lane
from app.resource.reading.listing import Page, Selected

FAR_OFFSET = 1_000
"""The largest offset in the fast lane. With a larger one a page may be slow, because PostgreSQL reads all results
before it."""


def lane_of_existence(selected: Selected) -> Lane:
    """The lane of an existence check, which finds out whether at least one resource is selected."""
    is_found = not selected.clauses or selected.finds_few or selected.side_by_side_in is not None
    return Lane.FAST if is_found else Lane.SLOW


def lane_of_page(page: Page) -> Lane:
    """The lane of a page. A page with facets is slow, because facets count all selected resources."""
    first, last = page.terms[0], page.terms[-1]
    # The last term is the id. The index of a field sorts the resources with equal values by id.
    is_ordered = first.in_order_of is not None and len(page.terms) <= 2 and first.descending is last.descending
    is_found = not page.selected.clauses or page.selected.finds_few or page.is_one_stretch
    is_near = page.paging.offset <= FAR_OFFSET
    return Lane.FAST if is_ordered and is_found and is_near and not page.facet_queries else Lane.SLOW
