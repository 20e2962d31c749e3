"""The service passes clauses of the specification, as the published testkit sees it over HTTP.

The profile is the quickest; ``make conformance`` takes all, on two workers and behind PgBouncer.
"""

import json
from collections import Counter
from pathlib import Path

from tests.conformance.services import check, embedded


def test_the_service_passes_the_clauses_on_http(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    with embedded(workers=1) as service:
        done = check(service, "--profile", "http", "--json", str(report))
    assert done.returncode == 0, done.stdout
    clauses = json.loads(report.read_text())["clauses"]
    outcomes = Counter(clause["outcome"] for clause in clauses)
    assert outcomes.keys() <= {"pass", "skipped"}
    assert outcomes["pass"] > 0
