"""Every clause of the specification, by every check of the kit, in this process: the test of what a client can notice.

``make conformance`` does it over HTTP, with the sandbox and on two workers.
"""

from uuid import uuid4

import pytest
from flask import Flask
from sample_resource_testkit.clauses import clauses
from sample_resource_testkit.outcomes import Outcome
from sample_resource_testkit.registry import load_checks
from sample_resource_testkit.runner import run_case
from sample_resource_testkit.world import Server

from app.database.connection import Connection
from service_conformance.in_process import InProcess, OwnProjects

NEEDS_A_CONNECTION = {"E-22", "E-24", "H-19", "H-20"}
"""What the worker of gunicorn answers, or what is about connections: ``test_conformance.py`` tries these over HTTP."""


NEEDS_A_BUSY_SERVER = {"E-26"}
"""About what the service answers only while it is short of capacity."""


@pytest.fixture
def server(app: Flask, connection: Connection) -> Server:
    """The application, as a server for the kit."""
    transport = InProcess(app)
    return Server(transport, OwnProjects(transport, connection), tag=uuid4().hex)


@pytest.mark.parametrize("clause", sorted(clauses().keys() - NEEDS_A_CONNECTION - NEEDS_A_BUSY_SERVER))
def test_the_service_keeps_to_the_clause(server: Server, clause: str) -> None:
    """The log of the requests stands below a failure, with tracebacks; the kit's report has the case as a curl line."""
    for check in load_checks():
        for case in check.cases if check.clause == clause else ():
            result = run_case(server, check, case)
            told = f"{result.name}: {result.expected}, and not {result.got} {result.reason}\n{result.exchanges}"
            assert result.outcome in (Outcome.PASS, Outcome.SKIPPED), told
