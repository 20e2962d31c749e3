"""Schemathesis sends generated requests, valid and invalid, to the running service and checks the answers.

It fails if an answer is 5xx, if its status, content type, header or body is not documented, if a request that the
document allows is refused, or one that it forbids is accepted. ``tests/fuzzing`` has the configuration and hooks.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.database.connection import Connection
from app.identity import clients
from tests.support.fixtures import TokenFor
from tests.support.server import NOT_MEASURED
from tests.support.service import running_service

pytestmark = [pytest.mark.slow, pytest.mark.contract]

FUZZING = Path(__file__).resolve().parent


def test_schemathesis_finds_no_fault(
    database_url: str, connection: Connection, project: str, token_for: TokenFor, tmp_path: Path
) -> None:
    scopes = tuple(f"{name}:{project}" for name in ("manage_test", "view_products"))
    client = clients.create_client(connection, "schemathesis", scopes)
    with running_service(tmp_path / "log", DATABASE_URL=database_url, **NOT_MEASURED) as port:
        base_url = f"http://127.0.0.1:{port}"
        run = subprocess.run(
            [Path(sys.executable).with_name("st"), "run", f"{base_url}/openapi.json", "--no-color"],
            cwd=FUZZING,
            env=os.environ
            | NOT_MEASURED
            | {
                "BASE_URL": base_url,
                "PROJECT": project,
                "TOKEN": token_for(*scopes),
                "CLIENT_ID": client.client_id,
                "CLIENT_SECRET": client.client_secret,
            },
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
    assert run.returncode == 0, run.stdout
    for phase in ("Examples", "Coverage", "Fuzzing", "Stateful"):
        assert f"✅ {phase}" in run.stdout, run.stdout
