"""What is run by a shell: the commands of ``docs/operations.md``, the archive command, the start of the proxy.

A container engine is not needed: a program of the test stands in its place.
"""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compose.engine import Stack

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = (ROOT / "docs/operations.md").read_text()


def program(folder: Path, name: str, script: str) -> None:
    """A program in a folder, made of lines for the shell."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize("compose", [["docker", "compose"], ["docker-compose"]])
def test_documented_commands_run_the_stack_with_both_versions_of_compose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compose: list[str]
) -> None:
    program(tmp_path, compose[0], "printf '%s\\n' \"$@\"")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.defpath}")
    monkeypatch.setenv("FUNCNEST", "20")  # a function that calls itself ends there
    said = Stack(compose, name="stack").run_documented("docker compose exec -T db true")
    assert said.splitlines() == [
        *compose[1:],
        "-p",
        "stack",
        "-f",
        str(ROOT / "docker-compose.yml"),
        "exec",
        "-T",
        "db",
        "true",
    ]


def rolling_restart(folder: Path, engine: str) -> tuple[int, list[str]]:
    """Run the documented commands; the exit code, and what the engine was asked for.

    :param engine: lines for the shell: what the engine does with its arguments.
    """
    (script,) = re.findall(
        r"```sh\n(.*?)```", OPERATIONS.partition("## A rolling restart")[2].partition("###")[0], re.S
    )
    calls = folder / "calls"
    calls.touch()
    program(folder, "docker", f'echo "$@" >> {calls}\n{engine}')
    program(folder, "sleep", ":")
    done = subprocess.run(
        ["bash", "-c", script], env={"PATH": f"{folder}:{os.defpath}"}, capture_output=True, text=True, check=False
    )
    return done.returncode, calls.read_text().splitlines()


ENGINE = """case "$*" in
"compose ps -q app") echo old; grep -q -- --scale {calls} && echo new ;;
"exec new "*) exit {ready} ;;
"compose build app") exit {built} ;;
esac
exit 0"""


def test_a_rolling_restart_replaces_the_old_instance(tmp_path: Path) -> None:
    code, calls = rolling_restart(tmp_path, ENGINE.format(calls=tmp_path / "calls", ready=0, built=0))
    assert code == 0
    assert calls[-3:] == ["stop old", "rm old", "compose up -d --no-deps --no-recreate app"]


def test_a_new_instance_that_is_not_ready_leaves_the_old_one(tmp_path: Path) -> None:
    code, calls = rolling_restart(tmp_path, ENGINE.format(calls=tmp_path / "calls", ready=1, built=0))
    assert code != 0
    assert sum(call.startswith("exec new ") for call in calls) == 31
    assert not [call for call in calls if call.startswith(("stop", "rm"))]


def test_a_rolling_restart_ends_at_the_first_failure(tmp_path: Path) -> None:
    code, calls = rolling_restart(tmp_path, ENGINE.format(calls=tmp_path / "calls", ready=0, built=1))
    assert code != 0
    assert calls[-1] == "compose build app"


def test_a_segment_is_archived_once_and_the_same_one_again_is_a_success(tmp_path: Path) -> None:
    """PostgreSQL asks for that: after a crash it archives again what it has not noted (archive_command, its manual)."""
    command: list[str] = yaml.safe_load((ROOT / "ops/archive.yml").read_text())["services"]["db"]["command"]
    (setting,) = (word for word in command if word.startswith("archive_command="))
    line = setting.removeprefix("archive_command=").replace("$$", "$").replace("/var/lib/postgresql", str(tmp_path))
    data = tmp_path / "data"
    (data / "pg_wal").mkdir(parents=True)

    def archive(contents: str) -> int:
        (data / "pg_wal/0001").write_text(contents)
        return subprocess.run(
            ["sh", "-c", line.replace("%p", "pg_wal/0001").replace("%f", "0001")], cwd=data, check=False
        ).returncode

    assert archive("one") == 0
    assert archive("one") == 0
    assert archive("two") != 0
    assert (tmp_path / "archive/0001").read_text() == "one"


@pytest.mark.parametrize(
    ("environment", "waited"),
    [
        ({}, "11000ms"),
        ({"QUEUE_TIMEOUT_MS": "1000", "STATEMENT_TIMEOUT_MS": "20000"}, "23000ms"),
        ({"SANDBOX": "on"}, "75000ms"),
    ],
)
def test_the_proxy_waits_as_long_as_the_service_may_take(
    tmp_path: Path, environment: dict[str, str], waited: str
) -> None:
    program(tmp_path, "nginx", ":")
    folder = tmp_path / "settings"
    subprocess.run(
        ["sh", str(ROOT / "ops/proxy/start"), str(folder)],
        env={"PATH": f"{tmp_path}:{os.defpath}", **environment},
        check=True,
    )
    written = (folder / "proxy.conf").read_text()
    assert f"proxy_read_timeout {waited};" in written
    assert f"proxy_send_timeout {waited};" in written


def test_the_proxy_is_given_the_settings_that_its_times_follow_from() -> None:
    compose: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    given = compose["services"]["proxy"]["environment"]
    used = set(re.findall(r"\$\{([A-Z_]+):-", (ROOT / "ops/proxy/start").read_text()))
    assert used == set(given)
    for name, value in given.items():
        assert value == f"${{{name}:-}}"


def test_an_image_says_which_version_and_revision_it_is() -> None:
    done = subprocess.run(["make", "-n", "image"], cwd=ROOT, capture_output=True, text=True, check=True)
    builds = [line for line in done.stdout.splitlines() if line.startswith("docker build")]
    assert len(builds) == 3
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for build in builds:
        assert f"--label org.opencontainers.image.revision={revision.strip()} " in build
        assert re.search(r"--label org\.opencontainers\.image\.version=\d+\.\d+\.\d+ ", build)
        assert re.search(r"--label org\.opencontainers\.image\.created=\d{4}-\d\d-\d\dT\S+ ", build)
