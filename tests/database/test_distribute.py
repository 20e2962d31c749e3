"""``db distribute``: what it sends to Citus, what it refuses, and that the schema can be distributed at all.

Citus itself is not installed. In its place a database gets functions and catalog tables of the same names and
signatures, which record their calls.
"""

from collections.abc import Iterator

import psycopg
import pytest
from click.testing import CliRunner
from psycopg import sql

from app.cli import main
from app.config import Settings
from app.database import distribute, migrate
from app.database.connection import Connection
from tests.support.api import EXAMPLE, Api, codes
from tests.support.applications import open_app
from tests.support.cluster import Cluster
from tests.support.oauth import issue

STANDIN = r"""
SET allow_system_table_mods = on;
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
VALUES (99999, 'citus', 10, 'pg_catalog'::regnamespace, false, '13.0-1');
RESET allow_system_table_mods;
CREATE SCHEMA standin;
CREATE TYPE standin.distribution_type AS ENUM ('hash', 'range', 'append');
CREATE TABLE standin.calls (number int GENERATED ALWAYS AS IDENTITY, call text);
CREATE TABLE standin.pg_dist_partition (
    logicalrelid regclass PRIMARY KEY, partmethod "char" NOT NULL, partkey text, colocationid int NOT NULL,
    repmodel "char" NOT NULL DEFAULT 's');
CREATE TABLE standin.pg_dist_node (nodename text, groupid int NOT NULL, noderole text NOT NULL DEFAULT 'primary');
INSERT INTO standin.pg_dist_node VALUES ('coordinator', 0), ('worker-1', 1);
CREATE TABLE standin.pg_dist_object (classid oid NOT NULL, objid oid NOT NULL, PRIMARY KEY (classid, objid));
CREATE FUNCTION standin.relation_is_a_known_shard(regclass) RETURNS boolean LANGUAGE sql STRICT AS $$
    SELECT $1::text ~ '_\d{6}$' $$;
CREATE FUNCTION standin.create_distributed_function(
    function_name regprocedure, distribution_arg_name text DEFAULT NULL, colocate_with text DEFAULT 'default',
    force_delegation bool DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
    INSERT INTO standin.calls (call) VALUES (format('function %s', function_name));
    INSERT INTO standin.pg_dist_object VALUES ('pg_proc'::regclass, function_name);
$$;
CREATE FUNCTION standin.column_to_column_name(table_name regclass, column_var_text text) RETURNS text
    LANGUAGE sql STRICT AS $$ SELECT column_var_text $$;
CREATE FUNCTION standin.create_distributed_table(
    table_name regclass, distribution_column text,
    distribution_type standin.distribution_type DEFAULT 'hash',
    colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
    INSERT INTO standin.calls (call)
    VALUES (format('distribute %s by %s with %s in %s', table_name, distribution_column, colocate_with, shard_count));
    INSERT INTO standin.pg_dist_partition VALUES (table_name, 'h', distribution_column, coalesce(
        (SELECT colocationid FROM standin.pg_dist_partition WHERE logicalrelid::text = colocate_with),
        (SELECT 1 + max(colocationid) FROM standin.pg_dist_partition)));
$$;
CREATE FUNCTION standin.create_reference_table(table_name text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO standin.calls (call) VALUES (format('reference %s', table_name));
    INSERT INTO standin.pg_dist_partition VALUES (table_name::regclass, 'n', NULL, 1, 't')
    ON CONFLICT (logicalrelid) DO UPDATE SET colocationid = 1, repmodel = 't';
$$;
CREATE FUNCTION standin.truncate_local_data_after_distributing_table(function_name regclass) RETURNS void
    LANGUAGE sql STRICT AS $$ INSERT INTO standin.calls (call) VALUES (format('truncate %s', function_name)) $$;
GRANT USAGE ON SCHEMA standin TO PUBLIC;
GRANT ALL ON ALL TABLES IN SCHEMA standin TO PUBLIC;
"""


def make_standin(cluster: Cluster, name: str) -> None:
    with psycopg.connect(cluster.conninfo_of(name, superuser=True), autocommit=True) as connection:
        connection.execute(STANDIN)
        connection.execute(
            sql.SQL("ALTER DATABASE {} SET search_path = public, standin").format(
                sql.Identifier(connection.info.dbname)
            )
        )


