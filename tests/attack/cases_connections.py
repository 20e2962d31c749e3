"""Attacks by connections: many of them, slow ones, and clients that hang up."""

from tests.attack.table import Tally, case
from tests.faults.attackers import Attackers, kinds, ordinary_client
from tests.faults.service import Service

GROUP = "connections"


@case(
    GROUP, "200 slow connections of each kind, beside them an ordinary client: each request is answered", within_s=180
)
def slow_clients(service: Service, tally: Tally) -> None:
    token = service.token("manage_test:demo")
    for kind in kinds(token, "demo"):
        with Attackers(service.port, kind, 200):
            waited = ordinary_client(service.port, "/demo/resource?limit=1", token, 3.0)
        tally.expect(waited.failed == 0 and waited.p99 < 2.0, (kind.name, waited))
