"""``docs/workbench/sandbox-reference.md`` lists the settings, the commands and the metric of the sandbox."""

import re
from dataclasses import fields

from sample_resource_sandbox.extension import Sandbox
from sample_resource_sandbox.package import SandboxPackage
from sample_resource_sandbox.settings import SandboxSettings

from app.cli import main
from tests.docs.test_reference import commands
from tests.support.service import ROOT

TEXT = (ROOT / "docs/workbench/sandbox-reference.md").read_text()


def rows(head: str) -> list[list[str]]:
    """The rows of the table with this header row."""
    (table,) = re.findall(rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]


def test_settings_with_default_and_meaning() -> None:
    settings = [item for item in fields(SandboxSettings) if item.metadata]
    assert rows("setting") == [
        [f"`{item.metadata['variable']}`", "" if item.default is None else str(item.default), item.metadata["meaning"]]
        for item in settings
    ]


def test_commands() -> None:
    assert rows("command") == [[f"`{name}`", what] for name, what in commands(main) if name in SandboxPackage.commands]


def test_the_metric_with_its_label_and_the_values_of_it() -> None:
    ((metric, kind, label, meaning),) = rows("metric")
    ((name, (_, counted, values)),) = Sandbox.counted.items()
    assert (metric, kind, label) == (f"`sample_resource_{name}_total`", "counter", f"`{counted}`")
    assert set(values) <= set(re.findall("`([^`]+)`", meaning))
