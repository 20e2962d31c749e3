"""Whether a history of calls, noted by clients that ran at the same time, can have happened one call after the other.

In general that is hard to decide. Here the check is exact, and linear but for sorting, since each write raises the
version of a resource by one and leaves something in it that no other write leaves: so the answers themselves say in
which order writes happened. What is left is one graph, in which an arrow leads from what was earlier to what was later:

- from a version to the next, from the write of a version to the calls that saw it, and from these to the next version;
- from the last version of a resource to its deletion, and from that to the next resource with its key;
- from a call that had ended to each call that began thereafter.

The history can have happened if the graph has no cycle. A list is one call that saw several resources, so it stands in
the graph once, at one moment. One thing is left open: which of several writes without an answer has made a version that
nobody has seen.
"""

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import groupby, pairwise
from math import inf
from typing import Any


class Outcome(Enum):
    """What a client knows of a call after its answer."""

    DONE = auto()
    ABSENT = auto()
    """404: there was no such resource."""
    REFUSED = auto()
    """409, 412 and other refusals: it has changed nothing."""
    UNKNOWN = auto()
    """503, or no answer: a write may have happened, also later on."""


@dataclass(frozen=True, slots=True)
class State:
    """A version of a resource, as an answer shows it.

    :param number: what a PUT or PATCH has left, which replace each other's.
    :param text: what an update action has left; None if there was none yet.
    """

    id: str
    key: str
    version: int
    number: int
    text: str | None
    modified_at: str


@dataclass(frozen=True, slots=True)
class Call:
    """A request and its answer.

    :param began: when it was sent, and ``ended``, when the answer was there, by one clock.
    :param key: of the resource that it names.
    :param id: of the resource that it names.
    :param sent: the number or text that a write leaves, which no other write sends.
    :param expected: the version that a write expects.
    :param states: what the answer shows.
    :param current: the version of the resource with this ``id``, which a 409 tells.
    :param keys: of a list: the keys that a resource may have, so that those which it lacks were absent.
    """

    name: str
    began: float
    ended: float
    outcome: Outcome
    key: str | None = None
    id: str | None = None
    sent: int | str | None = None
    expected: int | None = None
    states: tuple[State, ...] = ()
    current: int | None = None
    keys: tuple[str, ...] = ()

    @property
    def is_deletion(self) -> bool:
        return self.name == "DELETE"

    @property
    def may_have_happened(self) -> bool:
        return self.outcome in (Outcome.DONE, Outcome.UNKNOWN)

    @property
    def absent_keys(self) -> list[str]:
        """The keys that no resource had."""
        if self.keys and self.outcome is Outcome.DONE:
            return sorted(set(self.keys) - {state.key for state in self.states})
        return [self.key] if self.key is not None and self.outcome is Outcome.ABSENT else []

    def __str__(self) -> str:
        named = f"key {self.key}" if self.key is not None else "list" if self.id is None else self.id
        expected = "" if self.expected is None else f" expecting {self.expected}"
        saw = " ".join(f"{state.id}@{state.version}" for state in self.states)
        told = saw or (f"current {self.current}" if self.current else "")
        return (
            f"[{self.began:.4f} to {self.ended:.4f}] {self.name} {named}{expected}: {self.outcome.name} {told}".rstrip()
        )


@dataclass(slots=True)
class _Life:
    """A resource, from its creation to its deletion, and who has seen it."""

    id: str
    key: str = ""
    contents: dict[int, State] = field(default_factory=dict[int, State])
    writers: dict[int, Call] = field(default_factory=dict[int, Call])
    """The writes that were acknowledged, by the version that they made."""
    readers: list[tuple[Call, int]] = field(default_factory=list[tuple[Call, int]])
    """Calls that changed nothing, with the version that they saw."""
    deletion: Call | None = None
    deletions_sent: list[Call] = field(default_factory=list[Call])
    """Those that may have happened."""
    known_since: float = inf
    """A moment at which it certainly existed already."""
    known_until: float = -inf
    """A moment at which it certainly existed yet; if it is earlier than the other, only between the two."""

    def seen_by(self, call: Call) -> None:
        """Note that it existed at some moment of a call."""
        self.known_since = min(self.known_since, call.ended)
        self.known_until = max(self.known_until, call.began)

    @property
    def latest(self) -> int:
        return max([*self.contents, *self.writers, *(version for _, version in self.readers)])


