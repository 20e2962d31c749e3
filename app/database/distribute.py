"""Distributes the tables of a migrated database over the machines of a Citus cluster.

Tables with rows of projects are distributed by ``project_key`` and colocated, so that all rows of a project are on one
machine. The other tables of the service become reference tables, which Citus copies to all machines. So each statement
of a request finds all its rows on one machine. ``docs/scaling.md`` says when and how to do this, and what it costs.
"""

from collections.abc import Collection, Generator, Sequence
from pathlib import Path
from typing import LiteralString

from psycopg import sql

from app.database.connection import Connection
from app.database.migrate import WORKER_FOUND, is_worker, missing_migrations

DISTRIBUTED = ("resource", "word", "resource_count")
"""Tables with rows of projects. All their keys contain ``project_key``, and all are colocated with the first table."""

REFERENCE = ("api_client", "access_token", "migration")
"""Tables that become reference tables; ``migration``, too, because readiness probes read it on every machine."""

EXTENSIONS = ("btree_gin", "fuzzystrmatch")
"""The PostgreSQL extensions that the migrations create. Each Citus worker also needs them."""

_COLUMN = "project_key"


_IS_INSTALLED: LiteralString = "SELECT FROM pg_extension WHERE extname = 'citus'"

_HAS_WORKERS: LiteralString = "SELECT FROM pg_dist_node WHERE groupid <> 0 AND noderole = 'primary'"

# The tables of the schema, without those of extensions and without shards, which are parts of other tables.
_TABLES: LiteralString = """
SELECT c.relname FROM pg_class c
WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
    AND NOT relation_is_a_known_shard(c.oid)
    AND NOT EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')"""

# The functions of the schema, without those of extensions and of triggers.
_FUNCTIONS: LiteralString = """
SELECT p.oid::regprocedure::text FROM pg_proc p
WHERE p.pronamespace = current_schema()::regnamespace AND p.prorettype <> 'trigger'::regtype
    AND NOT EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
ORDER BY 1"""

_EXTENSION_IS_EVERYWHERE: LiteralString = """
SELECT FROM pg_dist_object
WHERE classid = 'pg_extension'::regclass AND objid = (SELECT e.oid FROM pg_extension e WHERE e.extname = %(name)s)"""

_FUNCTION_IS_EVERYWHERE: LiteralString = """
SELECT FROM pg_dist_object WHERE classid = 'pg_proc'::regclass AND objid = %(name)s::regprocedure"""

# Without the tables that Citus only manages on the coordinator: they can still be distributed.
_PLACEMENTS: LiteralString = """
SELECT c.relname, p.colocationid,
    CASE WHEN p.partmethod = 'h' THEN 'distributed by ' || column_to_column_name(p.logicalrelid, p.partkey)
        WHEN p.repmodel = 't' THEN 'a reference table' ELSE 'distributed in another way' END
FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
WHERE c.relnamespace = current_schema()::regnamespace
    AND NOT (p.partmethod = 'n' AND p.repmodel <> 't' AND p.colocationid = 0)"""

_CREATE_REFERENCE_TABLE: LiteralString = "SELECT create_reference_table(%(table)s)"

_CREATE_FIRST_DISTRIBUTED_TABLE: LiteralString = """
SELECT create_distributed_table(%(table)s, %(column)s, colocate_with => 'none', shard_count => %(shards)s)"""

_CREATE_COLOCATED_TABLE: LiteralString = """
SELECT create_distributed_table(%(table)s, %(column)s, colocate_with => %(colocate_with)s)"""

_CREATE_DISTRIBUTED_FUNCTION: LiteralString = "SELECT create_distributed_function(%(function)s)"

# Citus distributes no table with triggers. Without them, a list counts the resources of a project, and each write adds
# its words by a statement of its own.
_DROP_TRIGGERS_AND_COUNTS: LiteralString = """
DROP TRIGGER IF EXISTS count_inserted ON resource;
DROP TRIGGER IF EXISTS count_deleted ON resource;
DROP TRIGGER IF EXISTS count_truncated ON resource;
DROP TRIGGER IF EXISTS words_inserted ON resource;
DROP TRIGGER IF EXISTS words_updated ON resource;
DELETE FROM resource_count"""

