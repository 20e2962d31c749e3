"""Reads and writes of resources. Functions take a connection and the project; none of them commits.

Three rules hold for every statement: ``project_key`` is one of its conditions, values are parameters, and a write that
expects a version has it in the WHERE of its UPDATE or DELETE.
"""

import re
from dataclasses import replace
from datetime import datetime
from typing import Any, LiteralString

from psycopg.errors import UniqueViolation

from app import errors
from app.database.connection import Connection
from app.query.fields import Stage
from app.query.predicate.compiler import compile_condition, compile_containment
from app.query.sql_text import Parameters, numbered
from app.resource import listing, write_statements
from app.resource.array_values import EMPTY
from app.resource.dictionary import WordCache
from app.resource.listing import Selected
from app.resource.model import (
    AnyVersion,
    ById,
    ByKey,
    Change,
    NewResource,
    NewText,
    Paging,
    Preconditions,
    Refusal,
    Refused,
    Resource,
    Selection,
    Sole,
    Target,
    Written,
    is_id,
    is_key,
)
from app.resource.resource_json import COLUMNS, FLAT_JSON, RESULT_JSON, resource_of

_word_cache = WordCache()
"""The one cache of this process; its entries belong to connections."""


def forget_words(project_key: str) -> None:
    """Have this process add all words of a project to the dictionary again, since they have been deleted there."""
    _word_cache.forget(project_key)


# Reads of one resource

_GET_BY_ID: LiteralString = f"""
    SELECT {COLUMNS}
    FROM resource r WHERE r.project_key = %(project_key)s AND r.id = %(id)s::uuid"""

_GET_BY_KEY: LiteralString = f"""
    SELECT {COLUMNS}
    FROM resource r WHERE r.project_key = %(project_key)s AND r.key = %(key)s"""


def get_by_id(connection: Connection, project_key: str, resource_id: str) -> Resource | None:
    """One resource by its id; None for any text that is no UUID, since no resource has such an id."""
    if not is_id(resource_id):
        return None
    row = connection.execute(_GET_BY_ID, {"project_key": project_key, "id": resource_id}).fetchone()
    return None if row is None else resource_of(row)


def get_by_key(connection: Connection, project_key: str, key: str) -> Resource | None:
    """One resource by its key; None for any text that is no valid key, such as one with U+0000."""
    if not is_key(key):
        return None
    row = connection.execute(_GET_BY_KEY, {"project_key": project_key, "key": key}).fetchone()
    return None if row is None else resource_of(row)


# Reads of many resources

_EXISTS: LiteralString = """
    WITH found AS MATERIALIZED (SELECT FROM resource r WHERE {})
    SELECT EXISTS (SELECT FROM found)"""
"""MATERIALIZED keeps the planner from planning for one row only. For one row it would scan the whole project, in the
hope of an early match, instead of using an index. The execution still stops at the first match."""


def exists(connection: Connection, project_key: str, selection: Selection) -> bool:
    """Whether at least one resource is selected."""
    selected = _selected(selection)
    parameters = {"project_key": project_key, **selected.parameters}
    row = connection.execute(_EXISTS.format(selected.where), parameters).fetchone()
    return row is not None and row[0]


def flat_page(connection: Connection, project_key: str, selection: Selection, paging: Paging) -> str:
    """A page of flat ObjectTypes (interface 4.1) as JSON text."""
    return _page(connection, project_key, selection, paging, FLAT_JSON)


def page(
    connection: Connection,
    project_key: str,
    selection: Selection,
    paging: Paging,
    expanded: frozenset[str] = frozenset(),
) -> str:
    """A page of resources (interface 4.12) as JSON text.

    :param expanded: names of the references that contain their target.
    """
    return _page(connection, project_key, selection, paging, RESULT_JSON[expanded])


def _page(connection: Connection, project_key: str, selection: Selection, paging: Paging, json: LiteralString) -> str:
    order = listing.terms_of(paging.sort, Stage.CURRENT)
    found, _ = listing.page(connection, _selected(selection), {"project_key": project_key}, paging, order, json)
    return found


def _selected(selection: Selection) -> Selected:
    clauses = [
        compile_containment(containment.any_of, Stage.CURRENT, numbered("contained", number))
        for number, containment in enumerate(selection.containments)
    ]
    if selection.predicate is not None:
        clauses.append(compile_condition(selection.predicate, Stage.CURRENT))
    return Selected(clauses)


# Writes


def create(
    connection: Connection, project_key: str, new: NewResource, client_id: str, at: datetime | None = None
) -> Written | Refused:
    """Create a resource.

    :param at: the time of the write; None: now, by the clock of the database.
    :return: ``Refused`` as a race if its key, or the place of the project's only resource, has been taken.
    """
    words = _word_cache.new_words(connection, project_key, [new.object_type.searched])
    statement = write_statements.insert(
        may_collide=new.key is not None or new.sole, notes_text=bool(words), dated=at is not None
    )
    text = new.object_type.text
    arrays = new.object_type.arrays
    staged_differs = new.staged_only and text != "{}"
    row = connection.execute(
        statement,
        {
            "project_key": project_key,
            "client_id": client_id,
            "new_id": new.id,
            "new_key": new.key,
            "new_object": "{}" if new.staged_only else text,
            "new_staged_object": text if staged_differs else None,
            "new_arrays": EMPTY if new.staged_only else arrays,
            "new_staged_arrays": arrays if staged_differs else None,
            "new_sole": new.sole,
            "new_words": words.text,
            "now": at,
        },
    ).fetchone()
    if row is None:
        return Refused(Refusal.RACE)
    _word_cache.add(connection, project_key, words)
    return Written(resource_of(row), created=True, leaves_text=bool(words))


