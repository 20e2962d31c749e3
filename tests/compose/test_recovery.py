"""Restore and back to a point in time: the commands of ``docs/operations.md`` on the stack with ``ops/archive.yml``."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compose.engine import ROOT, Stack

pytestmark = [pytest.mark.slow, pytest.mark.compose]

BACKUP, _, SECTION = (
    (ROOT / "docs/operations.md")
    .read_text()
    .partition("\n## Backup and restore")[2]
    .partition("\n## ")[0]
    .partition("### Back to a point in time")
)
DUMP, RESTORE = re.findall(r"```sh\n(.*?)```", BACKUP, re.DOTALL)
BASE_COPY, RECOVERY, MOVE = re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)
START = "docker compose start db app"


@pytest.fixture(scope="module")
def stack(compose: list[str]) -> Iterator[Stack]:
    with Stack(compose, files=("docker-compose.yml", "ops/archive.yml")).up() as stack:
        yield stack


def on_database(stack: Stack, statement: str) -> str:
    psql = ("psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-U", "sample_resource", "-d", "sample_resource", "-c", statement)
    return stack.run("exec", "-T", "db", *psql).strip()


def test_a_dump_is_restored_while_others_are_connected(stack: Stack, tmp_path: Path) -> None:
    def run(script: str) -> None:
        assert "sample_resource.dump" in script
        stack.run_documented(script.replace("sample_resource.dump", str(tmp_path / "dump")))

    stack.create(key="in-the-dump")
    run(DUMP)
    stack.create(key="after-the-dump")
    # As postgres-exporter does, whose connection stays open.
    others = ("psql", "-U", "sample_resource", "-d", "sample_resource", "-c", "SELECT pg_sleep(600)")
    stack.run("exec", "-d", "db", *others)
    sleeping = "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'"
    stack.wait_until(lambda: on_database(stack, sleeping) == "1", "the other connection")
    run(RESTORE)
    stack.wait_until(stack.is_ready, "the service on the restored database")
    assert statuses(stack, "in-the-dump", "after-the-dump") == [200, 404]
    assert stack.create(key="after-the-restore")["version"] == 1


def recover(stack: Stack, to: str | None, timeline: str = "current", start: str = START) -> None:
    """Run the documented commands with this time, or without their line ``recovery_target_time``."""
    if to is None:
        script, found = re.subn(r"recovery_target_time = .*\n", "", RECOVERY)
    else:
        script, found = re.subn("TO='.*'", f"TO='{to}'", RECOVERY)
    assert found == 1
    assert "'current'" in script
    assert START in script
    stack.run_documented(script.replace("'current'", f"'{timeline}'").replace(START, start))
    stack.wait_until(stack.is_ready, "the service on the recovered database")
    assert on_database(stack, "SELECT pg_is_in_recovery()") == "f"


def wait_for_the_archive(stack: Stack, moment: str) -> None:
    # PostgreSQL stops at the first commit after the moment, and that one has to be in the archive.
    on_database(stack, "SELECT pg_switch_wal()")
    archived = "SELECT count(*) FROM pg_stat_archiver WHERE last_archived_time > '{}' AND failed_count = 0"
    stack.wait_until(lambda: on_database(stack, archived.format(moment)) == "1", "the archive of the last segment")


def statuses(stack: Stack, *keys: str) -> list[int]:
    return [stack.send("GET", f"key={key}").status for key in keys]


def test_a_dropped_table_is_back_with_what_was_written_after_the_base_copy(stack: Stack) -> None:
    before = stack.create(key="before")
    stack.run_documented(BASE_COPY)
    after = stack.create(key="after")
    moment = on_database(stack, "SELECT clock_timestamp()")
    time.sleep(1)
    on_database(stack, "DROP TABLE resource CASCADE")
    wait_for_the_archive(stack, moment)
    assert stack.send("GET", "key=before").status == 503

    recover(stack, moment)
    assert stack.send("GET", "key=before").json == before
    assert stack.send("GET", "key=after").json == after
    assert stack.create(key="later")["version"] == 1


def test_another_attempt_from_the_same_base_copy_has_what_the_first_left_out(stack: Stack) -> None:
    """Without the lines of the recovery before the base copy, and not on the timeline of the first attempt."""
    stack.run_documented(BASE_COPY)  # as after every recovery
    stack.create(key="early")
    too_early = on_database(stack, "SELECT clock_timestamp()")
    time.sleep(1)
    stack.create(key="late")
    moment = on_database(stack, "SELECT clock_timestamp()")
    time.sleep(1)
    on_database(stack, "DROP TABLE resource CASCADE")
    wait_for_the_archive(stack, moment)

    recover(stack, too_early)
    assert statuses(stack, "before", "later", "early", "late") == [200, 200, 200, 404]
    stack.create(key="of-the-first-attempt")
    recover(stack, moment)
    assert statuses(stack, "before", "later", "early", "late", "of-the-first-attempt") == [200, 200, 200, 200, 404]
    stack.create(key="of-the-second-attempt")
    recover(stack, None, "latest")
    assert statuses(stack, "late", "of-the-second-attempt") == [200, 200]


def test_the_copied_archive_is_enough_on_a_new_machine(stack: Stack, tmp_path: Path) -> None:
    stack.run_documented(BASE_COPY)  # as after every recovery
    stack.create(key="archived-last")
    wait_for_the_archive(stack, on_database(stack, "SELECT clock_timestamp()"))
    copy, unpack = MOVE.replace("archive.tar", str(tmp_path / "archive.tar")).splitlines()
    stack.run_documented(copy)
    stack.run("down", "-v")
    stack.run_documented(unpack)
    recover(stack, None, start="docker compose up -d --build")
    assert statuses(stack, "in-the-dump", "late", "archived-last") == [200, 200, 200]
