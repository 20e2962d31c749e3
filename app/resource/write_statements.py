"""The statements that write one resource, composed from a plan of what each of its values becomes.

There are three statements for a change. :func:`plain_update` is one UPDATE whose WHERE has the version that the client
expects. If it finds no row, :func:`look` tells why without waiting for a lock: of many writers that expect the same
version, all but one end here. If the conditions hold by then, or if the first two are not worth trying,
:func:`locked_update` follows. Its parts:

* ``counted``: how many resources the project has, if its only one is meant;
* ``before``: the row, locked until the transaction ends;
* ``after``: what each value was and what it becomes, computed once;
* ``written``: the row after the UPDATE, which happens if all conditions hold and a value changes;
* ``noted``: notes texts with new words (see :mod:`app.resource.dictionary`).

It reports what it found in any case, so that the caller can tell 404, 409 and 412 apart.

Equal plans have equal texts. So the statements are few, the cache of texts is small, and so is that of prepared
statements.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import LiteralString

from app import errors
from app.query.fields import ARRAYS, ARRAYS_ARE_VALID, OBJECT_TEXT, OBJECT_TYPE, SOME_PROPERTY, staged_columns
from app.query.sql_text import Parameters
from app.resource.array_values import VALUE_ARRAYS
from app.resource.dictionary import NOTED
from app.resource.json_text import concatenated
from app.resource.model import ById, ByKey, Change, Expression, Merged, NewObject, NewText, Sole, Stored, Target
from app.resource.resource_json import COLUMNS

# What a write makes of each value


@dataclass(frozen=True, slots=True)
class RowValues:
    """An SQL expression for each value of a resource that a write may change.

    :param current_arrays: the distinct values of the arrays of ``current_object``, if those of all objects that it is
        made from are valid; likewise ``staged_arrays``.
    :param makes_arrays_valid: whether the arrays are valid whatever the row has.
    """

    key: LiteralString
    current_object: LiteralString
    current_some_property: LiteralString
    staged_object: LiteralString
    staged_some_property: LiteralString
    current_arrays: LiteralString
    staged_arrays: LiteralString
    makes_arrays_valid: bool = False

    @property
    def by_name(self) -> dict[LiteralString, LiteralString]:
        """The expressions by the names of the fields, without the arrays, which change with the objects."""
        return {
            "key": self.key,
            "current_object": self.current_object,
            "current_some_property": self.current_some_property,
            "staged_object": self.staged_object,
            "staged_some_property": self.staged_some_property,
        }


STORED = RowValues(
    key="r.key",
    current_object=OBJECT_TEXT.current,
    current_some_property=SOME_PROPERTY.current,
    staged_object=OBJECT_TEXT.staged,
    staged_some_property=SOME_PROPERTY.staged,
    current_arrays=ARRAYS.current,
    staged_arrays=ARRAYS.staged,
)
"""The values that the row ``r`` has."""


def planned(change: Change) -> RowValues:
    """What each value becomes, as SQL on ``r`` and on parameters that are called like the fields of the plan."""
    return RowValues(
        key=_sql(change.key, "key"),
        current_object=_sql(change.current.object_type, "current_object"),
        current_some_property=_sql(change.current.some_property, "current_some_property"),
        staged_object=_sql(change.staged.object_type, "staged_object"),
        staged_some_property=_sql(change.staged.some_property, "staged_some_property"),
        current_arrays=_arrays(change.current.object_type, "current"),
        staged_arrays=_arrays(change.staged.object_type, "staged"),
        makes_arrays_valid=all(isinstance(made.object_type, NewObject) for made in (change.current, change.staged)),
    )


def _arrays(object_type: Expression, prefix: LiteralString) -> LiteralString:
    """The distinct values of the arrays of what an ObjectType becomes."""
    match object_type:
        case Stored.CURRENT_OBJECT:
            return STORED.current_arrays
        case Stored.STAGED_OBJECT:
            return STORED.staged_arrays
        case NewObject():
            return f"%({prefix}_arrays)s::array_values"
        case Merged(base=base):
            stored = _arrays(base, prefix)
            merged: list[LiteralString] = [
                f"CASE WHEN '{name}' = ANY (%({prefix}_names)s::text[])"
                f" THEN (%({prefix}_arrays)s::array_values).{values.attribute} ELSE ({stored}).{values.attribute} END"
                for name, values in VALUE_ARRAYS
            ]
            return f"ROW({', '.join(merged)})::array_values"
        case _:
            return errors.unreachable("an ObjectType is stored, new or merged")


def _sql(expression: Expression, parameter: LiteralString) -> LiteralString:
    match expression:
        case Stored.KEY:
            return STORED.key
        case Stored.CURRENT_OBJECT:
            return STORED.current_object
        case Stored.CURRENT_SOME_PROPERTY:
            return STORED.current_some_property
        case Stored.STAGED_OBJECT:
            return STORED.staged_object
        case Stored.STAGED_SOME_PROPERTY:
            return STORED.staged_some_property
        case NewText():
            return f"%({parameter})s::text"
        case Merged(base=base):
            return _merged(_sql(base, parameter), parameter)


def _merged(base: LiteralString, parameter: LiteralString) -> LiteralString:
    """The stored ObjectType with the fields that were sent in place of its own, each with the text that it had.

    json and not jsonb, which would rewrite the numbers. The fields keep their fixed order, so that equal objects are
    equal texts.
    """
    merged = concatenated(
        "'{'",
        """coalesce(string_agg(to_json(f.name) || ':' || f.value, ','
                ORDER BY array_position(%(field_order)s::text[], f.name)), '')""",
        "'}'",
    )
    return f"""(
        SELECT {merged}
        FROM (
            SELECT coalesce(n.key, o.key) AS name, coalesce(n.value, o.value)::text AS value
            FROM json_each(({base})::json) o FULL JOIN json_each(%({parameter})s::json) n ON n.key = o.key
        ) f)"""


def plan_parameters(change: Change) -> Parameters:
    """The parameters of a plan."""
    parameters: Parameters = {}
    expressions: dict[str, Expression] = {
        "key": change.key,
        "current_object": change.current.object_type,
        "current_some_property": change.current.some_property,
        "staged_object": change.staged.object_type,
        "staged_some_property": change.staged.some_property,
    }
    for name, expression in expressions.items():
        if isinstance(expression, NewText):
            parameters[name] = expression.text
        elif isinstance(expression, Merged):
            parameters[name] = expression.fields.text
            parameters["field_order"] = list(OBJECT_TYPE)
    for prefix, made in (("current", change.current.object_type), ("staged", change.staged.object_type)):
        if isinstance(made, NewObject):
            parameters[f"{prefix}_arrays"] = made.arrays
        elif isinstance(made, Merged):
            parameters[f"{prefix}_arrays"] = made.fields.arrays
            parameters[f"{prefix}_names"] = list(made.fields.names)
    return parameters


def new_texts(change: Change) -> Iterable[tuple[str, ...]]:
    """The texts that a search looks at of each value of a change, once: both projections often get the same value."""
    values: dict[tuple[str, ...], None] = {}
    for projection in (change.current, change.staged):
        for expression in (projection.object_type, projection.some_property):
            if isinstance(expression, NewText):
                values[expression.searched] = None
            elif isinstance(expression, Merged):
                values[expression.fields.searched] = None
    return values


# Parts of all statements

_NOW: LiteralString = "date_trunc('milliseconds', now())"
"""The time of a write, by the clock of the database, which all processes share.

