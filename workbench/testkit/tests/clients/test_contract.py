"""Third-party tools check the documents, and third-party clients use the running service.

With ``WRITE_TABLES=1`` the table of ``docs/workbench/sandbox-reference.md`` is written anew.
"""

import os
from pathlib import Path

import pytest
from tester import Service

from clients import faults
from clients.conftest import Access
from clients.faults import Client
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


Clients = tuple[Client, ...]


@pytest.fixture(scope="module")
def working(python: Path, generated_python: Path, generated_types: None) -> Clients:
    """The four clients, each with a program that uses it as its documentation says."""
    return _clients(
        python,
        ("ts_client.ts", "commercetools_sdk.py", "generated_python.py", "generated_typescript.ts"),
    )


@pytest.fixture(scope="module")
def failing(python: Path, generated_python: Path, generated_types: None) -> Clients:
    """The same, each with a program that makes one call."""
    programs = ("ts_client.ts", "commercetools.py", "generated_python.py", "openapi_fetch.ts")
    return _clients(python, tuple(f"faults_{program}" for program in programs))


TITLES = ("@commercetools/ts-client", "commercetools (PyPI)", "openapi-python-client", "openapi-fetch")


def _clients(python: Path, programs: tuple[str, ...]) -> Clients:
    interpreters = (NODE, python_of("commercetools"), python, NODE)
    return tuple(
        Client(title, [interpreter, HERE / program], {"PYTHONPATH": str(GENERATED)})
        for title, interpreter, program in zip(TITLES, interpreters, programs, strict=True)
    )


@pytest.mark.parametrize("title", TITLES)
def test_a_client_creates_reads_updates_lists_and_deletes(title: str, working: Clients, access: Access) -> None:
    (client,) = [each for each in working if each.title == title]
    call(client.command, access("contract") | dict(client.environment))


def test_the_clients_meet_each_fault_as_the_page_says(sandbox: Service, failing: Clients) -> None:
    found, page = faults.measured(sandbox, failing), faults.PAGE.read_text()
    if os.environ.get("WRITE_TABLES"):
        faults.PAGE.write_text(faults.TABLE.sub(lambda _: found, page))
    assert faults.TABLE.findall(page) == [found]


def test_gates_let_clients_without_mistakes_pass(sandbox: Service, working: Clients) -> None:
    faults.judge(sandbox, working)
