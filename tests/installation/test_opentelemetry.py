"""The lines of ``docs/observability.md`` that start the service under OpenTelemetry, as an operator copies them.

It is not part of ``make test``, since it downloads OpenTelemetry.
"""

import json
import os
import shlex
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.installation.archives import archives_in
from tests.support.built import Built
from tests.support.collector import Collector, collector
from tests.support.fixtures import TokenFor
from tests.support.pages import ROOT, Page
from tests.support.ports import free_port
from tests.support.server import PATIENT, start_server
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.installers]

CALLER = "b7ad6b7169203331"

DECODE = """
import json, sys
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

exports = [ExportTraceServiceRequest.FromString(bytes.fromhex(line)) for line in sys.stdin]
scopes = [scope for export in exports for resource in export.resource_spans for scope in resource.scope_spans]
spans = [span for scope in scopes for span in scope.spans]
print(json.dumps([MessageToDict(span, always_print_fields_with_no_presence=True) for span in spans]))
"""
"""A program of the environment, which has the classes of OTLP's messages: it prints all spans as JSON."""

INSTALL, VARIABLES, START = Page("docs/observability.md").section("Traces").partition("```sh\n")[2].splitlines()[:3]


@pytest.fixture(scope="module")
def environment(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, and with what the first line installs."""
    folder = tmp_path_factory.mktemp("opentelemetry") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin/pip"), "--disable-pip-version-check", "install", "--quiet"]
    wheel = archives_in(built("service"))[1]
    subprocess.run([*pip, "--constraint", str(ROOT / "constraints.txt"), str(wheel)], check=True)
    assert INSTALL.startswith("pip install ")
    subprocess.run([*pip, *shlex.split(INSTALL)[2:]], check=True)
    return folder


@pytest.fixture
def received() -> Iterator[Collector]:
    with collector() as receiver:
        yield receiver


def spans_of(environment: Path, received: Collector) -> list[dict[str, Any]]:
    exports = "\n".join(body.hex() for body in received.exports)
    python = str(environment / "bin/python")
    decoded = subprocess.run([python, "-c", DECODE], input=exports, capture_output=True, text=True, check=True)
    return json.loads(decoded.stdout)


def requests_of(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [span for span in spans if span["kind"] == "SPAN_KIND_SERVER"]


def send(port: int, path: str, token: str, traceparent: str) -> int:
    """Send a GET on a new connection, which any worker may accept, and return the status."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}", "traceparent": traceparent})
        answer = connection.getresponse()
        answer.read()
        return answer.status


def test_the_workers_send_spans_of_requests_and_of_their_statements(
    environment: Path, received: Collector, database_url: str, token_for: TokenFor, project: str, tmp_path: Path
) -> None:
    port, log = free_port(), tmp_path / "log"
    assert START.startswith("opentelemetry-instrument gunicorn -c python:app.serving.gunicorn_settings ")
    shown = dict(pair.split("=", 1) for pair in VARIABLES.removeprefix("export ").split())
    variables = {
        **PATIENT,
        **shown,
        "OTEL_EXPORTER_OTLP_ENDPOINT": received.url,
        "OTEL_BSP_SCHEDULE_DELAY": "50",
        "DATABASE_URL": database_url,
        "PORT": str(port),
        "WORKERS": "2",
        "LOG_FORMAT": "json",
        "PATH": f"{environment / 'bin'}:{os.defpath}",
    }
    server = start_server(["sh", "-c", f"cd {tmp_path} && exec {START}"], port, variables, log)
    try:
        token = token_for(f"view_test:{project}")
        traces = [uuid4().hex for _ in range(30)]
        for trace in traces:
            assert send(port, f"/{project}/resource?limit=7", token, f"00-{trace}-{CALLER}-01") == 200

        wait_until(lambda: len(requests_of(spans_of(environment, received))) >= len(traces), report=log.read_text)
    finally:
        server.terminate()
        assert server.wait(30) == 0, log.read_text()
    spans = spans_of(environment, received)
    requests = requests_of(spans)
    assert sorted(bytes.fromhex(trace) for trace in traces) == sorted(b64decode(span["traceId"]) for span in requests)
    for request in requests:
        assert b64decode(request["parentSpanId"]).hex() == CALLER
        below = [span for span in spans if span["parentSpanId"] == request["spanId"]]
        assert "SPAN_KIND_CLIENT" in {span["kind"] for span in below}, below