Truncated here, since the column, a timestamptz(3), would round it up, into the future.
"""

_GIVEN_TIME: LiteralString = "date_trunc('milliseconds', %(now)s::timestamptz)"
"""The time of a write in a world with a clock of its own (:mod:`app.resource.world`)."""


def _time(*, dated: bool) -> LiteralString:
    return _GIVEN_TIME if dated else _NOW


_RETURNING: LiteralString = f"RETURNING {COLUMNS}"


# The expected version

VERSION_CONDITIONS: dict[str, tuple[LiteralString, LiteralString]] = {
    "expected": ("%(expected)s::bigint", "r.version = {}"),
    "if_match": ("%(if_match)s::bigint[]", "r.version = ANY ({})"),
    "if_none_match": ("%(if_none_match)s::bigint[]", "r.version <> ALL ({})"),
}
"""Conditions on the version of ``r``, by the names of their parameters. These are NULL if the request has none."""


def _holds(name: str) -> LiteralString:
    value, condition = VERSION_CONDITIONS[name]
    return condition.format(value)


_OPTIONAL_CONDITIONS: LiteralString = " AND ".join(
    [f"({value} IS NULL OR {_holds(name)})" for name, (value, _) in VERSION_CONDITIONS.items()]
)
_ALL_CONDITIONS: LiteralString = f"{_OPTIONAL_CONDITIONS} AND NOT %(only_create)s::boolean"
"""All preconditions, whichever of them the request has."""


# Create


@lru_cache(maxsize=8)
def insert(*, may_collide: bool, notes_text: bool, dated: bool = False) -> LiteralString:
    """Creates a resource, and returns its columns; no row if its key is in use.

    :param may_collide: whether another resource can be in the way. If not, there is no ON CONFLICT, which would look
        into every unique index first.
    :param dated: whether the parameter ``now`` has the time, in place of the database's clock.
    """
    noting: LiteralString = f"WITH {NOTED}" if notes_text else ""
    on_conflict: LiteralString = "ON CONFLICT DO NOTHING" if may_collide else ""
    return f"{noting} {_insert(_time(dated=dated))} {on_conflict} {_RETURNING}"


def _insert(now: LiteralString) -> LiteralString:
    return f"""
    INSERT INTO resource AS r (
        project_key, id, version, key, created_at, last_modified_at, created_by, last_modified_by,
        object_type, staged_object_type, sole, arrays, staged_arrays, arrays_version)
    VALUES (%(project_key)s, %(new_id)s, 1, %(new_key)s, {now}, {now},
        %(client_id)s, %(client_id)s, %(new_object)s, %(new_staged_object)s, %(new_sole)s,
        %(new_arrays)s, %(new_staged_arrays)s, 1)"""


# Update


@lru_cache(maxsize=256)
def plain_update(
    target: type[Target], plan: RowValues, conditions: tuple[str, ...], *, notes_text: bool, dated: bool = False
) -> LiteralString:
    """Writes the resource and returns its columns; no row if there is nothing to write.

    :param target: by id or by key.
    :param conditions: names of :data:`VERSION_CONDITIONS`.
    :param dated: as for :func:`insert`.
    """
    update = _update(
        plan,
        _time(dated=dated),
        after=plan,
        before=STORED,
        which=_WHICH[target],
        conditions=[_holds(name) for name in conditions],
    )
    noting: LiteralString = f"WITH {NOTED}" if notes_text else ""
    return f"{noting} {update} {_RETURNING}"


@lru_cache(maxsize=4)
def look(target: type[Target]) -> LiteralString:
    """Reads a resource, as it is committed, in the form of :data:`_REPORT`; no row if there is none.

    :param target: by id or by key.
    """
    return f"""
    SELECT 0, ({_ALL_CONDITIONS}), false, {COLUMNS}
    FROM resource r WHERE r.project_key = %(project_key)s AND {_WHICH[target]}"""


@lru_cache(maxsize=256)
def locked_update(target: type[Target], plan: RowValues, *, notes_text: bool, dated: bool = False) -> LiteralString:
    """Locks the resource, writes it if all conditions hold, and reports what it found; see :data:`_REPORT`."""
    planned_values: dict[LiteralString, LiteralString] = {
        **plan.by_name,
        "current_arrays": plan.current_arrays,
        "staged_arrays": plan.staged_arrays,
    }
    after = ", ".join([f"{sql} AS {name}" for name, sql in planned_values.items()])
    before = ", ".join([f"{sql} AS {name}_before" for name, sql in STORED.by_name.items()])
    update = _update(
        plan,
        _time(dated=dated),
        after=_AFTER,
        before=_BEFORE,
        which="r.id = a.id",
        conditions=[_ALL_CONDITIONS],
        source="FROM after a",
    )
    noting: LiteralString = f"{NOTED}," if notes_text else ""
    return f"""
