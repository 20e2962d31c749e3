"""The files of this folder are what the service sends, and each line of its code that sends a statement has one."""

from tests.sql.files import SERVICE
from tests.sql.layout import laid_out, tokens
from tests.support.statements import APP, lines_not_reached
from tests.support.walk import Walked

ADMINISTRATION = {
    "bulk/all_projects.py",
    "database/distribute.py",  # needs Citus
    "database/migrate.py",
    "serving/embedded.py",
}
"""Modules whose statements administer a database."""


def test_the_files_are_what_is_sent(walked: Walked) -> None:
    differences = SERVICE.differences(walked)
    assert not differences, "\n".join(["make generate ARGS=sql writes these anew:", *differences])


def test_the_layout_changes_nothing_but_white_space(walked: Walked) -> None:
    for text in {statement.text for statement in walked.statements}:
        assert tokens(laid_out(text)) == tokens(text)


def test_every_line_that_sends_a_statement_is_reached(walked: Walked) -> None:
    missed = lines_not_reached(APP, walked.statements, ADMINISTRATION)
    assert missed == [], f"{missed}: add a step to tests/support/walk.py"


def test_every_line_that_sends_a_statement_has_a_file(walked: Walked) -> None:
    shown = [statement for statements in SERVICE.shown(walked).values() for statement in statements]
    missed = lines_not_reached(APP, shown, ADMINISTRATION)
    assert missed == [], f"{missed}: add a step that sends its statement to KINDS in tests/sql/files.py"
