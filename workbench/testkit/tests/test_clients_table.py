"""``docs/workbench/clients-table.md`` and ``.json`` have the same figures, of scenarios that exist."""

import json

from clients.measured import as_page
from sample_resource_testkit.client.registry import scenarios

from tests.support.pages import ROOT

PAGE = (ROOT / "docs/workbench/clients-table.md").read_text("utf-8")
DATA = json.loads((ROOT / "docs/workbench/clients-table.json").read_text("utf-8"))


def test_the_page_is_made_of_the_data() -> None:
    assert as_page(DATA) == PAGE, "measure again: make generate ARGS=clients-table"


def test_readme_has_the_numbers_of_clients_and_scenarios() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"**{len(DATA['clients'])} clients and generators measured**" in readme
    assert f"{len(scenarios())} scenarios" in readme, f"README.md has another number than {len(scenarios())}"


def test_the_data_name_scenarios_that_exist() -> None:
    known = scenarios()
    assert sorted(DATA["scenarios"].keys() ^ known.keys()) == [], "measure again: make generate ARGS=clients-table"
    for client in DATA["clients"]:
        assert {number for part in ("fails", "unsupported", "notReachable") for number in client[part]} <= known.keys()
        assert sum(row["fail"] for row in client["summary"]) == len(client["fails"])
