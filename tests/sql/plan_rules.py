"""How much each statement may read, whatever the planner knows of the tables."""

from collections import Counter

from tests.support.plans import MODES, Planner, Project
from tests.support.statements import Statement

FEW = 1_500
"""Rows that a statement may read, if :data:`READ_ALL` does not name it; in a large project a hundredth of it.

So many resources of a large one have the values of parameters that the walk has chosen.
"""

_WHY = {
    "They are about the whole project.": (
        "bulk.copy_in", "bulk.count", "bulk.delete_all", "bulk.delete_in_parts", "bulk.export", "bulk.weight",
        "dictionary.remove_unused_words",
    ),
    "Facets count all that the search finds, here everything.": (
        "search.facet_counting_products", "search.facet_of_member", "search.facet_of_number", "search.facet_of_numbers",
        "search.facet_of_ranges", "search.facet_of_ranges_of_array", "search.facet_of_ranges_of_time",
        "search.facet_of_text", "search.facet_of_texts", "search.facet_of_time", "search.facet_of_values",
        "search.filter_facets", "search.filter_query", "search.two_facets", "search_staged.facets",
    ),
    "No index has what they ask for.": (
        "exists.where_array_is_empty", "exists.where_array_is_not_empty", "exists.where_array_matches_ignore_case",
        "exists.where_array_not_equals", "exists.where_array_greater", "exists.where_created_by",
        "exists.where_id_greater_than_no_uuid", "exists.where_some_property_greater",
        "exists.where_version_above_a_fraction", "exists.where_version_in",
        "exists.where_element_negated", "exists.where_some_property_matches_ignore_case", "search.filter_exists",
        "search.filter_missing", "search.filter_range", "search.filter_range_of_array",
    ),
    "Most resources fulfil them, which shows only when an index has been read.": (
        "exists.where_created_at_before", "exists.where_id_greater", "exists.where_id_less_than_no_uuid",
        "exists.where_key_is_defined", "exists.where_key_is_not_defined", "exists.where_key_not_equals",
        "exists.where_key_not_in", "exists.where_version_at_least",
    ),
    "Many resources have the same version, and all that tie for the page are sorted.": (
        "list_sorted.by_several", "list_sorted.by_version_and_key",
    ),
    "None of the many resources of a version fulfils the other condition.": ("exists.where_version_and_unindexed",),
    "The staged projection has no indexes to sort by.": ("search_staged.by_some_property",),
}  # fmt: skip

READ_ALL = {step: reason for reason, steps in _WHY.items() for step in steps}
"""Steps of the walk with statements that may read a whole project, and why they have to."""

TIMES_AT_MOST = 6
"""How often one statement may read a project that it has to read: once by an index and once by the table, for the page,
the total and a facet each."""


WHAT_NEXT = """
A statement may read few rows, or 1 % of the project, with any statistics. `tests/support/plans.py` shows its plan:
EXPLAIN (ANALYZE, BUFFERS) of tests/sql/<name>.sql with the parameters of the walk. Either give its condition an index
that serves it in every mode (docs/performance.md names those that there are), or, if what a client asks has to read the
whole project, add the name to READ_ALL in tests/sql/plan_rules.py, with the reason, and its lane to
app/resource/reading/lanes.py."""
"""What to do with a statement that reads too much, for the message of a failure."""

Reads = dict[tuple[str, str], Counter[str]]
"""What was read, by the step and the way to plan its statement."""


def reads(planner: Planner, statements: dict[str, Statement], project: Project) -> Reads:
    """What each statement reads of a project, planned in either way; those that read all of it in one way only."""
    return {
        (step, mode): planner.rows_read(statement, project, mode)
        for step, statement in statements.items()
        for mode in (MODES if _named(step) is None else MODES[-1:])
    }


def excesses(planner: Planner, statements: dict[str, Statement], project: Project) -> list[str]:
    """The statements that read more of a project than they may."""
    return too_much(reads(planner, statements, project), project)


def too_much(found: Reads, project: Project) -> list[str]:
    """The statements that have read more of a project than they may."""
    return [
        f"{step} in {project.key}, {mode}: {_shown(read)}"
        for (step, mode), read in found.items()
        if read.total() > _allowed(step, project)
    ]


def unneeded(found: Reads) -> set[str]:
    """Names of :data:`READ_ALL` whose statements have all read few rows."""
    return READ_ALL.keys() - {_named(step) for (step, _), read in found.items() if read.total() > FEW}


def _named(step: str) -> str | None:
    name = step.rpartition(".")[0]
    return name if name in READ_ALL else None


def _allowed(step: str, project: Project) -> int:
    return max(FEW, project.resources // 100 if _named(step) is None else TIMES_AT_MOST * project.resources)


def _shown(read: Counter[str]) -> str:
    return ", ".join(f"{count} rows of {name}" for name, count in read.most_common() if count)
