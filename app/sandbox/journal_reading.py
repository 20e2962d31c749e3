"""The journal as it is read: entries with their numbers and what is found in them."""

from collections.abc import Sequence
from json import dumps

from app.sandbox.entries import Entry
from app.sandbox.findings import Found
from app.sandbox.journal_store import Kept
from app.sandbox.observer import observe

ReadEntry = tuple[int, str]
"""The number of an entry, and its JSON text as it is answered."""


def read_entries(kept: Sequence[Kept]) -> list[ReadEntry]:
    """The wanted entries, oldest first, with findings.

    :param kept: the whole journal.
    """
    entries = entries_of(kept)
    observed = observe(entries)
    return [
        (
            each.number,
            with_findings(
                each.number, entry.stored, observed.found.get(each.number, ()), observed.repeats.get(each.number)
            ),
        )
        for each, entry in zip(kept, entries, strict=True)
        if each.is_wanted
    ]


def entries_of(kept: Sequence[Kept]) -> list[Entry]:
    """The same entries for analysis."""
    return [Entry.read(each.number, each.entry) for each in kept]


def with_findings(number: int, entry: str, found: Sequence[Found], repeats: int | None) -> str:
    """The JSON text of an entry, with its number as the first member and what was found as the last."""
    findings = dumps([each.described() for each in found]) if found else "[]"
    return f'{{"number":{number},{entry[1:-1]},"repeats":{dumps(repeats)},"findings":{findings}}}'
