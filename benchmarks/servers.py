"""The service and its peers: how to start each, and the requests of each operation."""

import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import psycopg

from app.identity import clients, tokens
from app.identity.tokens import digest_of
from app.serving import processes
from benchmarks import data, usage
from benchmarks.load import Load, Updates
from benchmarks.operations import EXAMPLE, Operation
from tests.support.cluster import Cluster
from tests.support.ports import free_port
from tests.support.server import NotReady, wait_until_ready

ROOT = data.ROOT
FOLDER = Path(__file__).resolve().parent / ".peers"
"""The folder of data and results; git ignores it."""

_READY_S = 120.0
"""The longest wait for a server to become ready."""

_UPDATED_AT_ONCE = 256
"""The number of resources of one run of updates; more than the most connections."""


JSON = {"Content-Type": "application/json"}
_ACTIONS = {
    Operation.UPDATE: '{"action": "changeSomeProperty", "someProperty": "any string @version"}',
    Operation.UPDATE_NEW_WORD: '{"action": "changeSomeProperty", "someProperty": "any string @new"}',
}


class ServerFailed(Exception):
    """A server did not start, or gave an unexpected answer."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings that all servers share."""

    postgres: Cluster
    sample: data.Sample
    count: int
    workers: int
    threads: int
    folder: Path
    """For logs and configuration files of this benchmark."""


