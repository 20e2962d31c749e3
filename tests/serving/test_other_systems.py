"""The ways that are taken where Linux's /proc, /dev/shm and setpriv are missing, as on macOS; what Windows is told."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app import launcher
from app.serving import processes
from app.serving.embedded import EmbeddedPostgres
from app.telemetry import shared_folder
from tests.support.embedded import ask, is_running, start_orphan
from tests.support.server import ROOT


@pytest.fixture
def without_proc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(processes, "PROC", tmp_path / "no proc")


@pytest.mark.usefixtures("without_proc")
def test_a_server_without_owner_is_found_by_its_pid_file_and_stopped_first(
    folder: Path, start: Callable[..., EmbeddedPostgres]
) -> None:
    """Where no signal is sent at the death of a parent, a killed owner always leaves its server running."""
    orphan = start_orphan(folder)
    assert ask(start().conninfo(), "SELECT 1") == 1
    assert orphan.wait(5) == 0


@pytest.mark.parametrize("known", ["no such program", "another program"])
def test_a_command_is_executed_without_a_signal_for_the_death_of_its_parent(
    known: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if known == "another program":  # that of busybox knows fewer options
        (tmp_path / "setpriv").write_text("#!/bin/sh\necho 'Usage: setpriv [OPTIONS] PROG [ARGS]'\n")
        (tmp_path / "setpriv").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    processes.setpriv.cache_clear()
    try:
        source, sink = os.pipe()
        done = processes.spawn(["/bin/echo", "executed"], environment={}, folder=Path("/"), output=sink)
        assert done.wait(10) == 0
        assert os.read(source, 100) == b"executed\n"
    finally:
        processes.setpriv.cache_clear()
        os.close(source)
        os.close(sink)


def test_metrics_are_shared_in_the_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert shared_folder.memory_folder() in (None, shared_folder.MEMORY)
    monkeypatch.setattr(shared_folder, "MEMORY", tmp_path / "no memory")
    assert shared_folder.memory_folder() is None


def test_gunicorn_and_its_metrics_do_without_a_folder_in_memory(tmp_path: Path) -> None:
    script = (
        "import os, pathlib, tempfile\n"
        "from app.telemetry import shared_folder\n"
        "shared_folder.MEMORY = pathlib.Path('/nonexistent')\n"
        "from app.serving import gunicorn_settings\n"
        "print(gunicorn_settings.worker_tmp_dir, os.path.dirname(os.environ['PROMETHEUS_MULTIPROC_DIR']))\n"
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {"PATH": os.defpath, "METRICS_TOKEN": "a-token-of-16-characters", "TEMP": str(temporary)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["None", str(temporary)]


def test_windows_is_told_what_to_use(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", "nt")
        with pytest.raises(SystemExit) as refused:
            launcher.main()
    assert "On Windows use WSL, or the container image." in str(refused.value)


def test_a_process_that_is_gone_is_gone_on_every_system() -> None:
    sleeper = subprocess.Popen(["/bin/true"])
    sleeper.wait()
    assert not is_running(sleeper.pid)
    assert not processes.send_to_group(sleeper.pid, signal.SIGTERM)
