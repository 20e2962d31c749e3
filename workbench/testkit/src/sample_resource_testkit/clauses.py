"""The clauses of the specification, which ``docs/specification.md`` of the service publishes."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

PROFILES = ("core", "samples", "query", "search", "identity", "errors", "http", "races")
"""The themes of the specification, in the order of reports."""

LEVELS = ("must", "should")


@dataclass(frozen=True, slots=True)
class Clause:
    """One rule that a client can notice.

    :param number: such as ``4.10-3``; it never changes once it is released.
    :param level: ``must``: the interface or its platform says so; ``should``: decided where both are silent.
    :param profile: one of :data:`PROFILES`.
    :param source: where the rule comes from.
    :param heading: the theme in words, such as ``Addressing``.
    :param text: the rule, in Markdown.
    """

    number: str
    level: str
    profile: str
    source: str
    heading: str
    text: str


@cache
def clauses() -> dict[str, Clause]:
    """All clauses by their numbers, in the order of the specification."""
    listed = json.loads((files("sample_resource_testkit") / "specification.json").read_text(encoding="utf-8"))
    return {
        item["clause"]: Clause(
            item["clause"], item["level"], item["profile"], item["source"], item["heading"], item["text"]
        )
        for item in listed
    }