class Server(ABC):
    """A measured server."""

    name: ClassVar[str]
    title: ClassVar[str]
    ready_path: ClassVar[str]
    list_paths: ClassVar[Mapping[Operation, str]]

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.database = f"run_{self.name}"
        self._updates = 0

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"http://127.0.0.1:{self.port}"

    # What differs between servers

    @abstractmethod
    def template(self) -> str:
        """The name of the database that is copied for the server."""

    @abstractmethod
    def command(self) -> Sequence[str]:
        """The command that starts the server."""

    def environment(self) -> Mapping[str, str]:
        """The environment variables of the server, in addition to PATH and the like."""
        return {
            "DATABASE_URL": data.url_of(self.conninfo),
            "WORKERS": str(self.setup.workers),
            "CONNECTIONS": str(self.setup.threads),
        }

    def headers(self) -> Mapping[str, str]:
        """The headers of every request."""
        return {}

    def load(self, operation: Operation) -> Load | Updates | None:
        """The requests of an operation; None if the server has no comparable operation."""
        sample = self.setup.sample
        base = f"/{data.PROJECT}/resource"
        match operation:
            case Operation.GET_BY_ID:
                return Load("GET", [f"{base}/{id_}" for id_ in sample.ids], headers=self.headers())
            case Operation.GET_BY_KEY:
                return Load("GET", [f"{base}/key={key}" for key in sample.keys], headers=self.headers())
            case Operation.CREATE:
                body = json.dumps({"objectTypeProperty": EXAMPLE})
                return Load("POST", [f"/{data.NEW_PROJECT}/resource"], body, {**self.headers(), **JSON})
            case Operation.CREATE_NEW_WORD:
                body = json.dumps({"objectTypeProperty": {**EXAMPLE, "arrayOfStringExample": ["dog", "@new", "bird"]}})
                return Load("POST", [f"/{data.NEW_PROJECT}/resource"], body, {**self.headers(), **JSON})
            case Operation.UPDATE | Operation.UPDATE_NEW_WORD:
                updated = (sample.updated[number] for number in self.next_updated())
                return Updates(
                    "POST",
                    [(str(item.id), str(item.version)) for item in updated],
                    f"{base}/@id",
                    f'{{"version": @version, "actions": [{_ACTIONS[operation]}]}}',
                    {**self.headers(), **JSON},
                )
            case _:
                path = self.list_paths.get(operation)
                if path is None:
                    return None
                return Load("GET", [base + path.replace("@text", sample.text)], headers=self.headers())

    def next_updated(self) -> range:
        """The numbers of the resources for the next run of updates. No earlier run has changed their versions."""
        begin = self._updates * _UPDATED_AT_ONCE
        self._updates += 1
        if begin + _UPDATED_AT_ONCE > min(data.UPDATED, len(self.setup.sample.updated)):
            raise ServerFailed("there are not enough resources for so many rounds of updates")
        return range(begin, begin + _UPDATED_AT_ONCE)

    # Start, requests, stop

    @property
    def conninfo(self) -> str:
        """The connection string of the server's database."""
        return self.setup.postgres.conninfo_of(self.database)

    def start(self) -> None:
        """Create the server's database and start the server.

        :raises ServerFailed: if the server ends, or does not become ready in time.
        """
        template = self.template()
        self.setup.postgres.drop_database(self.database)
        self.setup.postgres.create_database(self.database, template)
        self.prepare()
        kept = {
            name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
        }
        log = self.setup.folder / f"{self.name}.log"
        with log.open("wb") as output:
            self.process = processes.spawn(
                self.command(),
                environment={**kept, **self.environment()},
                folder=ROOT,
                output=output.fileno(),
            )
        try:
            wait_until_ready(self.port, self.ready_path, self.process, _READY_S)
        except NotReady as error:
            raise ServerFailed(f"{self.title}: {error}\n{log.read_text(errors='replace')[-3000:]}") from None

    def prepare(self) -> None:  # noqa: B027 -- most servers need nothing
        """Prepare the server's database before the start."""

    def stop(self) -> None:
        """Stop the server and its child processes."""
        process = self.process
        if process is None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.process = None

    def processes(self) -> set[int]:
        """The ids of the server's processes."""
        return usage.tree(self.process.pid) if self.process is not None else set()

    def send(self, method: str, path: str, body: str | None = None, headers: Mapping[str, str] | None = None) -> Any:
        """Send one request and return the JSON of its answer.

        :raises ServerFailed: if the status is not 2xx.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            raise ServerFailed(f"{self.title}: {method} {path}: {answer.status} {text[:500]!r}")
        return json.loads(text)

    def check(self, operation: Operation) -> None:
        """Send one request of an operation and check the answer.

        :raises ServerFailed: if nothing was written, or the number of results differs from the expected one.
        """
        load = self.load(operation)
        if load is None:
            return
        if isinstance(load, Updates):
            id_, version = load.items[0]
            filled = {
                name: value.replace("@id", id_).replace("@version", version) for name, value in load.headers.items()
            }
            body = load.body.replace("@version", version)
            answer = json.dumps(self.send(load.method, load.path.replace("@id", id_), body, filled))
            if version in re.findall(load.version.replace("%", "\\"), answer):
                raise ServerFailed(f"{self.title}: {operation.title}: nothing was written")
            return
        body = self.send(load.method, load.paths[0], load.body, load.headers)
        expected = {Operation.PAGE_20: 20, Operation.PAGE_500: 500, Operation.FILTER: data.FOUND}.get(operation)
        if expected is not None and len(body["results"]) != min(expected, self.setup.count):
            raise ServerFailed(f"{self.title}: {operation.title}: {len(body['results'])} results")


class Service(Server):
    """The service, started by the command of ``make run``."""

    name = "service"
    title = "this service"
    ready_path = "/health/ready"
    # Without the total, which no peer but bare Flask counts, and only if it is asked to.
    list_paths: ClassVar[Mapping[Operation, str]] = {
        Operation.PAGE_20: "/sorted-query-parameters?limit=20&withTotal=false",
        Operation.PAGE_500: "/sorted-query-parameters?limit=500&withTotal=false",
        Operation.FILTER: "?arrayOfString=@text&withTotal=false",
        Operation.PAGE_TOTAL: "/sorted-query-parameters?limit=20",
        Operation.FACET: "/searchApiPattern?facet=arrayOfStringExample&limit=0&withTotal=false",
    }

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._token = ""

    def template(self) -> str:
        return data.template(self.setup.postgres, "service", self.setup.count)

    def command(self) -> Sequence[str]:
        return [sys.executable, "-m", "app.cli", "serve"]

    def environment(self) -> Mapping[str, str]:
        return {**super().environment(), "PORT": str(self.port)}

    def prepare(self) -> None:
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            scopes = (f"manage_test:{data.PROJECT}", f"manage_test:{data.NEW_PROJECT}")
            client = clients.create_client(connection, "benchmark", scopes)
            self._token = tokens.issue_token(connection, client.client_id, scopes)

    def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self._token}"}


_TAKEN_OVER = (
    "worker_class",
    "worker_connections",
    "workers",
    "threads",
    "keepalive",
    "backlog",
    "timeout",
    "graceful_timeout",
    "worker_tmp_dir",
    "limit_request_line",
    "limit_request_fields",
    "limit_request_field_size",
    "loglevel",
    "control_socket_disable",
    "forwarded_allow_ips",
)
"""The settings of the service's gunicorn that are used for bare Flask too."""


