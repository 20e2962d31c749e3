"""The lines of docs/clients.md for Testcontainers in Python, which ``tests/compose/all_in_one.py`` executes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import Request, urlopen

from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy


@contextmanager
def started() -> Iterator[DockerContainer]:
    container = DockerContainer("sample-resource:all-in-one").with_exposed_ports(8000)
    with container.waiting_for(HttpWaitStrategy(8000, "/health/ready")) as service:
        yield service


def count_of_resources(service: DockerContainer) -> int:
    url = f"http://{service.get_container_host_ip()}:{service.get_exposed_port(8000)}"
    token = service.exec(["sample-resource", "token", "--scope", "manage_test:demo"]).output.decode().strip()
    request = Request(f"{url}/demo/resource", headers={"Authorization": f"Bearer {token}"})
    with urlopen(request) as answer:
        return json.load(answer)["count"]