@pytest.fixture
def empty_url(cluster: Cluster, project: str) -> str:
    return cluster.create_database(project)


@pytest.fixture
def url(cluster: Cluster, empty_url: str, project: str) -> str:
    """A migrated database with the stand-in for Citus."""
    migrate.upgrade(empty_url)
    make_standin(cluster, project)
    return empty_url


@pytest.fixture
def citus(url: str) -> Iterator[Connection]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def run(url: str, *arguments: str, **environment: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["db", "distribute", *arguments], env={"DATABASE_URL": url, **environment})
    return result.exit_code, result.output


def truncated(connection: Connection, table: str) -> list[str]:
    """The call that frees the space of a table, if it has rows here."""
    has_rows = connection.execute(sql.SQL("SELECT FROM {} LIMIT 1").format(sql.Identifier(table)))
    return [] if has_rows.fetchone() is None else [f"truncate {table}"]


def calls(connection: Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT call FROM standin.calls ORDER BY number").fetchall()]


def tables_of_projects(connection: Connection) -> list[str]:
    return [table for table in distribute.DISTRIBUTED if table in distribute.tables_of_schema(connection)]


def test_every_table_is_placed_once(url: str, citus: Connection) -> None:
    # Citus manages a table on the coordinator, for example for a foreign key.
    citus.execute("INSERT INTO standin.pg_dist_partition VALUES ('api_client', 'n', NULL, 0)")
    code, output = run(url)
    assert code == 0, output
    followers = tables_of_projects(citus)[1:]
    assert calls(citus) == [
        "function distinct_items(jsonb)",
        "function stemmed_languages()",
        "function word_keys(text)",
        "function word_stems(text)",
        "function words_of(text,text)",
        *(call for table in distribute.REFERENCE for call in (f"reference {table}", *truncated(citus, table))),
        "distribute resource by project_key with none in 32",
        *(
            call
            for table in followers
            for call in (f"distribute {table} by project_key with resource in ", *truncated(citus, table))
        ),
    ]
    assert "resource  is distributed by project_key now" in output.splitlines()
    assert "api_client  is a reference table now" in output.splitlines()
    assert "words_of(text,text)  is on the workers now" in output.splitlines()


def test_repeating_it_only_frees_what_an_interrupted_run_has_left(url: str, citus: Connection) -> None:
    run(url)
    before = calls(citus)
    citus.execute("INSERT INTO word VALUES ('p', 'left')")
    code, output = run(url)
    assert code == 0
    # Truncating the others would have every statement on them wait.
    assert calls(citus) == [*before, "truncate migration", "truncate word"]
    assert "resource  was distributed by project_key already" in output.splitlines()


def test_an_interrupted_run_is_resumed(url: str, citus: Connection) -> None:
    for name, _ in distribute.distribute(citus, 32):
        if name == distribute.REFERENCE[1]:
            break
    before = calls(citus)
    assert run(url)[0] == 0
    assert [call for call in calls(citus)[len(before) :] if call.startswith("reference")] == [
        f"reference {table}" for table in distribute.REFERENCE[2:]
    ]
    done = [call for call in calls(citus) if not call.startswith("truncate")]
    assert len(set(done)) == len(done)


def test_a_database_without_citus_is_refused(cluster: Cluster) -> None:
    code, output = run(cluster.conninfo())
    assert code == 1
    assert output.startswith("Error: The database has no extension citus. Run 'CREATE EXTENSION citus'")
    assert output.count("\n") == 1


def test_migrations_of_an_extension_come_first(url: str, citus: Connection) -> None:
    code, output = run(url, SANDBOX="on")
    assert code == 1
    assert output.startswith("Error: The database lacks the migration sandbox.0001.schema: run")
    assert calls(citus) == []


def test_a_table_in_none_of_the_lists_is_refused_before_anything_is_done(url: str, citus: Connection) -> None:
    citus.execute("CREATE TABLE a_new_one (id int)")
    code, output = run(url)
    assert code == 1
    assert "a_new_one" in output
    assert calls(citus) == []


@pytest.mark.parametrize(
    ("table", "placement", "complaint"),
    [
        ("resource", "('resource', 'h', 'id', 7)", "distributed by id; it should be distributed by project_key"),
        ("resource", "('resource', 'n', NULL, 7, 't')", "is a reference table; it should be distributed"),
        ("resource", "('resource', 'r', 'project_key', 7)", "is distributed in another way; it should be"),
        ("api_client", "('api_client', 'h', 'id', 7)", "it should be a reference table"),
    ],
)
def test_a_table_that_is_distributed_in_another_way_is_refused(
    url: str, citus: Connection, table: str, placement: str, complaint: str
) -> None:
    citus.execute(f"INSERT INTO standin.pg_dist_partition VALUES {placement}".encode())
    code, output = run(url)
    assert code == 1
    assert f"The table {table}" in output
    assert complaint in output


# The schema


def test_every_table_is_in_one_of_the_lists(citus: Connection) -> None:
    """Whoever adds a table has to decide how it is distributed."""
    tables = distribute.tables_of_schema(citus)
    listed = (*distribute.DISTRIBUTED, *distribute.REFERENCE)
    assert len(listed) == len(set(listed))
    assert tables <= set(listed)
    assert {*distribute.REFERENCE, distribute.DISTRIBUTED[0]} <= tables


def test_tables_with_projects_are_those_that_are_distributed(citus: Connection) -> None:
    rows = citus.execute(
        "SELECT table_name, is_nullable, data_type, collation_name FROM information_schema.columns"
        " WHERE table_schema = 'public' AND column_name = 'project_key'"
    ).fetchall()
    # Tables can be colocated only if the type and the collation of the column are the same.
    found = [row for row in rows if row[0] not in distribute.REFERENCE]
    assert sorted(found) == [(table, "NO", "text", "C") for table in sorted(tables_of_projects(citus))]


def test_every_key_and_index_of_a_distributed_table_begins_with_the_project(citus: Connection) -> None:
    tables = tables_of_projects(citus)
    rows = citus.execute(
        "SELECT c.relname, i.indexrelid::regclass::text, a.attname, i.indisprimary FROM pg_index i"
        " JOIN pg_class c ON c.oid = i.indrelid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]"
        " WHERE c.relname = ANY (%(tables)s)",
        {"tables": tables},
    ).fetchall()
    assert [index for _, index, first, _ in rows if first != "project_key"] == []
    assert sorted(table for table, _, _, is_primary in rows if is_primary) == sorted(tables)


def test_distributed_tables_have_no_foreign_keys_and_no_triggers(url: str, citus: Connection) -> None:
    """Truncating the local copy would cascade along foreign keys, and Citus distributes no table with triggers."""
    assert run(url)[0] == 0
    assert citus.execute("SELECT FROM resource_count").fetchone() is None, "not kept any more, so they are counted"
    tables = [*tables_of_projects(citus), *distribute.REFERENCE]
    found = citus.execute(
        "SELECT conname FROM pg_constraint WHERE contype = 'f' AND (conrelid::regclass::text = ANY (%(tables)s)"
        "  OR confrelid::regclass::text = ANY (%(tables)s))"
        " UNION ALL SELECT tgname FROM pg_trigger"
        " WHERE NOT tgisinternal AND tgrelid::regclass::text = ANY (%(tables)s)",
        {"tables": tables},
    ).fetchall()
    assert found == []


# Errors


def test_a_duplicate_key_of_a_shard_is_recognized(cluster: Cluster, empty_url: str, project: str) -> None:
    """Of another node's error Citus passes on the SQLSTATE and the text, and not the name of the constraint."""
    migrate.upgrade(empty_url)
    with psycopg.connect(cluster.conninfo_of(project, superuser=True), autocommit=True) as connection:
        connection.execute("""
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                RAISE unique_violation USING
                    MESSAGE = 'duplicate key value violates unique constraint "resource_key_unique_102008"';
            END $$;
            CREATE TRIGGER refuse BEFORE UPDATE OF key ON resource FOR EACH ROW
                WHEN (old.key IS DISTINCT FROM new.key) EXECUTE FUNCTION refuse();
        """)
    with psycopg.connect(empty_url, autocommit=True) as connection:
        token = issue(connection, f"manage_test:{project}", client_id="t", lifetime_s=60)
    with open_app(Settings(database_url=empty_url)) as app:
        api = Api(app, project, token)
        created = api.create(key="one")
        answer = api.post(json={"id": created["id"], "key": "two", "objectTypeProperty": EXAMPLE})
    assert (answer.status_code, codes(answer)) == (400, ["DuplicateField"]), answer.text
