"""From a migrated database to a distributed one, on Citus: projects are spread over machines, the service is the same.

Every row of a project stands on one machine, since tables are distributed by ``project_key`` and colocated; what
belongs to the service and not to a project is on all machines (reference tables). So each statement of the service
finds all that it needs on one machine. ``docs/scaling.md`` says when and how to use it, and what it costs.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql

from app.database.pool import Connection
from app.database.readiness import migration_ids

DISTRIBUTED = ("resource", "word")
"""Tables of projects: each has ``project_key`` in its every key. The first is the one that the others are kept with."""

REFERENCE = ("api_client", "signing_key", "revoked_token")
"""Tables of the service."""

LOCAL = ("_yoyo_log", "_yoyo_migration", "_yoyo_version", "yoyo_lock")
"""What only the migrations need, on the coordinator."""

EXTENSIONS = ("btree_gin", "fuzzystrmatch")
"""What the migrations create, and each worker needs."""

_COLUMN = "project_key"


class CannotDistribute(Exception):
    """The database cannot be distributed; the message says what to do about it."""


@dataclass(frozen=True, slots=True)
class Step:
    """What was done with a table, a function or an extension."""

    name: str
    done: str


@dataclass(frozen=True, slots=True)
class _Placement:
    """How Citus has a table."""

    column: str | None
    """What it is distributed by; None: it is a reference table."""
    colocation: int


def distribute(connection: Connection, shards: int) -> Generator[Step]:
    """Distribute what is not distributed yet, one by one; safe to repeat, and to resume after an interruption.

    Writes to a table wait while its rows are copied. The connection has to be in autocommit mode, so that each table
    is done for good when the next is begun, and should have no statement timeout.

    :param shards: into how many parts the tables of projects are split.
    :raises CannotDistribute: if Citus or migrations are missing, or a table stands there in another way already.
    """
    _raise_if_not_prepared(connection)
    tables = _tables(connection)
    unknown = tables - {*DISTRIBUTED, *REFERENCE, *LOCAL}
    if unknown:
        raise CannotDistribute(f"Nobody has said how to distribute these tables: {', '.join(sorted(unknown))}.")
    placed = _placements(connection)
    yield from _equip_workers(connection)
    # Reference tables first: a project's table may then be read together with them from its first moment on.
    for table in REFERENCE:
        if table not in placed:
            connection.execute("SELECT create_reference_table(%(table)s)", {"table": table})
            _forget_local_copy(connection, table)
            yield Step(table, "is a reference table now")
        elif placed[table].column is not None:
            raise CannotDistribute(f"The table {table} is distributed; it should be a reference table.")
        else:
            yield Step(table, "was a reference table already")
    leader = DISTRIBUTED[0]
    for table in (table for table in DISTRIBUTED if table in tables):
        if table not in placed:
            _distribute_table(connection, table, None if table == leader else leader, shards)
            _forget_local_copy(connection, table)
            yield Step(table, f"is distributed by {_COLUMN} now")
        else:
            _raise_if_misplaced(table, placed[table], _placements(connection)[leader])
            yield Step(table, f"was distributed by {_COLUMN} already")


def _raise_if_not_prepared(connection: Connection) -> None:
    if connection.execute("SELECT FROM pg_extension WHERE extname = 'citus'").fetchone() is None:
        available = connection.execute("SELECT FROM pg_available_extensions WHERE name = 'citus'").fetchone()
        raise CannotDistribute(
            "The database has no extension citus. "
            + (
                "The server brings it: run 'CREATE EXTENSION citus' here and on every worker, then register the workers"
                " with citus_add_node."
                if available
                else "Neither has the server: distributing needs PostgreSQL with Citus (docs/scaling.md)."
            )
        )
    if "_yoyo_migration" not in _tables(connection):
        missing = len(migration_ids())
    else:
        row = connection.execute(
            "SELECT count(*) FROM _yoyo_migration WHERE migration_id = ANY (%(needed)s)",
            {"needed": list(migration_ids())},
        ).fetchone()
        missing = len(migration_ids()) - (row[0] if row else 0)
    if missing:
        raise CannotDistribute(f"The database lacks {missing} migrations: run 'sample-resource db upgrade' first.")


def _tables(connection: Connection) -> set[str]:
    """The service's tables; those of extensions are somebody else's, and shards are parts of others."""
    rows = connection.execute(
        "SELECT c.relname FROM pg_class c"
        " WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace"
        "  AND NOT relation_is_a_known_shard(c.oid) AND NOT EXISTS ("
        "   SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')"
    ).fetchall()
    return {row[0] for row in rows}


def _equip_workers(connection: Connection) -> Generator[Step]:
    """Bring to the workers what statements call there.

    Citus does so by itself for what is created while there are workers, and for what a table needs. It does not know
    what only statements call, and takes what was there before it for the coordinator's own affair.
    """
    for extension in EXTENSIONS:
        if not _is_everywhere(connection, "pg_extension", _EXTENSION_ID, extension):
            # Nothing here, where it is; Citus passes it on all the same.
            connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(extension)))
            yield Step(extension, "is on the workers now")
    functions = connection.execute(
        "SELECT p.oid::regprocedure::text FROM pg_proc p"
        " WHERE p.pronamespace = current_schema()::regnamespace AND NOT EXISTS ("
        "  SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')"
        " ORDER BY 1"
    ).fetchall()
    for (function,) in functions:
        if not _is_everywhere(connection, "pg_proc", _FUNCTION_ID, function):
            connection.execute("SELECT create_distributed_function(%(function)s)", {"function": function})
            yield Step(function, "is on the workers now")


_EXTENSION_ID: LiteralString = "(SELECT e.oid FROM pg_extension e WHERE e.extname = %(name)s)"
_FUNCTION_ID: LiteralString = "%(name)s::regprocedure"


def _is_everywhere(connection: Connection, catalog: str, object_id: LiteralString, name: str) -> bool:
    """Whether Citus keeps an object on all machines.

    :param object_id: an expression for its id in the catalog, with the parameter ``name``.
    """
    statement = f"SELECT FROM pg_dist_object WHERE classid = %(catalog)s::regclass AND objid = {object_id}"
    return connection.execute(statement, {"catalog": catalog, "name": name}).fetchone() is not None


def _placements(connection: Connection) -> dict[str, _Placement]:
    rows = connection.execute(
        "SELECT c.relname, p.colocationid,"
        " CASE WHEN p.partmethod = 'h' THEN column_to_column_name(p.logicalrelid, p.partkey) END"
        " FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid"
        " WHERE c.relnamespace = current_schema()::regnamespace"
    ).fetchall()
    return {name: _Placement(column, colocation) for name, colocation, column in rows}


def _distribute_table(connection: Connection, table: str, together_with: str | None, shards: int) -> None:
    if together_with is None:
        connection.execute(
            "SELECT create_distributed_table("
            "%(table)s, %(column)s, colocate_with => 'none', shard_count => %(shards)s)",
            {"table": table, "column": _COLUMN, "shards": shards},
        )
    else:
        connection.execute(
            "SELECT create_distributed_table(%(table)s, %(column)s, colocate_with => %(together_with)s)",
            {"table": table, "column": _COLUMN, "together_with": together_with},
        )


def _forget_local_copy(connection: Connection, table: str) -> None:
    """Free what the coordinator still keeps of the rows, which nobody sees any more."""
    connection.execute("SELECT truncate_local_data_after_distributing_table(%(table)s)", {"table": table})


def _raise_if_misplaced(table: str, found: _Placement, leader: _Placement) -> None:
    if found.column != _COLUMN:
        how = "a reference table" if found.column is None else f"distributed by {found.column}"
        raise CannotDistribute(f"The table {table} is {how}; it should be distributed by {_COLUMN}.")
    if found.colocation != leader.colocation:
        raise CannotDistribute(
            f"The table {table} is not colocated with {DISTRIBUTED[0]}, so a project's rows are on several machines:"
            f" run SELECT update_distributed_table_colocation('{table}', colocate_with => '{DISTRIBUTED[0]}')."
        )
