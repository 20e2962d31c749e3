"""``docs/clients-table.md`` and ``.json`` have the same figures, of scenarios that exist."""

import json

from sample_resource_testkit.client.registry import scenarios

from tests.support.pages import ROOT

PAGE = (ROOT / "docs/clients-table.md").read_text("utf-8")
DATA = json.loads((ROOT / "docs/clients-table.json").read_text("utf-8"))


def test_the_page_and_the_data_have_the_same_figures() -> None:
    table = PAGE.partition("\n## ")[0]
    found = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")
    ]
    rows = {cells[0]: [int(cell.split(" ")[0]) for cell in cells[1:]] for cells in found[2:]}
    for client in DATA:
        passing = [row["pass"] for row in client["summary"]]
        others = [sum(row[name] for row in client["summary"]) for name in ("fail", "unsupported", "notReachable")]
        assert rows[client["package"]] == passing + others
        assert len(client["fails"]) == others[0]
    assert len(rows) == len(DATA)


def test_the_data_name_scenarios_that_exist() -> None:
    named = {number for client in DATA for part in ("fails", "unsupported", "notReachable") for number in client[part]}
    assert named <= scenarios().keys()
