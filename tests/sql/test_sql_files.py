"""The files of this folder are what the service sends, and a walk through its operations sends all that it can."""

from tests.sql.files import README, SERVICE
from tests.sql.layout import tokens
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


def test_what_is_sent_and_what_is_stored_differ_in_white_space_alone(walked: Walked) -> None:
    stored = {tuple(tokens(text)) for name, text in SERVICE.stored().items() if name != README}
    sent = {tuple(tokens(statement.text)) for statement in walked.statements}
    assert sent == stored


def test_every_line_that_sends_a_statement_is_reached(walked: Walked) -> None:
    missed = lines_not_reached(APP, walked.statements, ADMINISTRATION)
    assert missed == [], f"{missed}: add a step to tests/support/walk.py"