def write(
    connection: Connection,
    project_key: str,
    target: Target,
    change: Change,
    preconditions: Preconditions,
    client_id: str,
    at: datetime | None = None,
) -> Written | Refused:
    """Change a resource.

    A change that leaves every value as it was writes nothing: version and lastModifiedAt stay.

    :param at: the time of the write; None: now, by the clock of the database.
    :raises ApiError: 400 ``DuplicateField`` if the change sets a key that another resource has.
    """
    parameters: Parameters = {
        "project_key": project_key,
        "client_id": client_id,
        "touched": change.touched,
        "now": at,
        **_target_parameters(target),
        **_precondition_parameters(preconditions),
        **write_statements.plan_parameters(change),
    }
    plan = write_statements.planned(change)
    words = _word_cache.new_words(connection, project_key, write_statements.new_texts(change))
    parameters["new_words"] = words.text
    if plan == write_statements.STORED and not change.touched and not isinstance(target, Sole):
        return _looked_up(connection, target, parameters)  # actions that change nothing need no UPDATE
    try:
        outcome = None
        if _is_plain(target, change, preconditions):
            conditions = tuple(name for name in write_statements.VERSION_CONDITIONS if parameters[name] is not None)
            statement = write_statements.plain_update(
                type(target), plan, conditions, notes_text=bool(words), dated=at is not None
            )
            row = connection.execute(statement, parameters).fetchone()
            outcome = None if row is None else Written(resource_of(row), created=False)
            if outcome is None:
                # If the conditions hold now, the UPDATE was overtaken or changes nothing.
                found = _looked_up(connection, target, parameters)
                outcome = found if isinstance(found, Refused) else None
        if outcome is None:
            statement = write_statements.locked_update(type(target), plan, notes_text=bool(words), dated=at is not None)
            outcome = _outcome(connection.execute(statement, parameters).fetchone())
    except UniqueViolation as error:
        if not isinstance(change.key, NewText) or not _is_about_the_key(error.diag.constraint_name):
            raise
        raise errors.duplicate_field("key", change.key.text) from None
    if isinstance(outcome, Written) and words:
        _word_cache.add(connection, project_key, words)
        return replace(outcome, leaves_text=True)
    return outcome


def _is_about_the_key(constraint: str | None) -> bool:
    """Whether the constraint that an error names is that on keys.

    Citus appends the number of the shard, and passes no name on if the shard is on another node than the session.
    """
    return constraint is None or re.fullmatch("resource_key_unique(_[0-9]+)?", constraint) is not None


def _looked_up(connection: Connection, target: Target, parameters: Parameters) -> Written | Refused:
    """The result of a write that changes nothing: the resource, if all conditions hold for it."""
    row = connection.execute(write_statements.look(type(target)), parameters).fetchone()
    return Refused(Refusal.NOT_FOUND) if row is None else _outcome(row)


def delete(connection: Connection, project_key: str, target: ById, preconditions: Preconditions) -> Written | Refused:
    """Delete a resource; the result contains the resource as it was."""
    parameters: Parameters = {
        "project_key": project_key,
        **_target_parameters(target),
        **_precondition_parameters(preconditions),
    }
    return _outcome(connection.execute(write_statements.DELETE, parameters).fetchone())


def _is_plain(target: Target, change: Change, preconditions: Preconditions) -> bool:
    """Whether to try a plain UPDATE first.

    It is worth the risk of a second statement if the client names the version, since then the resource most probably
    exists and has it. A plain UPDATE repeats the expression of each new value, and merging is too slow to be repeated.
    """
    expects_version = preconditions.expected is not None or preconditions.if_match is not None
    only_creates = preconditions.if_none_match is AnyVersion.ANY
    return expects_version and not only_creates and not isinstance(target, Sole) and not change.merges


def _outcome(row: tuple[Any, ...] | None) -> Written | Refused:
    """The result of a write, from the row that it reports."""
    if row is None:
        errors.unreachable("a write reports one row")
    counted, conditions_hold, is_written, *columns = row
    if counted > 1:
        return Refused(Refusal.AMBIGUOUS)
    if is_written is None:
        # A resource that was counted but could not be locked has been deleted in between.
        return Refused(Refusal.RACE if counted else Refusal.NOT_FOUND)
    resource = resource_of(tuple(columns))
    if is_written or conditions_hold:
        return Written(resource, created=False)
    return Refused(Refusal.PRECONDITION, resource.id, resource.version)


def _target_parameters(target: Target) -> Parameters:
    match target:
        case ById(id=resource_id):
            return {"id": resource_id}
        case ByKey(key=key):
            return {"key": key}
        case Sole():
            return {}


def _precondition_parameters(preconditions: Preconditions) -> Parameters:
    expected, if_match, if_none_match = preconditions.expected, preconditions.if_match, preconditions.if_none_match
    return {
        "expected": None if expected is None else expected.comparable,
        "if_match": None if if_match is None or if_match is AnyVersion.ANY else list(if_match),
        "if_none_match": None if if_none_match is None or if_none_match is AnyVersion.ANY else list(if_none_match),
        "only_create": if_none_match is AnyVersion.ANY,
    }
