"""Back to a point in time: the commands of ``docs/operations.md`` on the stack with ``ops/archive.yml``."""

import re
import time
from collections.abc import Iterator

import pytest

from tests.compose.engine import ROOT, Stack

pytestmark = [pytest.mark.slow, pytest.mark.compose]

SECTION = (ROOT / "docs/operations.md").read_text().partition("### Back to a point in time")[2].partition("\n## ")[0]
BASE_COPY, RECOVERY = re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)


@pytest.fixture(scope="module")
def stack(compose: list[str]) -> Iterator[Stack]:
    with Stack(compose, files=("docker-compose.yml", "ops/archive.yml")).up() as stack:
        yield stack


def on_database(stack: Stack, statement: str) -> str:
    psql = ("psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-U", "sample_resource", "-d", "sample_resource", "-c", statement)
    return stack.run("exec", "-T", "db", *psql).strip()


def test_the_section_names_the_file_that_is_used() -> None:
    assert "COMPOSE_FILE=docker-compose.yml:ops/archive.yml" in SECTION


def test_a_dropped_table_is_back_with_what_was_written_after_the_base_copy(stack: Stack) -> None:
    before = stack.create(key="before")
    stack.run_documented(BASE_COPY)
    after = stack.create(key="after")
    moment = on_database(stack, "SELECT clock_timestamp()")
    time.sleep(1)
    on_database(stack, "DROP TABLE resource CASCADE")
    # PostgreSQL stops at the first commit after the moment, and that one has to be in the archive.
    on_database(stack, "SELECT pg_switch_wal()")
    archived = "SELECT count(*) FROM pg_stat_archiver WHERE last_archived_time > '{}' AND failed_count = 0"
    stack.wait_until(lambda: on_database(stack, archived.format(moment)) == "1", "the archive of the last segment")
    assert stack.send("GET", "key=before").status == 503

    stack.run_documented(re.sub("TO='.*'", f"TO='{moment}'", RECOVERY))
    stack.wait_until(stack.is_ready, "the service on the recovered database")
    assert stack.send("GET", "key=before").json == before
    assert stack.send("GET", "key=after").json == after
    assert stack.create(key="later")["version"] == 1
    assert on_database(stack, "SELECT pg_is_in_recovery()") == "f"


def test_the_next_base_copy_replaces_the_first(stack: Stack) -> None:
    stack.run_documented(BASE_COPY)
    found = set(stack.run("exec", "-T", "db", "ls", "/var/lib/postgresql").split())
    assert {"archive", "base", "damaged", "data"} <= found
    assert "base.new" not in found
