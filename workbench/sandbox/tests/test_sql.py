"""The files of ``sql`` are what the sandbox sends; each statement names its project and reads few rows of it."""

import pytest
from sandbox_walk import COPY, FILES, PROJECT, SANDBOX, walk_sandbox

from tests.database.test_every_statement_names_the_project import statements_that_name
from tests.support.cluster import Cluster
from tests.support.plans import FEW, MODES, open_planner, statements_of_projects
from tests.support.statements import lines_not_reached
from tests.support.walk import Walked

ABOUT_ALL_RESOURCES = {"list", "make", "make_copy", "remove_expired", "reset"}
"""Steps with statements that read a whole project, since they copy, count or remove it."""


@pytest.fixture(scope="module")
def sent(cluster: Cluster) -> Walked:
    return walk_sandbox(cluster)


def test_the_files_are_what_is_sent(sent: Walked) -> None:
    differences = FILES.differences(sent)
    assert not differences, "\n".join(["make generate ARGS=sql writes these anew:", *differences])


def test_every_line_that_sends_a_statement_is_reached(sent: Walked) -> None:
    assert lines_not_reached(SANDBOX, sent.statements) == [], "add a step to sandbox_walk.py"


def test_every_statement_names_the_project(sent: Walked) -> None:
    assert statements_that_name({PROJECT, COPY}, sent.statements) >= 10


def test_what_statements_read(sent: Walked) -> None:
    with open_planner() as planner:
        many = planner.load("many", 10_000)
        for analysed in (False, True):
            if analysed:
                planner.analyse()
            much = {
                step.rpartition(".")[0]
                for step, statement in statements_of_projects(sent).items()
                if any(planner.rows_read(statement, many, mode).total() > FEW for mode in MODES)
            }
            assert much <= ABOUT_ALL_RESOURCES
