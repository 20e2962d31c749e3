"""Findings of the sandbox and scenarios of behaviour agree; ``test_all_faults.py`` proves it with planted faults."""

from client_faults import FAULTS
from client_findings import AGREED, ORDERED, PROVOKED
from sample_resource_sandbox.analysis.findings import BY_ID
from sample_resource_testkit.client.registry import scenarios

OF_BEHAVIOUR = {number for number, each in scenarios().items() if each.theme == "behaviour"}


def test_each_scenario_of_behaviour_is_a_finding_or_says_why_it_cannot_be() -> None:
    assert AGREED.keys() == OF_BEHAVIOUR
    for told in AGREED.values():
        assert told in BY_ID or " " in told, told


def test_each_finding_that_speaks_of_a_scenario_is_provoked() -> None:
    agreed = {told for told in AGREED.values() if told in BY_ID}
    assert agreed <= {finding for _, finding in PROVOKED.values()}
    for name, (number, finding) in PROVOKED.items():
        assert number in FAULTS[name].scenarios
        assert finding in BY_ID
        assert AGREED.get(number, finding) == finding


def test_what_scenarios_order_are_findings() -> None:
    assert {finding for found in ORDERED.values() for finding in found} <= BY_ID.keys()
    assert ORDERED.keys() <= scenarios().keys()
