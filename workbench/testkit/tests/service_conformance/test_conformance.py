"""The service passes clauses of the specification, as the published testkit sees it over HTTP.

These are about what is below the application; ``test_every_clause.py`` has the others, and ``make conformance`` takes
all, with the sandbox and on two workers.
"""

import json
from pathlib import Path

from service_conformance.services import check, embedded
from service_conformance.test_every_clause import NEEDS_A_CONNECTION


def test_the_service_passes_the_clauses_about_connections(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    with embedded() as service:
        done = check(service, "--clause", ",".join(NEEDS_A_CONNECTION), "--json", str(report))
    assert done.returncode == 0, done.stdout
    outcomes = {clause["number"]: clause["outcome"] for clause in json.loads(report.read_text())["clauses"]}
    assert {number: outcomes[number] for number in NEEDS_A_CONNECTION} == dict.fromkeys(NEEDS_A_CONNECTION, "pass")
