"""Attacks by connections: many of them, slow ones, and clients that hang up."""

import socket
import time
from contextlib import ExitStack, suppress

from tests.attack.table import METRICS_TOKEN, Tally, case
from tests.faults.attackers import Attackers, Kind, Probes, crowding, kinds, ordinary_client
from tests.faults.service import Service
from tests.support.samples import samples, value

GROUP = "connections"


@case(
    GROUP, "200 slow connections of each kind, beside them an ordinary client: each request is answered", within_s=180
)
def slow_clients(service: Service, tally: Tally) -> None:
    token = service.token("manage_test:demo")
    for kind in kinds(token, "demo"):
        with Attackers(service.port, kind, 200):
            waited = ordinary_client(service.port, "/demo/resource?limit=1", token, 3.0, timeout_s=15)
        tally.expect(waited.failed == 0 and waited.median < 1, (kind.name, waited))


ANONYMOUS_BODY = Kind(
    "bodies for the token endpoint",
    b"POST /oauth/token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 9999\r\n\r\ng",
    b"g",
)
SILENCE = Kind("connections that say nothing", b"", b"")


def _hold(service: Service, tally: Tally, *attacks: tuple[Kind, int]) -> None:
    """Open many connections; a probe is answered at any moment, an ordinary client once the burst was accepted.

    The limits are those of a machine without other work.
    """
    token = service.token("manage_test:demo")
    crowded = crowding()
    with Probes(service) as probes, ExitStack() as opened:
        for kind, count in attacks:
            opened.enter_context(Attackers(service.port, kind, count, every_s=2.0))
        service.wait_until(lambda: service.request("GET", "/health/live").status == 200, within_s=30 * crowded)
        waited = ordinary_client(service.port, "/demo/resource?limit=1", token, 5.0, timeout_s=15)
        tally.expect(waited.failed == 0 and waited.median < crowded, (crowded, waited))
    for answer in probes.live:
        tally.expect(answer.status == 200 and answer.seconds < 2 * crowded, (crowded, answer))
    for answer in probes.ready:
        tally.expect(answer.status in (200, 503) and answer.seconds < 2 * crowded, (crowded, answer))
    tally.expect(not probes.is_taken_out(), probes.ready)


@case(
    GROUP,
    "1,900 bodies without a token that drip: probes are answered at any moment, an ordinary client after the burst",
    within_s=400,
)
def anonymous_bodies(service: Service, tally: Tally) -> None:
    _hold(service, tally, (ANONYMOUS_BODY, 1900))


@case(GROUP, "300 bodies that drip and 1,600 idle connections: the same", within_s=400)
def bodies_and_idle(service: Service, tally: Tally) -> None:
    _hold(service, tally, (ANONYMOUS_BODY, 300), (SILENCE, 1600))


def delayed_requests(service: Service) -> Kind:
    """Requests of a sandbox project that its rules delay by a minute."""
    project = service.request("POST", "/sandbox/projects", {}).json()
    key = project["projectKey"]
    answer = service.request("PUT", f"/sandbox/projects/{key}/rules", {"rules": [{"delayMs": 60000}]})
    assert answer.status in (200, 204), answer
    request = (
        f"GET /{key}/resource HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {project['accessToken']}\r\n\r\n"
    )
    return Kind("delayed", request.encode(), b"")


@case(GROUP, "1,900 requests that the sandbox delays by a minute: the same", within_s=400)
def delayed(service: Service, tally: Tally) -> None:
    _hold(service, tally, (delayed_requests(service), 1900))


def hang_up(service: Service, path: str, times: int) -> None:
    """Send requests of a project of their own, and close each connection at once."""
    token = service.token("manage_test:hung-up")
    head = f"GET /hung-up{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    for _ in range(times):
        with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
            connection.sendall(head)


def _seen(service: Service) -> float:
    text = service.request("GET", "/metrics", token=METRICS_TOKEN).body.decode()
    counted = samples(text)
    return sum(
        value(counted, "connections_ended_total", reason=f"hung_up_before_{what}") for what in ("parsing", "work")
    )


@case(
    GROUP, "1,500 requests closed at once, of three kinds: nearly none is served, so others wait little", within_s=120
)
def hung_up(service: Service, tally: Tally) -> None:
    other = service.token("manage_test:demo")
    for path in ("/resource?limit=500", "/resource/searchApiPattern?facet=version", "/resource/key=none"):
        before = _seen(service)
        hang_up(service, path, 1500)
        tally.tried += 1500
        answer = service.request("GET", "/demo/resource?limit=1", token=other)
        # On a busy machine as long as it takes to accept 1,500 connections; to serve 1,500 pages took 21 s.
        tally.expect(answer.status == 200 and answer.seconds < 10, (path, answer))
        time.sleep(1)  # workers share their counts twice a second
        tally.expect(_seen(service) - before > 1400, (path, _seen(service) - before))


@case(GROUP, "a body that comes by a byte each second is ended within 30 s", within_s=60)
def endless_body(service: Service, tally: Tally) -> None:
    with ExitStack() as opened:
        connections = [
            opened.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=5)) for _ in range(10)
        ]
        for one in connections:
            one.sendall(ANONYMOUS_BODY.opening)
        began = time.monotonic()
        while connections and time.monotonic() - began < 30:
            time.sleep(1)
            for one in list(connections):
                try:
                    one.sendall(b"g")
                    one.setblocking(False)
                    with suppress(BlockingIOError):
                        if one.recv(1):
                            connections.remove(one)
                            tally.tried += 1
                    one.settimeout(5)
                except OSError:
                    connections.remove(one)
                    tally.tried += 1
        for _ in connections:
            tally.expect(False, "a body was still read after 30 s")
