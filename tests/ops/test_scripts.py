"""What is run by a shell: a deployment, documented commands, the archive command, the start of the proxy.

A container engine is not needed: a program of the test stands in its place.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def program(folder: Path, name: str, script: str) -> None:
    """A program in a folder, made of lines for the shell."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


ENGINE = """#!/bin/sh
# Keeps in files which containers are there, which image has which name, and what the proxy uses. Fails at the command
# that $FAILS matches.
echo "$@" >> calls
case "$*" in $FAILS) echo "this fails" >&2; exit 1 ;; esac
case "$*" in
"compose ps -q app" | "compose ps -aq app") cat containers ;;
"compose ps -q proxy") echo proxy ;;
"exec proxy cat /etc/nginx/nginx.conf") cat mounted ;;
"exec proxy sh /etc/nginx/use "*) echo "$5" > used ;;
"compose config --hash proxy") echo "proxy the-hash" ;;
*config-hash*proxy) cat hash ;;
"inspect --format {{.Image}} old") echo running-image ;;
"inspect --format {{.Image}} new") echo new-image ;;
"tag sample-resource:"*) cat "tag-${2#sample-resource:}" > "tag-${3#sample-resource:}" ;;
"tag "*) echo "$2" > "tag-${3#sample-resource:}" ;;
"compose build app") echo built-image > tag-local ;;
*"--scale app=2"*) echo new >> containers ;;
"rm old") sed -i /old/d containers ;;
"rm -f new") sed -i /new/d containers ;;
esac
"""


