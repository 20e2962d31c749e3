"""How a client dealt with what went wrong: it recovered, gave up, or made it worse. Judged by chains of requests.

A chain is a request that failed and what the client sent for the same aim afterwards, so one that is lost, then 409 and
then succeeds has recovered from both. What makes it worse is said only of requests of which it is certain that one
client sent both (:mod:`app.sandbox.analysis.history`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import pairwise
from typing import Any

from app.sandbox.analysis import repetitions
from app.sandbox.journal.entries import BODIES_OF_RESOURCES, LISTS, TROUBLES, Entry, Past, tolerantly

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
    """A request that failed, and what was sent for the same aim afterwards.

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
class _Chain:
    """Requests for one aim, the first of which failed."""

    attempts: list[Entry]
    looked: int | None = None
    """The number of the read by which the client found out whether a lost request had been carried out."""
    is_over: bool = False
    """Whether the last attempt had an answer that is no trouble."""

    @property
    def last(self) -> Entry:
        return self.attempts[-1]


def episodes(entries: Sequence[Entry], again: Mapping[int, int]) -> list[Episode]:
    """All episodes of a journal, in the order in which they began.

    :param entries: in the order of their numbers. Those under way are passed over: they may still become anything.
    :param again: which entry is for certain sent again after which, by their numbers.
    """
    chains: list[_Chain] = []
    for entry in entries:
        if not entry.is_under_way:
            _follow(chains, entry)
    return [episode for chain in chains for episode in _judged(chain, again)]


def _follow(chains: list[_Chain], entry: Entry) -> None:
    running = [chain for chain in chains if not chain.is_over]
    for chain in running:
        if chain.last.is_lost and tolerantly(partial(_looks, chain.last, entry), False, entry):
            chain.looked = entry.number
    same = [chain for chain in running if chain.last.aim == entry.aim and entry.may_follow(chain.last)]
    if not same:
        if entry.trouble is not None:
            chains.append(_Chain([entry]))
        return
    on_its_connection = [chain for chain in same if chain.last.connection == entry.connection]
    chosen = (on_its_connection or same)[0]
    chosen.attempts.append(entry)
    if entry.trouble is None:
        chosen.is_over = True
        # One success is enough for all that wanted just the same.
        for chain in same:
            if chain is not chosen and chain.last.call == entry.call:
                chain.attempts.append(entry)
                chain.is_over = True


_READS = ("GET", "HEAD")


def _looks(lost: Entry, entry: Entry) -> bool:
    """Whether a read shows what a write with a lost answer has done."""
    if lost.method in _READS or entry.began <= lost.began or entry.is_lost or entry.status not in (200, 304, 404):
        return False
    if entry.method not in _READS and entry.operation not in LISTS:
        return False
    ids, key = _named(lost)
    if any(entry.path.lower().endswith(f"/{each}") or f'"id":"{each}"' in entry.answer_text for each in ids):
        return True
    if key is not None and (
        entry.decoded_path.endswith(f"/key={key}") or any(key in value for _, value in entry.parameters)
    ):
        return True
    return not ids and key is None and entry.operation in LISTS


def _named(lost: Entry) -> tuple[list[str], str | None]:
    """The ids and the key by which a client can look for what a write has done: those that it sent, or was told."""
    if lost.operation in BODIES_OF_RESOURCES:
        named, key = lost.named
    else:
        named, key = lost.path.rpartition("/")[2], None
    told = lost.answer_json.get("id") if isinstance(lost.answer_json, dict) else None
    return [each.lower() for each in (named, told) if isinstance(each, str)], key if isinstance(key, str) else None


# What became of it


def _judged(chain: _Chain, again: Mapping[int, int]) -> list[Episode]:
    """An episode for each trouble that the chain has met."""
    found: list[Episode] = []
    for trouble in TROUBLES:
        first = next((at for at, entry in enumerate(chain.attempts) if entry.trouble == trouble), None)
        if first is not None:
            found.append(_episode(chain, trouble, first, again))
    return sorted(found, key=lambda each: each.requests[0])


def _episode(chain: _Chain, trouble: str, first: int, again: Mapping[int, int]) -> Episode:
    attempts = chain.attempts[first:]
    numbers = [entry.number for entry in attempts]
    worse = _worse(trouble, attempts, again)
    if worse is not None:
        return Episode(trouble, numbers, Outcome.MADE_WORSE, worse)
    times, last = len(attempts) - 1, chain.last
    if chain.is_over:
        outcome = Outcome.GAVE_UP if last.status is None or last.status >= 500 else Outcome.RECOVERED
        again_ = "" if not times else f"Sent again {_times(times)}, it was {last.status}."
        return Episode(trouble, numbers, outcome, again_)
    if trouble == "lost" and last.is_lost and chain.looked is not None:
        reason = "It was not sent again; the client read what had become of it."
        return Episode(trouble, [*numbers, chain.looked], Outcome.RECOVERED, reason)
    done = _carried_out_before(chain.attempts) if last.status == 409 else None
    if done is not None and trouble in ("lost", "409"):
        reason = f"It was 409, since request {done} had been carried out: there was nothing more to do."
        return Episode(trouble, numbers, Outcome.RECOVERED, reason)
    reason = "It was not sent again." if not times else f"It was sent again {_times(times)}, and failed each time."
    return Episode(trouble, numbers, Outcome.GAVE_UP, reason)


def _carried_out_before(attempts: Sequence[Entry]) -> int | None:
    """The lost request that was carried out with the version that the last one was refused with."""
    last = attempts[-1]
    for entry in attempts:
        if entry.is_lost and entry.was_carried_out and entry.version is not None and entry.version == last.version:
            return entry.number
    return None


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


# What makes it worse


def _worse(trouble: str, attempts: Sequence[Entry], again: Mapping[int, int]) -> str | None:
    chain: list[float] = []
    """When requests began of which each was for certain sent again after the one before."""
    for before, entry in pairwise(attempts):
        if again.get(entry.number) != before.number:
            chain = []
            continue
        chain = chain or [before.began]
        chain.append(entry.began)
        if len(chain) > _HAMMERED and chain[-1] - chain[-1 - _HAMMERED] < _HAMMERED_S:
            return f"It was sent again {_HAMMERED} times within {chain[-1] - chain[-1 - _HAMMERED]:.2f} s."
        worse = _WORSE[trouble](before.past(), entry) if before.trouble == trouble else None
        if worse is not None:
            return worse
    return None


def _two(before: Past, entry: Entry) -> str | None:
    return repetitions.unsafe(before, entry) if before.was_carried_out and entry.was_carried_out else None


_WORSE: Mapping[str, Callable[[Past, Entry], str | None]] = {
    "401": repetitions.same_token,
    "409": repetitions.stale,
    "429": lambda before, entry: repetitions.early(before, entry) or _two(before, entry),
    "503": lambda before, entry: repetitions.early(before, entry) or _two(before, entry),
    "lost": _two,
}
