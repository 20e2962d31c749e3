"""Journals without a database."""

from collections.abc import Sequence

from app.sandbox.journal.store import Kept
from app.sandbox.reading.lists import ReadEntry, Reading


def kept_entry(number: int, entry: str) -> Kept:
    """An entry of a page."""
    return Kept(number, (number, 0), len(entry), True, entry)


def read_entries(kept: Sequence[Kept]) -> list[ReadEntry]:
    """A whole journal as it is answered, oldest first."""
    reading = Reading()
    unseen = reading.unseen(kept)
    assert unseen == list(kept)
    reading.look(unseen, {each.position: each.entry for each in kept if each.entry is not None})
    return reading.shown(kept)
