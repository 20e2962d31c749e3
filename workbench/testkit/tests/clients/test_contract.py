"""Third-party tools check the documents, and third-party clients use the running service."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from sample_resource_sandbox.projects.lifecycle import CLIENT_NAME
from tester import Service

from clients.conftest import Access
from clients.tools import DOCUMENT, GENERATED, HERE, NODE, WORK, call, node_tool, python_of

pytestmark = [pytest.mark.slow, pytest.mark.contract]


@pytest.fixture(scope="module")
def python() -> Path:
    """The interpreter that generates a client for Python, and runs it."""
    return python_of("openapi-python-client")


@pytest.fixture(scope="module")
def sandbox_document(sandbox: Service) -> Path:
    """The OpenAPI document of the sandbox."""
    WORK.mkdir(parents=True, exist_ok=True)
    made = WORK / "sandbox.json"
    made.write_text(sandbox.send("GET", "/sandbox/openapi.json").text)
    return made


@pytest.mark.usefixtures("node_packages")
@pytest.mark.parametrize("of", ["the service", "the sandbox"])
def test_a_linter_finds_neither_an_error_nor_a_warning(of: str, request: pytest.FixtureRequest) -> None:
    document = DOCUMENT if of == "the service" else request.getfixturevalue("sandbox_document")
    command = [*node_tool("redocly"), "lint", "--config", HERE / "redocly.yaml", document]
    call(command, {"REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"})


@pytest.fixture(scope="module")
def generated_python(python: Path) -> Path:
    """The folder of the client for Python, which is generated without a warning."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    package = GENERATED / "sample_resource_client"
    call(
        [
            *(python, "-m", "openapi_python_client", "generate", "--path", DOCUMENT, "--output-path", package),
            *("--meta", "none", "--config", HERE / "generator.yaml", "--fail-on-warning", "--overwrite"),
        ],
        {},
    )
    return GENERATED


@pytest.fixture(scope="module")
def generated_types(node_packages: None) -> None:
    """The types for openapi-fetch, which compile in strict mode."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    call([*node_tool("openapi-typescript"), DOCUMENT, "--output", GENERATED / "schema.ts"], {})
    call([*node_tool("tsc"), "--project", HERE / "tsconfig.json"], {})


@dataclass(frozen=True, slots=True)
class Client:
    """A client, with the interpreter and the program that uses it as its documentation says."""

    title: str
    interpreter: str | Path
    program: str

    def run(self, access: Mapping[str, str]) -> None:
        call([self.interpreter, HERE / self.program], {**access, "PYTHONPATH": str(GENERATED)})


PROGRAMS = {
    "@commercetools/ts-client": "ts_client.ts",
    "commercetools (PyPI)": "commercetools_sdk.py",
    "openapi-python-client": "generated_python.py",
    "openapi-fetch": "generated_typescript.ts",
}


@pytest.fixture(params=PROGRAMS)
def client(request: pytest.FixtureRequest, python: Path, generated_python: Path, generated_types: None) -> Client:
    interpreter = {"commercetools (PyPI)": python_of("commercetools"), "openapi-python-client": python}
    return Client(request.param, interpreter.get(request.param, NODE), PROGRAMS[request.param])


def test_a_client_creates_reads_updates_lists_and_deletes(client: Client, access: Access) -> None:
    client.run(access("contract"))


def test_a_gate_lets_a_client_without_mistakes_pass(sandbox: Service, client: Client) -> None:
    run = re.sub(r"\W+", "-", client.title)
    project = sandbox.make(run=run)
    client.run(
        {
            "BASE_URL": f"http://127.0.0.1:{project.service.port}",
            "PROJECT": project.key,
            "CLIENT_ID": project.made["clientId"],
            "CLIENT_SECRET": project.made["clientSecret"],
            "CLIENT_NAME": CLIENT_NAME,
            "TOKEN": project.token,
        }
    )
    verdict = sandbox.send("GET", f"/sandbox/runs/{run}/verdict")
    assert verdict.status == 200, verdict.text
