"""Holds the columns of arrays (see :class:`app.query.fields.ValueArray`) against the documents, and mends them.

Writes of the service keep both alike. They can differ after SQL that has changed a document past the service.
"""

from typing import LiteralString

from app.database.connection import Connection, unlimited
from app.query.fields import Stage, ValueArray
from app.query.sql_text import literal
from app.resource.array_values import ARRAYS

_REPAIRED_AT_ONCE = literal(500)

_ITEM: dict[str, LiteralString] = {
    "bigint": "(e.value)::bigint",
    "numeric": "(e.value)::numeric",
    "text": "(e.value #>> '{}') COLLATE \"C\"",
}
"""An element of an array as a value of an SQL type."""


def _made(name: LiteralString, array: ValueArray, document: LiteralString) -> LiteralString:
    """The values of a column, made from a document."""
    if array.member is None:
        elements: LiteralString = f"jsonb_array_elements({document} -> '{name}')"
    else:
        elements = f"jsonb_path_query({document} -> '{name}', '$[*].{array.member}')"
    item = _ITEM[array.item_type]
    return f"(SELECT array_agg(DISTINCT {item} ORDER BY {item}) FROM {elements} e (value))"


_DOCUMENTS: dict[Stage, LiteralString] = {Stage.CURRENT: "r.object", Stage.STAGED: "r.staged_object"}
"""The documents that the values of the columns are made from."""

_COLUMNS: list[tuple[LiteralString, LiteralString]] = [
    (array.column_of(stage), _made(name, array, document))
    for stage, document in _DOCUMENTS.items()
    for name, arrays in ARRAYS.items()
    for array in arrays
]
"""Each column and what it should be; that of a document that is NULL is NULL."""

_ARE_WRONG: LiteralString = " OR ".join([f"r.{column} IS DISTINCT FROM {made}" for column, made in _COLUMNS])
_ASSIGNED: LiteralString = ", ".join([f"{column} = {made}" for column, made in _COLUMNS])
_WRONG: LiteralString = f"FROM resource r WHERE r.project_key = %(project_key)s AND ({_ARE_WRONG})"

_COUNT_WRONG: LiteralString = f"SELECT count(*) {_WRONG}"

# All values come from the row that is updated: if another write comes before, PostgreSQL computes them again. The
# version stays, since nothing changes for a client.
_REPAIR: LiteralString = f"""
    UPDATE resource r SET {_ASSIGNED}
    WHERE r.project_key = %(project_key)s AND r.id = ANY (ARRAY(SELECT r.id {_WRONG} LIMIT {_REPAIRED_AT_ONCE}))"""


def count_wrong_arrays(connection: Connection, project_key: str) -> int:
    """How many resources of a project have arrays that differ from their documents."""
    row = connection.execute(_COUNT_WRONG, {"project_key": project_key}).fetchone()
    return row[0] if row else 0


def repair_arrays(connection: Connection, project_key: str) -> None:
    """Make the arrays anew that differ from the documents.

    :param connection: in autocommit mode, so that no row is locked for long.
    """
    repaired = 1
    while repaired:
        with unlimited(connection):
            repaired = connection.execute(_REPAIR, {"project_key": project_key}).rowcount
