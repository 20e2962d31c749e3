"""``sample-resource sandbox``: a service that ends with another process."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.support.waiting import wait_until

COMMAND = Path(sys.executable).with_name("sample-resource")


def started(folder: Path, pid: int, **variables: str) -> subprocess.Popen[bytes]:
    command = [str(COMMAND), "sandbox", "--until", str(pid), "--folder", str(folder)]
    return subprocess.Popen(command, env={**os.environ, **variables}, stderr=subprocess.PIPE)


@pytest.fixture
def tests_of_a_client() -> subprocess.Popen[bytes]:
    """A process that ends when its input does."""
    return subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)


def test_it_serves_a_sandbox_until_the_process_has_ended(
    tests_of_a_client: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    folder, pid = tmp_path / "run", tests_of_a_client.pid
    # What an application's tests have in their environment is not for this service.
    service = started(folder, pid, DATABASE_URL="mysql://application", PORT="none", SANDBOX_TOKEN="short")
    wait_until((folder / "state.json").exists, 120)
    state = json.loads((folder / "state.json").read_text())
    with urllib.request.urlopen(f"{state['url']}/sandbox/projects") as answer:
        assert json.load(answer)["results"] == []
    second = started(folder, pid)
    assert second.wait() == 0  # the run has one
    assert folder.exists()
    assert service.poll() is None
    tests_of_a_client.kill()  # and it is not waited for until the service has ended
    assert service.wait() == 0
    assert not folder.exists()
    tests_of_a_client.wait()
    for each in (service, second, tests_of_a_client):
        for stream in filter(None, (each.stdin, each.stderr)):
            stream.close()


@pytest.mark.parametrize("moment", ["service.log", "state.json"])
def test_however_often_it_is_told_to_end_nothing_is_left(
    moment: str, tests_of_a_client: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    """Also before the service is ready."""
    folder, kept = tmp_path / "run", tmp_path / "kept"
    kept.mkdir()
    service = started(folder, tests_of_a_client.pid, TMPDIR=str(kept))
    wait_until((folder / moment).exists, 120)
    children = Path(f"/proc/{service.pid}/task/{service.pid}/children")
    wait_until(lambda: bool(children.read_text()), 120)
    [child] = children.read_text().split()
    homes = [link.readlink() for link in kept.glob("*/data/postgresql-is-elsewhere")]
    while service.poll() is None:
        service.send_signal(signal.SIGTERM)
    _, told = service.communicate()
    assert (service.returncode, told) == (0, b"")
    assert not folder.exists()
    assert list(kept.glob("sample-resource-sandbox-*")) == []
    assert not any(Path(gone).exists() for gone in (f"/proc/{child}", *homes))
    tests_of_a_client.communicate()


def test_a_folder_that_cannot_be_made_and_a_number_of_no_process_are_told_in_a_line(tmp_path: Path) -> None:
    folder = tmp_path / "missing" / "run"
    told = started(folder, os.getpid()).communicate()[1]
    assert told == f"Error: {folder} cannot be made: No such file or directory\n".encode()
    assert started(folder, 10**19).communicate()[1].endswith(b"is not in the range 1<=x<=2147483647.\n")