def figures(history: Sequence[Call]) -> str:
    """What a history has of each kind of call, for a report."""
    outcomes = Counter(call.outcome for call in history)
    written = sum(call.sent is not None and call.outcome is Outcome.DONE for call in history)
    lives = {state.id for call in history for state in call.states}
    return (
        f"{len(history)} calls, of which {outcomes[Outcome.UNKNOWN]} had no certain end; {written} writes acknowledged,"
        f" {outcomes[Outcome.REFUSED]} calls refused; {len(lives)} resources, one after the other, of four keys"
    )


def faults(history: Sequence[Call]) -> list[str]:
    """Why a history cannot have happened; nothing if it can."""
    lives, found = _lives(history)
    sent = {call.sent: call for call in history if call.sent is not None}
    found += _wrong_versions(history)
    for life in lives.values():
        found += _wrong_steps(life)
    found += _wrong_origins(lives, sent)
    return found + _Order(history, lives, sent).faults()


# What each answer says by itself


def _lives(history: Sequence[Call]) -> tuple[dict[str, _Life], list[str]]:
    """The resources by their ids, and what answers say that contradicts other answers."""
    lives: dict[str, _Life] = {}
    found: list[str] = []
    for call in history:
        for state in call.states:
            life = lives.setdefault(state.id, _Life(state.id))
            life.key = state.key
            life.seen_by(call)
            known = life.contents.setdefault(state.version, state)
            if known != state:
                found.append(f"one version has two contents: {known} and {state}, which {call} shows")
            if call.is_deletion:
                if life.deletion is not None:
                    found.append(f"deleted twice: {life.deletion} and {call}")
                life.deletion = call
            elif call.sent is None:
                life.readers.append((call, state.version))
            elif state.version in life.writers:
                found.append(f"a version was acknowledged twice: {life.writers[state.version]} and {call}")
                life.readers.append((call, state.version))
            else:
                life.writers[state.version] = call
        if call.current is not None and call.id is not None:
            life = lives.setdefault(call.id, _Life(call.id))
            life.readers.append((call, call.current))
            life.seen_by(call)
    for call in history:
        if call.is_deletion and call.may_have_happened and call.id in lives:
            lives[call.id].deletions_sent.append(call)
    return lives, found


def _wrong_versions(history: Sequence[Call]) -> Iterator[str]:
    """Writes that expected a version, and made another one than the next; or were refused although it was current."""
    for call in history:
        if call.sent is not None and call.outcome is Outcome.DONE:
            (state,) = call.states
            if call.expected is not None and state.version != call.expected + 1:
                yield f"another version followed than the next: {call}"
            if call.sent not in (state.number, state.text):
                yield f"an answer lacks what was sent: {call}"
        if call.current is not None and call.current == call.expected:
            yield f"refused, although the version is the expected one: {call}"


def _wrong_steps(life: _Life) -> Iterator[str]:
    """Neighbouring versions between which not exactly one write lies; and times that step back."""
    known = [life.contents[version] for version in sorted(life.contents)]
    for before, after in pairwise(known):
        changed = (before.number != after.number) + (before.text != after.text)
        if changed != 1 and after.version == before.version + 1:
            yield f"{changed} writes lie between neighbouring versions: {before} and {after}"
        if after.modified_at < before.modified_at:
            yield f"a later version is dated before an earlier one: {before} and {after}"
    for marks in ([state.number for state in known], [state.text for state in known]):
        runs = Counter(mark for mark, _ in groupby(marks) if mark is not None)
        for mark in (mark for mark, times in runs.items() if times > 1):
            yield f"one write happened twice: that of {mark!r} to {life.id}"


def _wrong_origins(lives: dict[str, _Life], sent: dict[Any, Call]) -> Iterator[str]:
    """Contents that nobody sent, that were refused, that are in two resources, or that came to another version."""
    origins: dict[int | str, str] = {}
    for life in lives.values():
        first: dict[int | str, int] = {}
        for version in sorted(life.contents):
            state = life.contents[version]
            for mark in (state.number, state.text):
                if mark is not None:
                    first.setdefault(mark, version)
        for mark, version in first.items():
            call = sent.get(mark)
            if mark in origins:
                yield f"one write happened to two resources: that of {mark!r} to {origins[mark]} and {life.id}"
            origins[mark] = life.id
            if call is None:
                yield f"seen and never sent: {mark!r} in {life.id}"
            elif not call.may_have_happened:
                yield f"refused, and seen nevertheless in {life.id}: {call}"
            elif call.expected is not None and (
                version <= call.expected or (call.expected + 1 in life.contents and version != call.expected + 1)
            ):
                yield f"another version followed than the next: {life.id}@{version} is that of {call}"


# What the answers say together


