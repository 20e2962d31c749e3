"""How a client dealt with what went wrong: it recovered, gave up, or made it worse. Judged by sequences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

from app.sandbox.analysis.findings import makes_another
from app.sandbox.journal.entries import BODIES_OF_RESOURCES, TOKEN_OPERATION, Entry, tolerantly

_HAMMERED = 5
"""Repetitions of a request within :data:`_HAMMERED_S` that make an outage worse."""
_HAMMERED_S = 1.0


class Outcome(StrEnum):
    """What became of a request that failed."""

    RECOVERED = "recovered"
    GAVE_UP = "gaveUp"
    MADE_WORSE = "madeWorse"


@dataclass(slots=True)
class Episode:
    """A request that failed, and the same request sent again.

    :param requests: numbers of the entries, the failed one first.
    :param reason: why the outcome is what it is.
    """

    trouble: str
    requests: list[int]
    outcome: Outcome
    reason: str

    def described(self) -> dict[str, Any]:
        """As the report has it."""
        return {"requests": self.requests, "outcome": str(self.outcome), "reason": self.reason}


@dataclass(slots=True)
class _Open:
    """An episode that may go on."""

    trouble: str
    entries: list[Entry] = field(default_factory=list[Entry])
    looked: int | None = None
    """The number of the read by which the client found out whether the request had been carried out."""


def _same(trouble: str, first: Entry, entry: Entry) -> bool:
    """Whether a request repeats the one that failed. After a 409 the body differs, by its version at least."""
    if trouble == "409":
        return first.place == entry.place
    if first.operation == TOKEN_OPERATION:
        return entry.operation == TOKEN_OPERATION
    return first.call == entry.call


def _looks(first: Entry, entry: Entry) -> bool:
    """Whether a read shows what a write with a lost answer has done."""
    if entry.method != "GET" or entry.status not in (200, 404) or entry.is_lost:
        return False
    if first.operation == "updateResourceById":
        return entry.path == first.path
    key = first.json.get("key") if first.operation in BODIES_OF_RESOURCES and isinstance(first.json, dict) else None
    return key is not None and entry.decoded_path.endswith(f"/key={key}")


def episodes(entries: Sequence[Entry]) -> list[Episode]:
    """All episodes of a journal, in the order in which they began.

    A repetition belongs to the first episode that it repeats; requests that were sent before the failure was answered
    repeat nothing.

    :param entries: in the order of their numbers.
    """
    running: list[_Open] = []
    done: list[tuple[_Open, bool]] = []
    for entry in entries:
        for each in running:
            if each.trouble == "lost" and tolerantly(partial(_looks, each.entries[0], entry), False, entry):
                each.looked = entry.number
        trouble = entry.trouble
        repeated = next(
            (
                each
                for each in running
                if _same(each.trouble, each.entries[0], entry) and entry.follows(each.entries[0])
            ),
            None,
        )
        if repeated is not None:
            repeated.entries.append(entry)
            if trouble is None:
                running.remove(repeated)
                done.append((repeated, True))
        elif trouble is not None:
            running.append(_Open(trouble, [entry]))
    done += [(each, False) for each in running]
    done.sort(key=lambda each: each[0].entries[0].number)
    return [_judged(each, ended=ended) for each, ended in done]


def _judged(episode: _Open, *, ended: bool) -> Episode:
    numbers = [entry.number for entry in episode.entries]
    worse = _WORSE[episode.trouble](episode) or _hammered(episode)
    if worse is not None:
        return Episode(episode.trouble, numbers, Outcome.MADE_WORSE, worse)
    times = len(episode.entries) - 1
    if episode.looked is not None and not times:
        reason = "It was not sent again; the client read what had become of it."
        return Episode(episode.trouble, [*numbers, episode.looked], Outcome.RECOVERED, reason)
    if not ended:
        reason = "It was not sent again." if not times else f"It was sent again {_times(times)}, and failed each time."
        return Episode(episode.trouble, numbers, Outcome.GAVE_UP, reason)
    last = episode.entries[-1]
    if (last.status or 0) >= 400:
        return Episode(episode.trouble, numbers, Outcome.GAVE_UP, f"Sent again, it was {last.status}.")
    return Episode(episode.trouble, numbers, Outcome.RECOVERED, f"Sent again {_times(times)}, it was {last.status}.")


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _hammered(episode: _Open) -> str | None:
    """Whether it was repeated as fast as it could be."""
    begun = [entry.began for entry in episode.entries]
    for first, last in zip(begun, begun[_HAMMERED:], strict=False):
        if last - first < _HAMMERED_S:
            return f"It was sent again {_HAMMERED} times within {last - first:.2f} s."
    return None


def _worse_401(episode: _Open) -> str | None:
    first, *others = episode.entries
    ends = [entry.headers.get("authorization") for entry in others if entry.status == 401]
    if ends and ends[0] == first.headers.get("authorization"):
        return "It was sent again with the token that had been refused."
    return None


def _worse_409(episode: _Open) -> str | None:
    for before, entry in zip(episode.entries, episode.entries[1:], strict=False):
        if entry.repeats_refused_version(before):
            return f"Version {entry.version} was sent again."
    return None


def _worse_wait(episode: _Open) -> str | None:
    for before, entry in zip(episode.entries, episode.entries[1:], strict=False):
        if entry.came_before_retry_after(before):
            return f"It was sent again before Retry-After: {before.retry_after} was over."
    return _worse_repetition(episode)


def _worse_repetition(episode: _Open) -> str | None:
    first, *others = episode.entries
    if others and makes_another(first) and first.was_carried_out and any(entry.was_carried_out for entry in others):
        return "It had been carried out, and was carried out again: there are two resources."
    return None


_WORSE: dict[str, Callable[[_Open], str | None]] = {
    "401": _worse_401,
    "409": _worse_409,
    "429": _worse_wait,
    "503": _worse_wait,
    "lost": _worse_repetition,
}
