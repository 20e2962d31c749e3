"""The pages in Chromium: the front door, the documents, the sandbox.

``SCREENSHOT`` and ``PICTURE`` name files for a picture of ``/docs`` and of ``/sandbox``.
"""

import os
import secrets
import shutil
import sys
from pathlib import Path

import pytest
from tester import Service

from clients.conftest import Access, Browse
from tests.support.service import running_service

pytestmark = [pytest.mark.slow, pytest.mark.contract, pytest.mark.pages]


def test_docs_loads_nothing_from_elsewhere_and_every_example_on_it_succeeds(browse: Browse, access: Access) -> None:
    browse("docs_page.ts", access("demo") | {"SCREENSHOT": os.environ.get("SCREENSHOT")})


def test_the_front_door_leads_to_sandbox_specification_documents_and_back(browse: Browse, sandbox: Service) -> None:
    browse("front_door.ts", {"BASE_URL": f"http://127.0.0.1:{sandbox.port}"})


def test_a_person_walks_through_the_page_of_the_sandbox_and_axe_objects_to_nothing(
    browse: Browse, sandbox: Service, data: Path
) -> None:
    token = secrets.token_urlsafe(24)
    settings = {"DATA_DIR": str(data / "other"), "SANDBOX": "on", "SANDBOX_TOKEN": token}
    with running_service(data / "token-log", **settings) as other:
        browse(
            "sandbox_page.ts",
            {
                "BASE_URL": f"http://127.0.0.1:{sandbox.port}",
                "TOKEN_URL": f"http://127.0.0.1:{other}",
                "SANDBOX_TOKEN": token,
                "PICTURE": os.environ.get("PICTURE"),
                "PYTHON": sys.executable,
                "JAVA": shutil.which("java"),
            },
        )
