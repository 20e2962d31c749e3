"""Tests of a client in Python that use the image by Testcontainers: ``pytest testcontainers_python.py``.

The fixture ``sample_resource`` stands in for the one of the pytest plugin, which starts the installed service.
"""

from collections.abc import Iterator

import pytest
from sample_resource_testkit.sandbox import SandboxProject, SandboxServer
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

TOKEN = "any-text-of-16-characters-or-more"


@pytest.fixture(scope="session")
def sample_resource() -> Iterator[SandboxServer]:
    container = DockerContainer("sample-resource:all-in-one").with_exposed_ports(8000)
    container = container.with_env("SANDBOX", "on").with_env("SANDBOX_TOKEN", TOKEN)
    with container.waiting_for(HttpWaitStrategy(8000, "/health/ready")) as service:
        url = f"http://{service.get_container_host_ip()}:{service.get_exposed_port(8000)}"
        yield SandboxServer(url, TOKEN)


def test_a_busy_server_is_told(sample_project: SandboxProject) -> None:
    sample_project.rules([{"times": {"first": 1}, "status": 503, "retryAfter": 0}])
    headers = {"Authorization": f"Bearer {sample_project.token}"}
    server = SandboxServer(sample_project.server_url)
    answers = [server.send("GET", f"/{sample_project.key}/resource", None, headers)[0] for _ in range(2)]
    assert answers == [503, 200]