@dataclass(slots=True)
class _Item:
    """What fills a part of a key's time: the life of a resource, or the moment of a call that found none.

    :param first: the node of its beginning, and ``last``, that of its end.
    :param since: what ended before is earlier, and ``until``: what begins thereafter is later. The number beside a
        moment orders what happens at the same one.
    """

    name: str
    first: int
    last: int
    since: tuple[float, int]
    until: tuple[float, int]
    life: _Life | None = None


class _Order:
    """The graph: numbers of nodes, and the arrows from each to later ones."""

    def __init__(self, history: Sequence[Call], lives: dict[str, _Life], sent: dict[Any, Call]) -> None:
        self._names: list[str] = []
        self._later: list[list[int]] = []
        self._faults: list[str] = []
        self._calls = {id(call): self._node(str(call)) for call in history}
        self._written: dict[tuple[str, int], int] = {}
        self._deleted: dict[str, int] = {}
        self._in_time(history, lives, sent)
        for life in lives.values():
            self._versions(life)
        self._absent_ids(history, lives)
        self._keys(history, lives)

    def _node(self, name: str) -> int:
        self._names.append(name)
        self._later.append([])
        return len(self._names) - 1

    def _before(self, earlier: int, later: int) -> None:
        if earlier != later:
            self._later[earlier].append(later)

    def _timeline(self, moments: set[tuple[float, int]]) -> dict[tuple[float, int], int]:
        """A node for each moment, each before the next."""
        nodes = {moment: self._node("") for moment in sorted(moments)}
        for earlier, later in pairwise(nodes.values()):
            self._before(earlier, later)
        return nodes

    def _in_time(self, history: Sequence[Call], lives: dict[str, _Life], sent: dict[Any, Call]) -> None:
        """A call is before those that began after its end. What was not acknowledged is after its beginning only."""
        time = self._timeline({(call.began, 0) for call in history} | {(call.ended, 1) for call in history})
        for call in history:
            self._before(time[call.began, 0], self._calls[id(call)])
            if call.outcome is not Outcome.UNKNOWN:
                self._before(self._calls[id(call)], time[call.ended, 1])
        # When the first of those writes began that were not acknowledged, and may have happened.
        by_key = defaultdict[str | None, list[float]](list)
        by_id = defaultdict[tuple[str, int], list[float]](list)
        for call in history:
            if call.sent is not None and call.outcome is Outcome.UNKNOWN:
                began = by_key[call.key] if call.id is None else by_id[call.id, call.expected or 0]
                began[:] = [min([call.began, *began])]
        for life in lives.values():
            for version in range(1, life.latest + 1):
                writer = life.writers.get(version)
                node = self._node(f"the write of {life.id}@{version}") if writer is None else self._calls[id(writer)]
                self._written[life.id, version] = node
                if writer is None:
                    writers = [*by_key[life.key], *by_id[life.id, version - 1]]
                    if writers:
                        self._before(time[min(writers), 0], node)
                    elif life.key:
                        self._faults.append(f"nobody can have written {life.id}@{version}")
                state = life.contents.get(version)
                for mark in () if state is None else (state.number, state.text):
                    if mark in sent:
                        self._before(time[sent[mark].began, 0], node)
            end = self._node(f"the deletion of {life.id}") if life.deletion is None else self._calls[id(life.deletion)]
            self._deleted[life.id] = end
            if life.deletions_sent:
                self._before(time[min(call.began for call in life.deletions_sent), 0], end)

    def _versions(self, life: _Life) -> None:
        """Each version is before the next one, and the calls that saw it are between the two."""
        end = self._deleted[life.id]

        def after(version: int) -> int:
            return self._written.get((life.id, version + 1), end)

        for version in range(1, life.latest + 1):
            self._before(self._written[life.id, version], after(version))
        for call, version in life.readers:
            self._before(self._written[life.id, version], self._calls[id(call)])
            self._before(self._calls[id(call)], after(version))
        if life.deletion is not None:
            for state in life.deletion.states:
                self._before(end, after(state.version))

    def _absent_ids(self, history: Sequence[Call], lives: dict[str, _Life]) -> None:
        """A call that did not find an id is before the creation or after the deletion."""
        for call in history:
            if call.outcome is not Outcome.ABSENT or call.id not in lives:
                continue
            life, node = lives[call.id], self._calls[id(call)]
            if life.known_since < call.began:
                self._before(self._deleted[life.id], node)
                self._ended(life, str(call))
            if call.ended < life.known_until:
                self._before(node, self._written[life.id, 1])

    def _ended(self, life: _Life, by: str) -> None:
        if not life.deletions_sent:
            self._faults.append(f"{life.id} was there and nobody deleted it: {by}")

    def _keys(self, history: Sequence[Call], lives: dict[str, _Life]) -> None:
        absences = defaultdict[str, list[Call]](list)
        for call in history:
            for key in call.absent_keys:
                absences[key].append(call)
        by_key = defaultdict[str, list[_Life]](list)
        for life in lives.values():
            if life.key:
                by_key[life.key].append(life)
        for key in by_key.keys() | absences.keys():
            self._one_life_at_a_time(key, by_key[key], absences[key])

    def _one_life_at_a_time(self, key: str, lives: list[_Life], absences: list[Call]) -> None:
        """Of two lives one is before the other, and a call that did not find the key is between two lives.

        Which one is earlier is known if a call that saw it had ended before another began that saw the later one. Where
        that is not known, no arrow is drawn.
        """
        certain = sorted(
            (life for life in lives if life.known_since < life.known_until), key=lambda life: life.known_since
        )
        for one, other in pairwise(certain):
            if other.known_since < one.known_until:
                self._faults.append(f"{key} has two lives at a time: {one.id} and {other.id}")
                return
        items: list[_Item] = []
        for life in lives:
            since, until = sorted((life.known_since, life.known_until))
            items.append(
                _Item(life.id, self._written[life.id, 1], self._deleted[life.id], (since, 0), (until, 1), life)
            )
        for call in absences:
            node = self._calls[id(call)]
            items.append(_Item(str(call), node, node, (call.began, 0), (call.ended, 1)))
        for item in items:
            if item.life is not None and item.life.known_since < item.life.known_until:
                continue
            before, after = (_around(certain, moment) for moment in (item.since[0], item.until[0]))
            if before is not None and before is after:
                self._faults.append(f"{key} was that of {before.id} all the time: {item.name}")
                return
            if before is not None:
                item.since = (before.known_until, 2)
            if after is not None:
                item.until = (after.known_since, -1)
        time = self._timeline({moment for item in items for moment in (item.since, item.until)})
        latest = max(item.since for item in items)
        for item in items:
            self._before(time[item.since], item.first)
            self._before(item.last, time[item.until])
            if item.life is not None and item.until < latest:
                self._ended(item.life, f"{key} was another's or nobody's later")
        endless = [item for item in items if item.life is not None and not item.life.deletions_sent]
        if len(endless) > 1:
            self._faults.append(f"{key} has {len(endless)} lives, and nobody deleted one")
        if len(endless) == 1:
            # All others are before it.
            end_of_others = self._node("")
            self._before(end_of_others, endless[0].first)
            for item in items:
                if item is not endless[0]:
                    self._before(item.last, end_of_others)

    def faults(self) -> list[str]:
        """What was found while the graph was made, and one cycle in it."""
        cycle = self._cycle()
        if not cycle:
            return self._faults
        steps = [self._names[node] for node in cycle if self._names[node]]
        return [*self._faults, "no order of the calls fits; each was before the next:\n  " + "\n  ".join(steps)]

    def _cycle(self) -> list[int]:
        """The shortest cycle through a node that lies in one."""
        earlier = [0] * len(self._later)
        for targets in self._later:
            for target in targets:
                earlier[target] += 1
        free = deque(node for node, count in enumerate(earlier) if not count)
        while free:
            for target in self._later[free.popleft()]:
                earlier[target] -= 1
                if not earlier[target]:
                    free.append(target)
        left = {node for node, count in enumerate(earlier) if count}
        if not left:
            return []
        # Each node that is left has one before it that is left too, so that a walk back comes to a cycle.
        back = {target: node for node in left for target in self._later[node] if target in left}
        node = next(iter(left))
        for _ in left:
            node = back[node]
        return self._shortest_way(node, left)

    def _shortest_way(self, start: int, among: set[int]) -> list[int]:
        """From a node back to itself."""
        came_from: dict[int, int] = {}
        waiting = deque([start])
        while waiting:
            node = waiting.popleft()
            for target in self._later[node]:
                if target not in among or target in came_from:
                    continue
                came_from[target] = node
                if target == start:
                    way = [node]
                    while way[-1] != start:
                        way.append(came_from[way[-1]])
                    return [*way[::-1], start]
                waiting.append(target)
        raise AssertionError("the node lies in no cycle")


def _around(lives: list[_Life], moment: float) -> _Life | None:
    """The life that includes a moment, of some that follow one another."""
    number = bisect_left(lives, moment, key=lambda life: life.known_since) - 1
    return lives[number] if number >= 0 and moment < lives[number].known_until else None