class Deployment:
    """A run of ``ops/deploy`` beside an engine that runs one instance, and what is there afterwards."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        fails: str = "nothing",
        running: str = "old\n",
        mounted: str | None = None,
        proxy_hash: str = "the-hash",
    ) -> None:
        (folder / "docker").write_text(ENGINE.replace("$FAILS", fails))
        (folder / "docker").chmod(0o755)
        program(folder, "sleep", ":")
        (folder / "containers").write_text(running)
        (folder / "tag-previous").write_text("previous-image\n")
        (folder / "calls").touch()
        (folder / "used").write_text("app\n")
        (folder / "hash").write_text(proxy_hash)
        shutil.copytree(ROOT / "ops/proxy", folder / "ops/proxy")
        (folder / "mounted").write_text((ROOT / "ops/proxy/nginx.conf").read_text() if mounted is None else mounted)
        shutil.copy(ROOT / "ops/deploy", folder / "ops")
        environment = {"PATH": f"{folder}:{os.defpath}"}
        self.done = subprocess.run(
            ["sh", folder / "ops/deploy", *arguments], env=environment, capture_output=True, text=True, check=False
        )
        self.calls = (folder / "calls").read_text().splitlines()
        self.containers = (folder / "containers").read_text().split()
        self.used = (folder / "used").read_text().strip()
        tags = folder.glob("tag-*")
        self.images = {path.name.removeprefix("tag-"): path.read_text().strip() for path in tags}


def test_a_deployment_replaces_the_old_instance_when_the_new_one_is_ready(tmp_path: Path) -> None:
    deployment = Deployment(tmp_path)
    assert deployment.done.returncode == 0, deployment.done.stderr
    assert deployment.containers == ["new"]
    assert deployment.images == {"local": "built-image", "previous": "running-image"}
    calls = deployment.calls
    migrated, started = calls.index("compose run --rm --no-deps -T migrate"), calls.index("stop old")
    assert migrated < calls.index("compose up -d --no-deps --no-recreate --scale app=2 --wait app") < started
    # The proxy sends nothing to the new instance before that is ready, and nothing to the old one when it is stopped.
    order = [call for call in calls if "nginx/use" in call or call.startswith(("exec new", "stop")) or "scale" in call]
    assert [call.removeprefix("exec proxy sh /etc/nginx/") for call in order if "exec new" not in call] == [
        "use old",
        "compose up -d --no-deps --no-recreate --scale app=2 --wait app",
        "use new",
        "stop old",
        "use app",
    ]
    assert max(n for n, call in enumerate(order) if "exec new" in call) < order.index(
        "exec proxy sh /etc/nginx/use new"
    )
    (said,) = deployment.done.stdout.splitlines()
    assert said == (
        "deployed: container new with the image new-image has taken the place of old. "
        "The proxy goes on, with ops/proxy/nginx.conf as it is now."
    )
    assert [call for call in calls if call.startswith("compose up") and "--no-deps" not in call] == []


@pytest.mark.parametrize(
    "fails",
    [
        '"compose build app"',
        '"compose run"*',
        '"exec proxy sh"*old',
        '*"--scale app=2"*',
        '"exec new "*',
        '"exec proxy sh"*new',
    ],
    ids=str.lower,
)
def test_a_deployment_that_fails_leaves_what_ran(tmp_path: Path, fails: str) -> None:
    deployment = Deployment(tmp_path, fails=fails)
    assert (deployment.done.returncode, deployment.containers) == (1, ["old"])
    assert deployment.images == {"local": "running-image", "previous": "previous-image"}
    assert deployment.used == "app"
    assert not [call for call in deployment.calls if call.startswith(("stop", "rm old"))]
    assert "this fails" in deployment.done.stderr
    assert deployment.done.stderr.endswith(
        "nothing was deployed, and the instance that ran goes on. The reason stands above.\n"
    )


def test_the_way_back_builds_nothing_and_migrates_nothing(tmp_path: Path) -> None:
    deployment = Deployment(tmp_path, "--back")
    assert deployment.done.returncode == 0, deployment.done.stderr
    assert deployment.containers == ["new"]
    assert deployment.images == {"local": "previous-image", "previous": "running-image"}
    assert not [call for call in deployment.calls if "build" in call or "migrate" in call]


@pytest.mark.parametrize(
    ("running", "arguments", "message"),
    [
        ("", [], "no instance of app runs. The first start is: docker compose up -d --build"),
        ("old\nolder\n", [], "several instances of app run: old older"),
        ("old\n", ["--forth"], "usage: sh ops/deploy [--back]"),
        ("old\n", ["--back", "twice"], "usage: sh ops/deploy [--back]"),
    ],
)
def test_a_deployment_that_cannot_be_is_refused(
    tmp_path: Path, running: str, arguments: list[str], message: str
) -> None:
    deployment = Deployment(tmp_path, *arguments, running=running)
    assert (deployment.done.returncode, deployment.done.stderr.strip()) == (1, f"error: {message}")
    assert deployment.images == {"previous": "previous-image"}


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

    assert (archive("one"), archive("one")) == (0, 0)
    assert archive("two") != 0
    assert (tmp_path / "archive/0001").read_text() == "one"


@pytest.mark.parametrize(
    ("environment", "waited"),
    [({}, "15000ms"), ({"QUEUE_TIMEOUT_MS": "1000", "STATEMENT_TIMEOUT_MS": "20000"}, "43000ms")],
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
    assert (folder / "instances").read_text() == "server app:8000 max_fails=0 resolve;\n"
    written = (folder / "proxy.conf").read_text()
    assert f"proxy_read_timeout {waited};" in written
    assert f"proxy_send_timeout {waited};" in written


def test_an_image_says_which_version_and_revision_it_is() -> None:
    done = subprocess.run(["make", "-n", "image"], cwd=ROOT, capture_output=True, text=True, check=True)
    builds = [line for line in done.stdout.splitlines() if line.startswith("docker build")]
    assert len(builds) == 3
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for build in builds:
        assert f"--label org.opencontainers.image.revision={revision.strip()} " in build
        assert re.search(r"--label org\.opencontainers\.image\.version=\d+\.\d+\.\d+ ", build)
        assert re.search(r"--label org\.opencontainers\.image\.created=\d{4}-\d\d-\d\dT\S+ ", build)
