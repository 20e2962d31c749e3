"""gunicorn's settings for TLS end its start: the worker does not use them, so it would serve plain HTTP."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.gunicorn_server import GUNICORN
from tests.support.ports import free_port
from tests.support.server import ROOT, start_server

APPLICATION = "tests.support.standin:application"
MESSAGE = "gunicorn's setting {}: the service speaks HTTP only. TLS belongs to a proxy in front of it"

OWN_CONFIGURATION = 'exec(open("gunicorn.conf.py").read())\n'
SSL_CONTEXT = "def ssl_context(config, default_ssl_context_factory):\n    return default_ssl_context_factory()\n"


@pytest.mark.parametrize(
    ("settings", "arguments", "environment", "names"),
    [
        ("", ["--certfile", "cert.pem"], "", "certfile"),
        ("", ["--keyfile", "key.pem", "--certfile", "cert.pem"], "", "certfile, keyfile"),
        ("", [], "--certfile=cert.pem", "certfile"),
        ('keyfile = "key.pem"\n', [], "", "keyfile"),
        ('ca_certs = "ca.pem"\n', [], "", "ca_certs"),
        (SSL_CONTEXT, [], "", "ssl_context"),
    ],
    ids=["argument", "two arguments", "environment", "keyfile", "ca_certs", "ssl_context"],
)
def test_settings_for_tls_are_refused(
    tmp_path: Path, settings: str, arguments: list[str], environment: str, names: str
) -> None:
    configuration = tmp_path / "other.conf.py"
    configuration.write_text(OWN_CONFIGURATION + settings)
    ended = subprocess.run(
        [*GUNICORN, "-c", str(configuration), *arguments, APPLICATION],
        cwd=ROOT,
        env={"PATH": os.defpath, "PORT": str(free_port()), "WORKERS": "1", "GUNICORN_CMD_ARGS": environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == 1
    assert MESSAGE.format(names) in ended.stderr
    assert "docs/security.md" in ended.stderr


def test_another_configuration_with_this_worker_is_refused_too(tmp_path: Path) -> None:
    certificate = tmp_path / "cert.pem"
    certificate.touch()
    ended = subprocess.run(
        [
            *(*GUNICORN[:1], "-c", os.devnull, "-b", "127.0.0.1:0", "-k", "app.serving.worker.Worker"),
            *(f"--certfile={certificate}", APPLICATION),
        ],
        cwd=ROOT,
        env={"PATH": os.defpath},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == 1
    assert MESSAGE.format("certfile") in ended.stderr


def test_a_reload_with_certfile_ends_the_service(tmp_path: Path) -> None:
    configuration, log, port = tmp_path / "other.conf.py", tmp_path / "log", free_port()
    configuration.write_text(OWN_CONFIGURATION)
    process = start_server(
        [*GUNICORN, "-c", str(configuration), APPLICATION],
        port,
        {"PATH": os.defpath, "PORT": str(port), "WORKERS": "1"},
        log,
        ready_path="/",
    )
    configuration.write_text(f'{OWN_CONFIGURATION}certfile = "cert.pem"\n')
    process.send_signal(signal.SIGHUP)
    assert process.wait(30) != 0
    assert MESSAGE.format("certfile") in log.read_text()
