"""The profile ``citus`` of ``docker-compose.yml``: requests and commands on a coordinator and two workers."""

from collections.abc import Iterator

import pytest

from app.database import distribute
from tests.compose.engine import Stack
from tests.support.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.compose]


@pytest.fixture(scope="module")
def stack(compose: list[str]) -> Iterator[Stack]:
    port = free_port()
    stack = Stack(compose, profile="citus", app="citus-app", port=port, ports={"CITUS_PORT": port, "PORT": free_port()})
    with stack.up("citus-app"):
        yield stack


def on_coordinator(stack: Stack, statement: str) -> list[str]:
    """The rows of a statement on the coordinator, as text."""
    psql = ("psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-U", "sample_resource", "-d", "sample_resource", "-c", statement)
    return stack.run("exec", "-T", "citus-coordinator", *psql).splitlines()


def command(stack: Stack, *arguments: str) -> str:
    """Run a command of the service in its container and return what it printed."""
    return stack.run("exec", "-T", "citus-app", "sample-resource", *arguments)


def test_citus_nodes_are_registered_once(stack: Stack) -> None:
    nodes = on_coordinator(stack, "SELECT nodename FROM pg_dist_node ORDER BY groupid, nodename")
    assert sorted(nodes) == ["citus-coordinator", "citus-worker-1", "citus-worker-2"]


def test_every_table_is_distributed_and_a_second_run_changes_nothing(stack: Stack) -> None:
    placed = on_coordinator(
        stack,
        "SELECT logicalrelid || ' ' || CASE partmethod WHEN 'h' THEN column_to_column_name(logicalrelid, partkey)"
        " ELSE 'everywhere' END FROM pg_dist_partition",
    )
    assert sorted(placed) == sorted(
        [f"{table} project_key" for table in distribute.DISTRIBUTED]
        + [f"{table} everywhere" for table in distribute.REFERENCE]
    )
    told = command(stack, "db", "distribute").splitlines()
    assert "resource  was distributed by project_key already" in told
    assert not any(
        line.endswith("now") and line.split()[0] in (*distribute.DISTRIBUTED, *distribute.REFERENCE) for line in told
    )


def test_a_resource_is_created_read_updated_and_deleted(stack: Stack) -> None:
    created = stack.create(key="life")
    assert stack.send("GET", created["id"]).json == created
    assert stack.send("GET", "key=life").json == created
    updated = stack.update(created["id"], 1)
    assert (updated.status, updated.json["version"]) == (200, 2), updated
    conflict = stack.update(created["id"], 1)
    assert (conflict.status, conflict.json["errors"][0]["currentVersion"]) == (409, 2), conflict
    assert stack.send("GET", created["id"], **{"If-None-Match": updated.headers["ETag"]}).status == 304
    assert stack.send("DELETE", f"{created['id']}?version=1").status == 409
    deleted = stack.send("DELETE", f"{created['id']}?version=2")
    assert (deleted.status, deleted.json) == (200, updated.json), deleted
    assert stack.send("GET", created["id"]).status == 404


@pytest.mark.parametrize(
    "query",
    [
        "?limit=5",
        "?withTotal=false",
        "?sort=createdAt%20desc&sort=key&offset=1",
        "?where=key%20%3D%20%22taken%22",
        "?arrayOfString=dog",
        "sorted-query-parameters?sort=version%20desc",
        "sorted-query-parameters?expand=createdBy&expand=lastModifiedBy",
        "sorted-query-parameters?sort=key&limit=2",
        "searchApiPattern?text.en=dog&fuzzy=true&sort=someProperty%20desc",
        "searchApiPattern?facet=createdAt&facet=version:range(1%20to%20*)&filter.facets=version:1",
        "searchApiPattern?staged=true&text.en=dog&filter.query=version:exists",
    ],
)
def test_lists_and_searches_are_200(stack: Stack, query: str) -> None:
    answer = stack.send("GET", query)
    assert answer.status == 200, answer
    assert answer.json["count"] == len(answer.json["results"])
