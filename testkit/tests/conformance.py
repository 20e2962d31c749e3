"""Runs the kit against a small server of its own."""

from collections.abc import Callable, Collection

from sample_resource_testkit.access import SandboxAccess, Vault, token_transport
from sample_resource_testkit.clauses import clauses
from sample_resource_testkit.outcomes import ClauseResult
from sample_resource_testkit.registry import load_checks
from sample_resource_testkit.runner import plan, run
from sample_resource_testkit.wire import Origin, Transport
from sample_resource_testkit.world import Server
from small_server.serving import SmallServer


def outcomes(
    plant: Callable[[SmallServer], None] = lambda _: None, selected: Collection[str] | None = None
) -> dict[str, ClauseResult]:
    """What becomes of clauses with a server that has a fault.

    :param selected: the clauses; those that they rest on are run too. None: all.
    """
    with SmallServer() as small:
        # The projects of the run are made by a server without faults, so that it always begins.
        transport = Transport(Origin.of(small.url), timeout_s=60)
        token_connections, target = token_transport(f"{small.url}/oauth/token", transport)
        access = SandboxAccess(token_connections, target, Vault(), transport)
        access.begin()
        plant(small)
        server = Server(transport, access, tag="small")
        return run(server, plan(clauses(), load_checks(), clauses() if selected is None else selected), jobs=8)