WITH {noting} {_LOCKED[target]},
after AS MATERIALIZED (SELECT r.id, {after}, {before} FROM before r),
written AS ({update} {_RETURNING})
{_REPORT}"""


_AFTER = RowValues(
    key="a.key",
    current_object="a.current_object",
    current_some_property="a.current_some_property",
    staged_object="a.staged_object",
    staged_some_property="a.staged_some_property",
    current_arrays="a.current_arrays",
    staged_arrays="a.staged_arrays",
)

_BEFORE = RowValues(
    key="a.key_before",
    current_object="a.current_object_before",
    current_some_property="a.current_some_property_before",
    staged_object="a.staged_object_before",
    staged_some_property="a.staged_some_property_before",
    current_arrays=STORED.current_arrays,
    staged_arrays=STORED.staged_arrays,
)


def _update(
    plan: RowValues,
    now: LiteralString,
    *,
    after: RowValues,
    before: RowValues,
    which: LiteralString,
    conditions: Sequence[LiteralString],
    source: LiteralString = "",
) -> LiteralString:
    """The UPDATE of a plan. It sets no column that stays, so that no generated column and no index is computed anew.

    Arrays that are made from arrays of the row are valid if those were.

    :param now: the time of the write, as SQL.
    :param after: the values that the plan computes.
    :param before: the values that the row has.
    """
    columns: dict[LiteralString, LiteralString] = {}
    if plan.key != STORED.key:
        columns["key"] = after.key
    if plan.current_object != STORED.current_object:
        columns["object_type"] = after.current_object
        columns["arrays"] = after.current_arrays
    if plan.current_some_property != STORED.current_some_property:
        columns["some_property"] = after.current_some_property
    changed: list[LiteralString] = [name for name, sql in plan.by_name.items() if sql != STORED.by_name[name]]
    if any(name != "key" for name in changed):
        columns |= staged_columns(
            current_object=after.current_object,
            current_some_property=after.current_some_property,
            staged_object=after.staged_object,
            staged_some_property=after.staged_some_property,
            staged_arrays=after.staged_arrays,
        )
    columns["arrays_version"] = (
        "r.version + 1" if plan.makes_arrays_valid else f"CASE WHEN {ARRAYS_ARE_VALID} THEN r.version + 1 END"
    )
    assignments = "".join([f", {column} = {sql}" for column, sql in columns.items()])
    or_changes = "".join([f" OR {after.by_name[name]} IS DISTINCT FROM {before.by_name[name]}" for name in changed])
    and_conditions = "".join([f" AND {condition}" for condition in conditions])
    return f"""
    UPDATE resource r SET version = r.version + 1, last_modified_at = {now},
        last_modified_by = %(client_id)s{assignments}
    {source}
    WHERE r.project_key = %(project_key)s AND {which}{and_conditions} AND (%(touched)s::boolean{or_changes})"""


# Locking and reporting

_WHICH: dict[type[Target], LiteralString] = {ById: "r.id = %(id)s::uuid", ByKey: "r.key = %(key)s"}

_STORED_ROW: LiteralString = "SELECT r.* FROM resource r WHERE r.project_key = %(project_key)s"

_LOCKED: dict[type[Target], LiteralString] = {
    **{
        target: f"""
    counted AS (SELECT 0 AS resources),
    before AS MATERIALIZED ({_STORED_ROW} AND {which} FOR UPDATE)"""
        for target, which in _WHICH.items()
    },
    Sole: f"""
    candidate AS MATERIALIZED (SELECT r.id FROM resource r WHERE r.project_key = %(project_key)s LIMIT 2),
    counted AS MATERIALIZED (SELECT count(*) AS resources FROM candidate),
    before AS MATERIALIZED ({_STORED_ROW}
        AND (SELECT resources FROM counted) = 1 AND r.id = (SELECT id FROM candidate LIMIT 1) FOR UPDATE)""",
}
"""The row ``before``, and for the sole resource whether the project has 0, 1 or more."""

_REPORT: LiteralString = f"""
SELECT c.resources, ({_ALL_CONDITIONS}), r.is_written, {COLUMNS}
FROM counted c LEFT JOIN (
    SELECT true AS is_written, r.* FROM written r
    UNION ALL
    SELECT false, {COLUMNS} FROM before r WHERE NOT EXISTS (SELECT FROM written)) r ON true"""
"""One row in any case: how many resources were counted; whether all conditions hold, if it was not written; whether it
was written; the resource as it is now. All but the first are NULL if none was found."""


# Delete

DELETE: LiteralString = f"""
WITH {_LOCKED[ById]},
written AS (
    DELETE FROM resource r USING before b
    WHERE r.project_key = %(project_key)s AND r.id = b.id AND {_ALL_CONDITIONS}
    {_RETURNING})
{_REPORT}"""
"""Locks a resource by its id, deletes it if all conditions hold, and reports what it found; see :data:`_REPORT`."""