class BareFlask(Server):
    """Flask and psycopg with one statement a request and nothing else: the floor.

    It runs in the environment of the service, so both have the same Python, gunicorn, Flask and psycopg.
    """

    name = "bare-flask"
    title = "bare Flask"
    ready_path = "/bench/resource?limit=1"
    list_paths: ClassVar[Mapping[Operation, str]] = {
        Operation.PAGE_20: "?limit=20",
        Operation.PAGE_500: "?limit=500",
        Operation.FILTER: "?arrayOfString=@text&limit=20",
        Operation.PAGE_TOTAL: "?limit=20&withTotal=true",
    }

    def template(self) -> str:
        return data.template(self.setup.postgres, "bare", self.setup.count)

    def command(self) -> Sequence[str]:
        return [*self.gunicorn(), "benchmarks.peers.bare_flask:app"]

    def gunicorn(self) -> list[str]:
        """The command of gunicorn with the settings of the service that affect throughput, without its hooks.

        The worker class is the class of gunicorn that the service's own class extends. The service's class would import
        the whole service, and so take its memory.
        """
        script = """
import json, runpy
from gunicorn.util import load_class
found = runpy.run_path("app/serving/gunicorn_settings.py")
classes = load_class(found["worker_class"]).__mro__
found["worker_class"] = next(f"{c.__module__}.{c.__name__}" for c in classes if c.__module__.startswith("gunicorn."))
print(json.dumps({name: value for name, value in found.items() if isinstance(value, (bool, int, str))}))
"""
        asked = subprocess.run(  # noqa: S603 -- ourselves
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, **self.environment()},
            capture_output=True,
            text=True,
            check=True,
        )
        found: dict[str, Any] = json.loads(asked.stdout)
        lines = [f"{name} = {found[name]!r}\n" for name in _TAKEN_OVER if name in found]
        file = self.setup.folder / f"{self.name}.gunicorn.conf.py"
        file.write_text("".join(lines))
        return [sys.executable, "-m", "gunicorn", "--config", str(file), "--bind", f"127.0.0.1:{self.port}"]


class Documented(BareFlask):
    """The frameworks of the service as their documentation shows them: what a user would write instead of it."""

    name = "documented"
    title = "the same frameworks as documented"
    ready_path = "/openapi.json"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._token = secrets.token_urlsafe(32)
        self._metrics = setup.folder / "documented-metrics"

    def command(self) -> Sequence[str]:
        return [*self.gunicorn(), "benchmarks.peers.documented:app"]

    def environment(self) -> Mapping[str, str]:
        self._metrics.mkdir(exist_ok=True)
        return {
            **super().environment(),
            "PROMETHEUS_MULTIPROC_DIR": str(self._metrics),
        }

    def prepare(self) -> None:
        scope = f"manage_test:{data.PROJECT} manage_test:{data.NEW_PROJECT}"
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            connection.execute(
                "INSERT INTO token VALUES (%s, %s, now() + interval '1 day')", (digest_of(self._token), scope)
            )

    def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self._token}"}


SERVERS: tuple[type[Server], ...] = (Service, Documented, BareFlask)