_LOCAL_SIZE: LiteralString = "SELECT pg_relation_size(%(table)s::regclass)"

_TRUNCATE_LOCAL_COPY: LiteralString = "SELECT truncate_local_data_after_distributing_table(%(table)s)"


class CannotDistribute(Exception):
    """The error for a database that cannot be distributed. The message says why and, if a command helps, which one."""


Step = tuple[str, str]
"""The name of a table, a function or an extension, and what was done with it."""

_Placement = tuple[str, int]
"""How a table is distributed, in the words of :data:`_PLACEMENTS`; and a number that colocated tables share."""


def distribute(
    connection: Connection,
    shards: int,
    distributed_tables: Sequence[str] = (),
    local_tables: Collection[str] = (),
    migrations: tuple[Path, ...] = (),
) -> Generator[Step]:
    """Create extensions and functions on the workers, then distribute each table that is not distributed yet.

    This is a generator: each iteration executes one step and yields it. After an interruption, call the function again.
    Distributing a table needs a lock on the table. The lock waits for the transactions that have used the table, and
    new requests for the table wait for the lock. Writes to the table also wait while its rows are copied.

    :param connection: in autocommit mode, so that each table is committed before the next is begun, and without a
        statement timeout.
    :param shards: the number of parts into which the tables of projects are split.
    :param distributed_tables: tables of the service's extension with rows of projects. Those that do not exist are left
        out: the migrations of an extension that has never been switched on are not applied.
    :param local_tables: tables of the extension that stay on the coordinator.
    :param migrations: folders of extensions, whose migrations have to be applied.
    :raises CannotDistribute: if Citus, workers or migrations are missing, if the server is a worker, if the schema has
        a table that is in none of :data:`DISTRIBUTED`, :data:`REFERENCE`, ``distributed_tables`` and ``local_tables``;
        during the steps, if a table is already distributed in another way.
    """
    _raise_if_not_prepared(connection, migrations)
    tables = tables_of_schema(connection)
    unknown = tables - {*DISTRIBUTED, *REFERENCE, *distributed_tables, *local_tables}
    if unknown:
        raise CannotDistribute(f"No rule says how to distribute these tables: {', '.join(sorted(unknown))}.")
    placements = _placements(connection)
    yield from _create_on_workers(connection)
    # Reference tables first, so that statements on a project's table can join them as soon as it is distributed.
    for table in REFERENCE:
        placement = placements.get(table)
        if placement is None:
            connection.execute(_CREATE_REFERENCE_TABLE, {"table": table})
        elif placement[0] != "a reference table":
            raise CannotDistribute(f"The table {table} is {placement[0]}; it should be a reference table.")
        # Do this also for a table of an earlier run, which may have ended before it truncated the local copy.
        _truncate_local_copy(connection, table)
        yield table, "is a reference table now" if placement is None else "was a reference table already"
    first = DISTRIBUTED[0]
    for table in (table for table in (*DISTRIBUTED, *distributed_tables) if table in tables):
        placement = placements.get(table)
        if placement is None:
            parameters = {"table": table, "column": _COLUMN}
            if table == first:
                # One transaction drops the triggers and deletes the counts. Otherwise lists could show counts that no
                # trigger updates any more. If the run ends after this transaction, the table is not distributed yet,
                # and the next run distributes it. Until then, requests work without triggers: a list counts the
                # resources, and each write adds its words, as on any server with Citus.
                with connection.transaction():
                    connection.execute(_DROP_TRIGGERS_AND_COUNTS)
                connection.execute(_CREATE_FIRST_DISTRIBUTED_TABLE, {**parameters, "shards": shards})
            else:
                connection.execute(_CREATE_COLOCATED_TABLE, {**parameters, "colocate_with": first})
        else:
            # Read again, because this run may have distributed the first table.
            _raise_if_misplaced(table, placement, _placements(connection)[first])
        _truncate_local_copy(connection, table)
        done = f"is distributed by {_COLUMN} now" if placement is None else f"was distributed by {_COLUMN} already"
        yield table, done


