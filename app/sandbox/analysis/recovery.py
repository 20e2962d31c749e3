"""How a client dealt with what went wrong: it recovered, gave up, made it worse, or that cannot be judged.

A chain is a request that failed and what the client sent for the same aim afterwards, so one that is lost, then 409 and
then succeeds has recovered from both. It is judged only if none of the client's requests was under way beside another:
otherwise another thread may have sent the same.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from app.sandbox.analysis import repetitions
from app.sandbox.analysis.look import LISTS, TROUBLES, Look

_HAMMERED = 5
"""Repetitions of a request within :data:`_HAMMERED_S` that make an outage worse."""
_HAMMERED_S = 1.0

_NUMBERS_KEPT = 20
"""Requests of a chain that are named."""
_CHAINS_KEPT = 250
"""Chains of a client that are followed."""

_OVERLAPPED = (
    "Requests of the client overlapped, or it has several connections as threads do, so it cannot be told which of them"
    " answers which failure."
)


class Outcome(StrEnum):
    """What became of a request that failed."""

    RECOVERED = "recovered"
    GAVE_UP = "gaveUp"
    MADE_WORSE = "madeWorse"
    NOT_JUDGED = "notJudged"


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

    def doubted(self) -> "Episode":
        """The same, if several threads may have sent the requests."""
        return replace(self, outcome=Outcome.NOT_JUDGED, reason=_OVERLAPPED)

    def described(self) -> dict[str, Any]:
        """As the report has it."""
        return {"requests": self.requests, "outcome": str(self.outcome), "reason": self.reason}


@dataclass(slots=True)
class _Chain:
    """Requests for one aim, the first of which failed."""

    last: Look
    """The last attempt."""
    numbers: list[int] = field(default_factory=list[int])
    """Of the attempts."""
    met: dict[str, int] = field(default_factory=dict[str, int])
    """The troubles that it has met, each with the place of the attempt that met it first."""
    worse: dict[str, str] = field(default_factory=dict[str, str])
    """How the client has made a trouble worse."""
    done: list[tuple[int, Any]] = field(default_factory=list[tuple[int, Any]])
    """The attempts whose answer was lost after they had been carried out, each with the version that it expected."""
    began: deque[float] = field(default_factory=lambda: deque[float](maxlen=_HAMMERED + 1))
    attempts: int = 0
    looked: int | None = None
    """The number of the read by which the client found out whether a lost request had been carried out."""
    is_doubtful: bool = False

    def add(self, look: Look) -> None:
        if look.trouble is not None:
            self.met.setdefault(look.trouble, self.attempts)
        if look.is_lost and look.was_carried_out and look.version is not None and len(self.done) < _NUMBERS_KEPT:
            self.done.append((look.number, look.version))
        if len(self.numbers) < _NUMBERS_KEPT:
            self.numbers.append(look.number)
        self.attempts += 1
        self.began.append(look.began)
        self.last = look

    @property
    def is_over(self) -> bool:
        """Whether the last attempt had an answer that is no trouble."""
        return self.last.trouble is None

    def episodes(self) -> Iterator[Episode]:
        """An episode for each trouble that the chain has met."""
        for trouble, first in sorted(self.met.items(), key=lambda each: each[1]):
            times, last = self.attempts - 1 - first, self.last
            numbers = self.numbers[first:] or [last.number]
            done = [number for number, version in self.done if last.status == 409 and version == last.version]
            looked = trouble == "lost" and last.is_lost and self.looked is not None
            again = "" if not times else f"Sent again {_times(times)}, it was {last.status}."
            if trouble in self.worse:
                outcome, reason = Outcome.MADE_WORSE, self.worse[trouble]
            elif self.is_doubtful:
                outcome, reason = Outcome.NOT_JUDGED, _OVERLAPPED
            elif self.is_over:
                failed = last.status is None or last.status >= 500
                outcome, reason = Outcome.GAVE_UP if failed else Outcome.RECOVERED, again
            elif looked:
                numbers = [*numbers, self.looked or 0]
                outcome, reason = Outcome.RECOVERED, "It was not sent again; the client read what had become of it."
            elif done and trouble in ("lost", "409"):
                reason = f"It was 409, since request {done[0]} had been carried out: there was nothing more to do."
                outcome = Outcome.RECOVERED
            else:
                failed_again = f"It was sent again {_times(times)}, and failed each time."
                outcome, reason = Outcome.GAVE_UP, failed_again if times else "It was not sent again."
            yield Episode(trouble, numbers, outcome, reason)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


class Chains:
    """The chains of one client."""

    def __init__(self) -> None:
        self._open: dict[bytes, _Chain] = {}

    def follow(self, look: Look, may_follow: Callable[[Look, Look], bool]) -> Iterator[Episode]:
        """Follow the chains with the next request; the episodes that have ended with it.

        :param may_follow: whether the same thread has sent a request and an earlier one.
        """
        if not self._open and look.trouble is None:
            return
        for chain in self._open.values():
            if chain.last.is_lost and _shows(chain.last, look):
                chain.looked = look.number
                chain.is_doubtful |= not may_follow(look, chain.last)
        chain = self._open.get(look.aim)
        if chain is None:
            if look.trouble is not None:
                chain = self._open[look.aim] = _Chain(look)
                chain.add(look)
                if len(self._open) > _CHAINS_KEPT:
                    yield from self._open.pop(next(iter(self._open))).episodes()
            return
        before = chain.last
        if look.entry.is_beside:
            chain.worse.clear()  # it may have been another thread from the first
        if not may_follow(look, before) or not look.is_reaction_to(before):
            chain.is_doubtful = True
        elif not chain.is_doubtful:
            self._blame(chain, before, look)
        chain.add(look)
        if chain.is_over:
            yield from self._open.pop(look.aim).episodes()

    @staticmethod
    def _blame(chain: _Chain, before: Look, look: Look) -> None:
        """Note what makes the trouble before worse."""
        trouble = before.trouble or ""
        worse = _WORSE[trouble](before, look)
        if worse is not None:
            chain.worse.setdefault(trouble, worse)
        if len(chain.began) >= _HAMMERED and (within := look.began - chain.began[-_HAMMERED]) < _HAMMERED_S:
            text = f"It was sent again {_HAMMERED} times within {within:.2f} s."
            for each in chain.met:
                chain.worse.setdefault(each, text)

    def running(self) -> Iterator[Episode]:
        """The episodes of the chains that may still go on."""
        for chain in self._open.values():
            yield from chain.episodes()


_READS = ("GET", "HEAD")


def _shows(lost: Look, look: Look) -> bool:
    """Whether a read shows what a write with a lost answer has done."""
    if lost.method in _READS or look.began <= lost.began or look.is_lost or look.status not in (200, 304, 404):
        return False
    if look.method not in _READS and look.operation not in LISTS:
        return False
    if any(look.path.lower().endswith(f"/{each}") or f'"id":"{each}"' in look.answer_text for each in lost.ids_named):
        return True
    key = lost.key_named
    if key is not None and (
        look.decoded_path.endswith(f"/key={key}") or any(key in value for _, value in look.parameters)
    ):
        return True
    return not lost.ids_named and key is None and look.operation in LISTS


def _two(before: Look, look: Look) -> str | None:
    return repetitions.unsafe(before, look) if before.was_carried_out and look.was_carried_out else None


_WORSE: Mapping[str, Callable[[Look, Look], str | None]] = {
    "401": repetitions.same_token,
    "409": repetitions.stale,
    "429": lambda before, look: repetitions.early(before, look) or _two(before, look),
    "503": lambda before, look: repetitions.early(before, look) or _two(before, look),
    "lost": _two,
}
assert tuple(_WORSE) == TROUBLES  # noqa: S101 -- one row for each
