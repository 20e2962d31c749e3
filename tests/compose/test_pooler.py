"""The stack with the profile ``pooler``: the service uses PgBouncer, by the lines of ``docs/operations.md``."""

from collections.abc import Iterator

import pytest

from tests.compose.engine import ANY, ROOT, Stack

pytestmark = [pytest.mark.slow, pytest.mark.compose]

SECTION = (ROOT / "docs/operations.md").read_text().partition("## PgBouncer")[2].partition("\n## ")[0]
SETTINGS = dict(line.split("=") for line in SECTION.split("```")[1].strip().splitlines())
LIMITS = [line.strip() for line in SECTION.splitlines() if line.strip().startswith("ALTER ROLE")]


@pytest.fixture(scope="module")
def stack(compose: list[str]) -> Iterator[Stack]:
    with Stack(compose, profile=SETTINGS["COMPOSE_PROFILES"], settings=SETTINGS).up() as stack:
        yield stack


def on_database(stack: Stack, *statements: str) -> str:
    psql = ("psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-U", "sample_resource", "-d", "sample_resource")
    return stack.run("exec", "-T", "db", *psql, *(word for each in statements for word in ("-c", each))).strip()


def test_the_service_works_by_the_pooler_alone(stack: Stack) -> None:
    assert len(LIMITS) == 3
    on_database(stack, *LIMITS)
    stack.run("restart", "pooler")
    # Each worker has to find that its connections are gone.
    stack.wait_until(lambda: all(stack.is_ready() for _ in range(20)), "the service after the restart of the pooler")
    stack.wait_until(
        lambda: all(stack.send("GET", "?limit=1").status == 200 for _ in range(20)), "requests of every worker"
    )
    created = stack.create(key="pooled")
    assert stack.send("GET", "key=pooled").json == created
    pooler = stack.inspect("pooler")["NetworkSettings"]["Networks"].values()
    addresses = {network["IPAddress"] for network in pooler}
    clients = "SELECT DISTINCT host(client_addr) FROM pg_stat_activity WHERE client_addr IS NOT NULL"
    assert set(on_database(stack, clients).split()) == addresses
    assert stack.send("POST", "", ANY).status == 201


def test_commands_do_not_end_at_the_limits_of_the_account(stack: Stack) -> None:
    command = ("exec", "-T", "app", "sample-resource")
    stack.run(*command, "seed", "--project", "many", "--count", "30000")
    exported = stack.run(*command, "export", "--project", "many").splitlines()
    assert (len(exported), exported[-1]) == (30_001, '{"exportedResources":30000}')
    assert "Nothing to apply." in stack.run(*command, "db", "upgrade")
