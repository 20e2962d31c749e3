"""Fills the arrays of rows that have none that are valid (see :class:`app.query.fields.ValueArray`).

These are rows from before the columns existed, and those that a service of an earlier version has written since. A
facet that meets such rows leaves the work, which goes through the project by ids, a few rows at a time.
"""

from typing import LiteralString
from uuid import UUID

from app.database.connection import Connection
from app.query.fields import ARRAYS_ARE_VALID, DOCUMENT, HAS_STAGED_CHANGES
from app.query.sql_text import literal
from app.resource.array_values import VALUE_ARRAYS

_LOOKED_AT_ONCE = 500

_FILLED_AT_ONCE = 20
"""Rows of one piece of work, which takes some milliseconds; a writer of one of them waits that long at most."""

_REPAIRED_AT_ONCE = 500

_FIRST = UUID(int=0)


def _made(document: LiteralString) -> LiteralString:
    arrays: list[LiteralString] = [values.made_from.format(document) for _, values in VALUE_ARRAYS]
    joined: LiteralString = ", ".join(arrays)
    return f"ROW({joined})::array_values"


_MADE = _made(DOCUMENT.current)
_STAGED_MADE: LiteralString = f"CASE WHEN {HAS_STAGED_CHANGES} THEN {_made('r.staged_object')} END"

_ARE_WRONG: LiteralString = f"""
    {ARRAYS_ARE_VALID} AND (r.arrays IS DISTINCT FROM {_MADE} OR r.staged_arrays IS DISTINCT FROM {_STAGED_MADE})"""
"""Whether arrays that are taken for valid differ from the documents."""

_LOOK: LiteralString = f"""
    SELECT r.id, ({ARRAYS_ARE_VALID}) IS TRUE FROM resource r
    WHERE r.project_key = %(project_key)s AND r.id > %(after)s ORDER BY r.id LIMIT {literal(_LOOKED_AT_ONCE)}"""

# All values come from the row that is updated. If another write comes before, PostgreSQL computes them again from what
# that has written. The version stays, and with it lastModifiedAt: nothing has changed for a client.
_FILL: LiteralString = f"""
    UPDATE resource r SET arrays = {_MADE}, staged_arrays = {_STAGED_MADE}, arrays_version = r.version
    WHERE r.project_key = %(project_key)s AND r.id = ANY (%(ids)s)"""

_FILL_INVALID: LiteralString = f"{_FILL} AND ({ARRAYS_ARE_VALID}) IS NOT TRUE"

_COUNT_WRONG: LiteralString = f"SELECT count(*) FROM resource r WHERE r.project_key = %(project_key)s AND {_ARE_WRONG}"

_WRONG_OR_INVALID: LiteralString = f"""
    SELECT r.id FROM resource r
    WHERE r.project_key = %(project_key)s AND (({ARRAYS_ARE_VALID}) IS NOT TRUE OR {_ARE_WRONG}) ORDER BY r.id"""


_after: dict[str, UUID] = {}
"""How far this process has gone through each project; a project that it is through with has no entry."""


def fill_arrays(connection: Connection, project_key: str) -> int:
    """Fill the arrays of some rows, going on where the last call ended; 0 once the project's last row was looked at."""
    after = _after.pop(project_key, _FIRST)
    rows = connection.execute(_LOOK, {"project_key": project_key, "after": after}).fetchall()
    invalid = [resource_id for resource_id, is_valid in rows if not is_valid][:_FILLED_AT_ONCE]
    if invalid:
        connection.execute(_FILL_INVALID, {"project_key": project_key, "ids": invalid})
    if len(invalid) == _FILLED_AT_ONCE:
        _after[project_key] = invalid[-1]
    elif len(rows) == _LOOKED_AT_ONCE:
        _after[project_key] = rows[-1][0]
    # How many are left is not known. Nothing waits for them, so there is no hurry.
    return int(project_key in _after)


# Consistency


def count_wrong_arrays(connection: Connection, project_key: str) -> int:
    """How many resources of a project have arrays that facets count and that differ from the documents."""
    row = connection.execute(_COUNT_WRONG, {"project_key": project_key}).fetchone()
    return row[0] if row else 0


def repair_arrays(connection: Connection, project_key: str) -> None:
    """Make all arrays of a project anew that are wrong or not valid.

    :param connection: in autocommit mode, so that no row is locked for long.
    """
    found = connection.execute(_WRONG_OR_INVALID, {"project_key": project_key}).fetchall()
    for begin in range(0, len(found), _REPAIRED_AT_ONCE):
        ids = [resource_id for (resource_id,) in found[begin : begin + _REPAIRED_AT_ONCE]]
        connection.execute(_FILL, {"project_key": project_key, "ids": ids})