def _raise_if_not_prepared(connection: Connection, migrations: tuple[Path, ...]) -> None:
    """Refuse a database that is no coordinator of a cluster with workers, or that lacks migrations."""
    if connection.execute(_IS_INSTALLED).fetchone() is None:
        raise CannotDistribute(
            "The database has no extension citus. Run 'CREATE EXTENSION citus' here and on every worker, then register"
            " the workers with citus_add_node. The server needs PostgreSQL with Citus (docs/scaling.md)."
        )
    if connection.execute(_HAS_WORKERS).fetchone() is None:
        raise CannotDistribute(
            "The cluster has no workers, so all shards would be on the coordinator: register the workers with"
            " citus_add_node first."
        )
    if is_worker(connection):
        raise CannotDistribute(f"This run has distributed nothing: {WORKER_FOUND}")
    missing = missing_migrations(connection, migrations)
    if missing:
        raise CannotDistribute(
            f"The database lacks the migration {missing[0]}: run 'sample-resource db upgrade' first."
        )


def tables_of_schema(connection: Connection) -> set[str]:
    """The names of all tables of the schema, without shards and without the tables of PostgreSQL extensions.

    The database needs the extension citus, which identifies shards.
    """
    return {row[0] for row in connection.execute(_TABLES).fetchall()}


def _create_on_workers(connection: Connection) -> Generator[Step]:
    """Create on the workers the extensions and functions that statements use there.

    Citus copies objects that are created while it has workers, and objects on which a distributed table depends. It
    does not copy other objects that are older than the cluster, such as functions that only statements call.
    """
    for extension in EXTENSIONS:
        if connection.execute(_EXTENSION_IS_EVERYWHERE, {"name": extension}).fetchone() is None:
            # The extension exists on the coordinator, so the statement changes nothing there, but Citus creates it on
            # the workers.
            connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(extension)))
            yield extension, "is on the workers now"
    for (function,) in connection.execute(_FUNCTIONS).fetchall():
        if connection.execute(_FUNCTION_IS_EVERYWHERE, {"name": function}).fetchone() is None:
            connection.execute(_CREATE_DISTRIBUTED_FUNCTION, {"function": function})
            yield function, "is on the workers now"


def _placements(connection: Connection) -> dict[str, _Placement]:
    """The placement of each distributed table and each reference table of the schema, by the table's name."""
    return {name: (how, colocation_id) for name, colocation_id, how in connection.execute(_PLACEMENTS).fetchall()}


def _truncate_local_copy(connection: Connection, table: str) -> None:
    """Delete a table's local rows on the coordinator, to free their space. No statement has seen them since the table
    was distributed or made a reference table.

    Does nothing if the table's local file is empty, because truncating locks the table: it waits for all transactions
    that have used the table, and later statements on the table wait until it has ended. The file of a table without
    rows may contain deleted rows; then it is truncated, too.
    """
    if connection.execute(_LOCAL_SIZE, {"table": table}).fetchone() != (0,):
        connection.execute(_TRUNCATE_LOCAL_COPY, {"table": table})


def _raise_if_misplaced(table: str, found: _Placement, first: _Placement) -> None:
    """Raise CannotDistribute unless a table is distributed by the project, and colocated with the first such table."""
    (how, colocation_id), (_, colocation_id_of_first) = found, first
    if how != f"distributed by {_COLUMN}":
        raise CannotDistribute(f"The table {table} is {how}; it should be distributed by {_COLUMN}.")
    if colocation_id != colocation_id_of_first:
        raise CannotDistribute(
            f"The table {table} is not colocated with {DISTRIBUTED[0]}, so a project's rows may be on several machines:"
            f" run SELECT alter_distributed_table('{table}', colocate_with => '{DISTRIBUTED[0]}'), which copies it."
        )
