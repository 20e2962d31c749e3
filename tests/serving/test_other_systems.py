"""The ways that are taken where Linux's /proc, /dev/shm and prctl are missing, as on macOS; what Windows is told."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app import launcher
from app.serving import child_program, processes
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


def test_a_command_is_executed_without_prctl() -> None:
    """The program that :func:`processes.spawn` runs, where ``sys.platform`` names another system."""
    script = (
        "import ctypes, runpy, sys\n"
        "sys.platform = 'darwin'\n"
        "ctypes.CDLL = None\n"
        "path, *sys.argv[1:] = sys.argv[1:]\n"
        "runpy.run_path(path, run_name='__main__')\n"
    )
    arguments = [
        child_program.__file__,
        str(os.getpid()),
        "-1",
        "-1",
        str(int(signal.SIGTERM)),
        "/bin/echo",
        "executed",
    ]
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout == "executed\n"


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
    environment = {"PATH": os.defpath, "METRICS_BIND": "127.0.0.1:1", "TEMP": str(temporary)}
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
    assert not processes.send(sleeper.pid, signal.SIGTERM)
    assert not processes.send_to_group(sleeper.pid, signal.SIGTERM)
