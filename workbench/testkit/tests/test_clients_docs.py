"""Every code block of ``docs/workbench/clients.md`` is part of a program that some suite runs."""

import re
from textwrap import dedent, indent

import pytest

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
        "workbench/testkit/tests/clients/testcontainers_node.test.mjs",
        "workbench/testkit/tests/clients/testcontainers_python.py",
    }


@pytest.mark.parametrize(("source", "language", "code"), SHOWN)
def test_a_code_block_of_docs_clients_is_part_of_its_program(source: str, language: str, code: str) -> None:
    program = (ROOT / source).read_text()
    first = code.splitlines()[0]
    depths = re.findall(rf"^( *){re.escape(first)}$", program, re.MULTILINE)
    assert any(indent(dedent(code), depth) in program for depth in depths), code
