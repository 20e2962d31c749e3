"""Attacks from beside the service: its issuer of tokens, its clock, the end of its processes."""

import base64
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.attack.cases_sandbox import new_project
from tests.attack.table import METRICS_TOKEN, Tally, case
from tests.faults.check_abuse import posted
from tests.faults.service import Service
from tests.support.certificates import Authority
from tests.support.issuer import AUDIENCE, NAME, running_issuer
from tests.support.samples import samples, value

GROUP = "issuers, clocks, kill -9"


@contextmanager
def _trusting(jwks_url: str, **environment: str) -> Iterator[Service]:
    """A service that trusts an issuer."""
    trust = {"AUTH_ISSUER": NAME, "AUTH_AUDIENCE": AUDIENCE, "AUTH_JWKS_URL": jwks_url}
    service = Service(SANDBOX="on", **trust, **environment)
    try:
        yield service
    finally:
        service.remove()


@case(GROUP, "tokens of an outside issuer with times that no calendar has: 401, and the journal goes on")
def endless_tokens(_: Service, tally: Tally) -> None:
    with running_issuer() as issuer, _trusting(issuer.jwks_url) as service:
        key = new_project(service)["projectKey"]
        good = issuer.sign(scope=f"view_test:{key}")
        tally.expect(service.request("GET", f"/{key}/resource?limit=1", token=good).status == 200, "a good token")
        sent = 1
        for exp in (int(time.time()) * 1000, 253402300800, 10**15, 10**18, 10**30, 1e300):
            token = issuer.sign(exp=exp, scope=f"view_test:{key}")
            for _ in range(4):
                answer = service.request("GET", f"/{key}/resource?limit=1", token=token)
                sent += 1
                tally.expect(answer.status == 401, (exp, answer))
        listed = service.request("GET", f"/sandbox/projects/{key}/requests").json()
        tally.expect(listed["total"] == sent, listed["total"])


@case(GROUP, "an issuer that is asked by https: its tokens 200, invented key ids 401 and never 503")
def issuer_over_tls(_: Service, tally: Tally) -> None:
    with TemporaryDirectory() as folder:
        authority = Authority(Path(folder))
        with (
            running_issuer(authority.certificate("issuer.pem")) as issuer,
            _trusting(issuer.jwks_url, SSL_CERT_FILE=str(authority.file)) as service,
        ):
            service.wait_until(lambda: issuer.fetches == 2)  # by each worker, when it starts
            service.wait_until(
                lambda: all(_list(service, issuer.sign(scope="view_test:demo")) == 200 for _ in range(20))
            )
            for number in range(60):
                status = _list(service, issuer.sign(header={"kid": f"invented-{number}"}, scope="view_test:demo"))
                tally.expect(status == 401, status)
            tally.expect(_list(service, issuer.sign(scope="view_test:demo")) == 200, "its token afterwards")


def _list(service: Service, token: str) -> int | None:
    return service.request("GET", "/demo/resource?limit=1", token=token).status


@contextmanager
def _dripping_keys() -> Iterator[str]:
    """A server that answers each request by a header line a second, and never ends."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def drip(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while not over.wait(1):
                connection.sendall(b"X-A: b\r\n")

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=drip, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/jwks"
    finally:
        over.set()
        listener.close()


@case(GROUP, "keys of an issuer that drip, 40 tokens with unknown keys at once: 401 or 503 within 5 s, others go on")
def dripping_keys(_: Service, tally: Tally) -> None:
    with running_issuer() as issuer, _dripping_keys() as url, _trusting(url) as service:
        unknown = issuer.sign(scope="view_test:demo")
        own = service.token("manage_test:demo")
        with ThreadPoolExecutor(41) as pool:
            sent = [pool.submit(service.request, "GET", "/demo/resource?limit=1", None, unknown) for _ in range(40)]
            ours = pool.submit(service.request, "GET", "/demo/resource?limit=1", None, own).result()
            for each in sent:
                answer = each.result()
                tally.expect(answer.status in (401, 503) and answer.seconds < 5, answer)
        tally.expect(ours.status == 200 and ours.seconds < 5, ours)


@case(
    GROUP, "tokens of removed projects whose clock was ahead by up to ten years: 401, also when the key is taken again"
)
def tokens_of_removed_projects(service: Service, tally: Tally) -> None:
    for days in (1, 9, 400, 3650):
        project = new_project(service)
        key = project["projectKey"]
        clock = service.request("PUT", f"/sandbox/projects/{key}/clock", {"offsetSeconds": days * 86400})
        tally.expect(clock.status in (200, 204), clock)
        basic = base64.b64encode(f"{project['clientId']}:{project['clientSecret']}".encode()).decode()
        head = {"Authorization": f"Basic {basic}", "Content-Type": "application/x-www-form-urlencoded"}
        status, text, _ = posted(service, "/oauth/token", b"grant_type=client_credentials", head)
        tally.expect(status == 200, text)
        token = json.loads(text)["access_token"]
        tally.expect(service.request("GET", f"/{key}/resource?limit=1", token=token).status == 200, "while it is there")
        tally.expect(service.request("DELETE", f"/sandbox/projects/{key}").status == 204, "DELETE")
        for _ in range(4):
            answer = service.request("GET", f"/{key}/resource?limit=1", token=token)
            tally.expect(answer.status == 401, (days, answer))
        new_project(service, projectKey=key)
        for _ in range(4):
            answer = service.request("GET", f"/{key}/resource?limit=1", token=token)
            tally.expect(answer.status == 401, (days, "the key is taken again", answer))


@case(GROUP, "four scrapes of the metrics at a time while workers are killed: answered, and no count falls")
def scrapes_of_killed_workers(service: Service, tally: Tally) -> None:
    over = threading.Event()

    def scrape() -> None:
        before = 0.0
        while not over.is_set():
            answer = service.request("GET", "/metrics", token=METRICS_TOKEN)
            if answer.status is None:
                continue  # its worker was killed
            tally.expect(answer.status == 200, answer)
            counted = value(samples(answer.body.decode()), "http_requests_total")
            tally.expect(counted >= before, (before, counted))
            before = counted

    threads = [threading.Thread(target=scrape) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(12):
        killed = service.workers[0]
        killed.kill()
        service.wait_until(lambda killed=killed: len(service.workers) == 2 and killed not in service.workers)
        service.wait_until(lambda: service.probe("ready").status == 200)
    over.set()
    for thread in threads:
        thread.join()


@case(GROUP, "workers killed while clients write: totals are those of the rows", within_s=120)
def killed_workers(service: Service, tally: Tally) -> None:
    token = service.token("manage_test:killed")
    for _ in range(4):
        over = threading.Event()

        def write(over: threading.Event = over) -> None:
            while not over.is_set():
                answer = service.request("POST", "/killed/resource", {"objectTypeProperty": {}}, token)
                if answer.status == 201:
                    made = answer.json()
                    if int(made["id"][-1], 16) < 4:
                        service.request("DELETE", f"/killed/resource/{made['id']}?version=1", None, token)

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(1)
        service.workers[0].kill()
        time.sleep(1)
        over.set()
        for thread in threads:
            thread.join()
        service.wait_until(lambda: len(service.workers) == 1)
        path = "/killed/resource/sorted-query-parameters?limit=1&withTotal=true"
        total = service.request("GET", path, token=token).json()["total"]
        with service.database() as connection:
            rows = connection.execute("SELECT count(*) FROM resource WHERE project_key = 'killed'").fetchone()
        tally.expect(rows == (total,) and total > 0, (rows, total))
