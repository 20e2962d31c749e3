"""The service passes the clauses of the specification, as the published testkit sees it over HTTP.

``make conformance`` does the same on two workers, and behind PgBouncer.
"""

import json
from pathlib import Path

from tests.conformance.services import check, embedded


def test_the_service_passes_every_clause_that_the_kit_can_see(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    with embedded(workers=1) as service:
        done = check(service, "--json", str(report))
    assert done.returncode == 0, done.stdout
    clauses = json.loads(report.read_text())["clauses"]
    undecided = {clause["number"]: clause["reason"] for clause in clauses if clause["outcome"] == "not reachable"}
    assert undecided == {}, "each of them should fail if it does not hold"
