"""The tenant stands in every statement that the service sends about resources.

And what Citus refuses in a statement that writes stands in none.
"""

import re
from collections.abc import Collection, Iterable

from flask import Flask

from app.database import distribute
from app.database.connection import HAS_CITUS
from app.extension import installed_package
from tests.support.endpoints import endpoints_of_a_project
from tests.support.statements import Statement
from tests.support.walk import Walked

IDENTITY_TABLES = {*distribute.REFERENCE, *installed_package().local_tables}
SERVICE_TABLES = IDENTITY_TABLES | {"migration", "pg_stat_archiver"}
"""They belong to the service and not to a project."""

PROJECT_TABLES = {*distribute.DISTRIBUTED, *installed_package().distributed_tables}

PROJECTS = {"walk", "nameless", "large", "bulk"}
"""The projects of the walk."""

TABLE = re.compile(rf"\b(?:FROM|JOIN|UPDATE|INTO|USING)\s+({'|'.join(PROJECT_TABLES | SERVICE_TABLES)})\b")
CONDITION = re.compile(r"\b(?:\w+\.)?project_key = %\((?:project_key|source)\)s")
"""The project's key, or that of the project from which rows are copied."""
INSERTED = re.compile(
    r"INSERT INTO \w+(?: AS \w+)?"
    r" \(\s*project_key,.*?\)\s*(?:SELECT\s+|VALUES \()(?:%\(project_key\)s|\w+\.project_key),",
    re.DOTALL,
)
"""The project's key, or that of the rows that are read, which the conditions name."""

RETURNED = re.compile(r"\bRETURNING\b(.*?)(?=\)\s*(?:,|SELECT\b|INSERT\b)|$)", re.DOTALL)
COLUMNS = re.compile(r"\s*(?:\w+\.)?\w+(?:,\s*(?:\w+\.)?\w+)*\s*")
MUTABLE_WITHIN_A_CHOICE = re.compile(r"\b(?:coalesce|CASE)\b[^,]*\bnow\(\)", re.IGNORECASE)

LOADED = re.compile(r"COPY resource \(project_key,")
LOCKED = re.compile(r"SELECT pg_\w+\([0-9]+, hashtext\(%\(project_key\)s\)\)")
"""A lock that stands for a project, and is no row."""

TIDIED = re.compile(r"VACUUM \(ANALYZE\) ")
"""No row is read or written."""


ONE_INSTANCE = ("SELECT pg_try_advisory_lock(%(lock_id)s)", "SELECT")
"""A lock of the whole database, and whether its connection lives."""

OF_NO_TABLE = (HAS_CITUS, *ONE_INSTANCE)


def test_the_walk_reaches_every_endpoint_of_a_project(app: Flask, walked: Walked) -> None:
    reached = {name for name in walked.endpoints if "project_key" in name}
    assert reached == set(endpoints_of_a_project(app)), "a new endpoint needs a step in tests/support/walk.py"


def test_every_statement_names_the_project(walked: Walked) -> None:
    assert statements_that_name(PROJECTS, walked.statements) > 100


def statements_that_name(projects: Collection[str], statements: Iterable[Statement]) -> int:
    """How many statements are about resources. Each of them names one of these projects."""
    about_resources = 0
    for statement in statements:
        text = statement.text
        tables = [table for table in TABLE.findall(text) if table in PROJECT_TABLES]
        if text in OF_NO_TABLE or LOADED.match(text) or LOCKED.fullmatch(text) or TIDIED.match(text):
            continue
        if not tables:
            assert TABLE.search(text), f"a statement on no table that is known here: {text}"
            continue
        about_resources += 1
        named = len(CONDITION.findall(text)) + len(INSERTED.findall(text))
        assert named >= len(tables), text
        many = statement.parameters if isinstance(statement.parameters, list) else [statement.parameters]
        for parameters in many:
            assert parameters["project_key"] in projects
            assert f"'{parameters['project_key']}'" not in text  # a parameter, never a part of the text
    return about_resources


def test_what_is_written_returns_columns_and_nothing_made_of_them(walked: Walked) -> None:
    """Citus takes only immutable functions in RETURNING, and most that make JSON or text are not."""
    returned = [columns for statement in walked.statements for columns in RETURNED.findall(statement.text)]
    assert len(returned) > 20
    for columns in returned:
        assert COLUMNS.fullmatch(columns), columns


def test_no_update_calls_now_within_a_choice(walked: Walked) -> None:
    """Citus refuses functions that are not immutable, now() among them, within a coalesce or CASE of an UPDATE."""
    updates = [statement.text for statement in walked.statements if "UPDATE" in statement.text.split("FOR UPDATE")[0]]
    assert len(updates) >= 20
    for text in updates:
        if IDENTITY_TABLES.intersection(TABLE.findall(text)):
            assert MUTABLE_WITHIN_A_CHOICE.search(text) is None, text
