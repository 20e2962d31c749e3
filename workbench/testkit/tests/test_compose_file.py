"""The Compose file of the sandbox starts all that tests need: ``make test-slow ARGS=-mcompose``."""

import pytest
from sample_resource_testkit.sandbox import SandboxServer

from tests.compose.engine import Stack, find_compose

pytestmark = [pytest.mark.slow, pytest.mark.compose]


def test_the_compose_file_of_the_sandbox_is_all_that_tests_need() -> None:
    stack = Stack(find_compose(), files=("workbench/sandbox/docker-compose.yml",))
    try:
        stack.run("up", "--detach", "--build")
        stack.wait_until(stack.is_ready, "the first answer", 120)
        server = SandboxServer(f"http://127.0.0.1:{stack.port}", "only-for-tests-on-this-machine")
        project = server.make_project(resources=3)
        headers = {"Authorization": f"Bearer {project.token}"}
        assert server.send("GET", f"/{project.key}/resource", None, headers)[0] == 200
        assert [entry.status for entry in project.journal()] == [200]
    finally:
        stack.run("down", "--volumes", check=False)
