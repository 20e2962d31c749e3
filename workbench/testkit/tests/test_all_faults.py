"""The reference adapter fails nothing, and each planted fault fails what speaks of it and nothing else.

For ``make test-slow ARGS=-madapters`` and not part of ``make test``: each run of all scenarios takes 7 s of two cores.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from client_faults import FAULTS, Fault
from sample_resource_testkit.client.registry import scenarios
from sample_resource_testkit.outcomes import Outcome
from sample_resource_testkit.sandbox import SandboxServer
from test_client_scenarios import played

pytestmark = [pytest.mark.slow, pytest.mark.adapters]

REFERENCE = Path(__file__).parents[1] / "clients/httpx/adapter.py"
COMMAND = Path(sys.executable).with_name("sample-resource-conformance")


def test_the_reference_fails_nothing(sample_resource: SandboxServer) -> None:
    command = [COMMAND, "client", "--url", sample_resource.url, "--", sys.executable, REFERENCE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_fails_what_speaks_of_it_and_nothing_else(fault: Fault, sample_resource: SandboxServer) -> None:
    # More than half of the time of scenarios is waiting for clocks, so there are more adapters than cores.
    found = played(sample_resource, list(scenarios()), fault.name, removes=True, jobs=6)
    failing = {number: result.reason for number, result in found.items() if result.outcome is Outcome.FAIL}
    assert failing.keys() == set(fault.scenarios), failing
