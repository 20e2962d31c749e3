"""Every code block of ``docs/workbench/clients.md`` is part of a program that some suite runs."""

import json
import os
import re
import subprocess
from textwrap import dedent, indent

import pytest
from sample_resource_testkit.sandbox import SandboxServer

from tests.support.service import ROOT

PAGE = (ROOT / "docs/workbench/clients.md").read_text()
LANGUAGES = "python|typescript|js"
SHOWN = re.findall(rf"^(?:<!-- (\S+) -->\n)?```({LANGUAGES})\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_docs_clients_shows_every_client_program() -> None:
    assert {source for source, _, _ in SHOWN} == {
        "workbench/testkit/tests/clients/generated_python.py",
        "workbench/testkit/tests/clients/generated_typescript.ts",
        "workbench/testkit/tests/clients/ts_client.ts",
        "workbench/testkit/tests/clients/commercetools_sdk.py",
    }


@pytest.mark.parametrize(("source", "language", "code"), SHOWN)
def test_a_code_block_of_docs_clients_is_part_of_its_program(source: str, language: str, code: str) -> None:
    program = (ROOT / source).read_text()
    first = code.splitlines()[0]
    depths = re.findall(rf"^( *){re.escape(first)}$", program, re.MULTILINE)
    assert any(indent(dedent(code), depth) in program for depth in depths), code


def test_the_lines_for_any_language_work(sample_resource: SandboxServer) -> None:
    (lines,) = re.findall(r"^<!-- any language -->\n```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    environment = os.environ | {"SAMPLE_RESOURCE_URL": sample_resource.url}
    ran = subprocess.run(["sh", "-e"], input=lines, env=environment, capture_output=True, text=True, check=True)
    journal = json.loads(re.findall(r'\{"limit".*?"results".*\}', ran.stdout)[-1].partition("\n")[0])
    assert [entry["response"]["status"] for entry in journal["results"]] == [200, 503]
