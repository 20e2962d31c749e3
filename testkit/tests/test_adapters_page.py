"""The adapter of ``docs/adapters.md`` is complete."""

import json
import re
import subprocess
import sys
from pathlib import Path

from sample_resource_testkit.sandbox import SandboxServer

PAGE = Path(__file__).parents[1] / "docs/adapters.md"
COMMAND = Path(sys.executable).with_name("sample-resource-conformance")


def test_the_adapter_of_the_page_keeps_to_the_protocol(sample_resource: SandboxServer, tmp_path: Path) -> None:
    (program,) = re.findall(r"<!-- adapter -->\n```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    adapter = tmp_path / "adapter.py"
    adapter.write_text(program)
    command = [COMMAND, "client", "--url", sample_resource.url]
    checked = subprocess.run([*command, "--check", "--", sys.executable, adapter], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    report = tmp_path / "report.json"
    options = ["--scenario", "C-req-2,C-req-16,C-req-31,C-do-1", "--json", report, "--", sys.executable, adapter]
    subprocess.run([*command, *options], capture_output=True)
    found = {each["number"]: each["outcome"] for each in json.loads(report.read_text())["scenarios"]}
    assert found == {"C-req-2": "pass", "C-req-16": "pass", "C-req-31": "unsupported", "C-do-1": "unsupported"}
