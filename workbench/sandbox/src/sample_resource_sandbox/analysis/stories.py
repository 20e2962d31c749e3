"""Judges how a client goes on after a request has failed.

A story is a failed request with the later requests for the same aim. Each trouble in a story has one outcome: a request
that is lost, then gets 409 and then succeeds has recovered from both. A request that makes a trouble worse gets
findings. Requests that may come from several threads are not judged.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import unquote

from sample_resource_sandbox.analysis.look import LISTS, TROUBLES, Look

_EARLY_S = 0.05
"""The time by which a wait may be shorter than ``Retry-After``, because the client measures the wait on its side."""

HAMMERED = 10
_HAMMERED_S = 1.0

_NUMBERS_KEPT = 20
"""The most requests of a story whose numbers are kept."""
_STORIES_KEPT = 250
"""The most stories of a client that are kept."""

_ORDERED = "The last answer was ordered, so it does not show that the client got what it wanted."

_READS = ("GET", "HEAD")


class Outcome(StrEnum):
    """The outcome of a trouble."""

    RECOVERED = "recovered"
    GAVE_UP = "gaveUp"
    MADE_WORSE = "madeWorse"
    NOT_JUDGED = "notJudged"


@dataclass(frozen=True, slots=True)
class Episode:
    """The outcome of one trouble of a story.

    :param requests: the numbers of the entries, with the failed one first.
    :param outcome: the outcome if nothing has made the trouble worse.
    :param reason: the reason for the outcome.
    :param worse: the ids of the findings by which the client has made the trouble worse, each with its detail.
    """

    trouble: str
    requests: list[int]
    outcome: Outcome
    reason: str
    worse: Mapping[str, str]


Find = Callable[[int, str, str], str | None]
"""Records a finding: the number of the request, the finding's id and the detail. Returns the detail as it is shown;
None if such findings are allowed."""


@dataclass(slots=True)
class Story:
    """Requests for one aim, the first of which failed."""

    last: Look
    """The last attempt."""
    numbers: list[int] = field(default_factory=list[int])
    """The numbers of the attempts."""
    met: dict[str, int] = field(default_factory=dict[str, int])
    """The troubles of the story, each with the index of the first attempt that had it."""
    worse: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """The findings by which the client has made each trouble worse, with their details."""
    done: list[Any] = field(default_factory=list[Any])
    """The versions that attempts expected which were carried out, although their answer was lost."""
    created: int | None = None
    """The number of the first attempt that has created a resource, although the client was told of a failure."""
    began: deque[float] = field(default_factory=lambda: deque[float](maxlen=HAMMERED))
    attempts: int = 0
    looked: int | None = None
    """The number of the request by which the client has read the result of the last attempt."""
    doubt: str = ""
    """The reason why the story cannot be judged; empty if it can."""

    @property
    def is_over(self) -> bool:
        """Whether the service itself has answered the last attempt, and the answer is no trouble."""
        return self.last.trouble is None and not self.last.is_ordered

    def add(self, look: Look) -> None:
        """Add an attempt to the story."""
        if look.trouble is not None:
            self.met.setdefault(look.trouble, self.attempts)
            if self.created is None and look.creates and look.was_carried_out:
                self.created = look.number
        if look.is_lost and look.was_carried_out and look.version is not None and len(self.done) < _NUMBERS_KEPT:
            self.done.append(look.version)
        if len(self.numbers) < _NUMBERS_KEPT:
            self.numbers.append(look.number)
        self.attempts += 1
        self.began.append(look.began)
        self.last, self.looked = look, None

    @property
    def _is_done(self) -> bool:
        """Whether the last attempt got 409 because an earlier one, whose answer was lost, had been carried out."""
        return self.last.status == 409 and self.last.version in self.done

    def episodes(self) -> Iterator[Episode]:
        """Yield the outcome so far of each trouble of the story."""
        for trouble, first in sorted(self.met.items(), key=lambda each: each[1]):
            if trouble not in TROUBLES:
                continue
            numbers = self.numbers[first:] or [self.last.number]
            if trouble == "lost" and self.looked is not None and (self.last.is_lost or self._is_done):
                numbers = [*numbers, self.looked]
            outcome, reason = self._outcome(trouble, self.attempts - 1 - first)
            yield Episode(trouble, numbers, outcome, reason, self.worse.get(trouble, {}))

    def _outcome(self, trouble: str, times: int) -> tuple[Outcome, str]:
        last, often = self.last, "once" if times == 1 else f"{times} times"
        if self.doubt:
            return Outcome.NOT_JUDGED, self.doubt
        if self.is_over:
            return Outcome.RECOVERED, f"Sent again {often}, it was {last.status}."
        if self.looked is not None and ((trouble == "lost" and last.is_lost) or (trouble != "401" and self._is_done)):
            return Outcome.RECOVERED, "The client then read the resource."
        if last.trouble is None:
            return Outcome.NOT_JUDGED, _ORDERED
        again = f"It was sent again {often}, and failed each time." if times else "The client did not retry it."
        return Outcome.GAVE_UP, again


class Stories:
    """The stories of one client.

    :param settle: counts the outcome of a trouble.
    """

    def __init__(self, find: Find, settle: Callable[[Episode], None]) -> None:
        self._find = find
        self._settle = settle
        self._stories: dict[bytes, Story] = {}

    def forces(self, look: Look, may_follow: Callable[[Look, Look], bool]) -> bool:
        """Whether a write sends the same whole content as an earlier one that the service refused for its version."""
        story = self._stories.get(look.aim)
        if story is None or story.last.trouble not in ("409", "412") or story.last.is_ordered:
            return False
        before = story.last
        is_same = before.replacement is not None and before.replacement == look.replacement
        return is_same and before.expects_version and may_follow(look, before)

    def forget_creations(self) -> None:
        """Forget which failed requests have created a resource, because a resource was removed that may be theirs."""
        for story in self._stories.values():
            story.created = None

    def follow(self, look: Look, may_follow: Callable[[Look, Look], bool], lost_update: str | None = None) -> None:
        """Continue the stories with the next request of the client.

        :param may_follow: returns whether one thread has sent both a request and an earlier one.
        :param lost_update: the detail of this finding in the request; None if there is none.
        """
        for story in self._stories.values():
            if story.last.trouble is not None and _shows(story.last, look):
                story.looked = look.number
                if not may_follow(look, story.last):
                    story.doubt = story.doubt or _doubt_of(story.last, look)
        story = self._stories.get(look.aim)
        if story is None or story.is_over:
            if look.trouble is not None:
                self._begin(look)
            return
        before = story.last
        if may_follow(look, before):
            if before.call == look.call or before.status in (409, 412):
                look.entry.repeats = before.number
            if not story.doubt and before.trouble is not None and before.is_same(look):
                self._blame(story, before.trouble, look)
            if before.trouble in ("409", "412") and lost_update is not None:
                story.worse.setdefault(before.trouble, {})["lostUpdate"] = lost_update
        else:
            story.doubt = story.doubt or _doubt_of(before, look)
        story.add(look)

    def _begin(self, look: Look) -> None:
        former = self._stories.pop(look.aim, None)
        if former is None and len(self._stories) >= _STORIES_KEPT:
            former = self._stories.pop(next(iter(self._stories)))
        for episode in former.episodes() if former is not None else ():
            self._settle(episode)
        story = self._stories[look.aim] = Story(look)
        story.add(look)

    def _blame(self, story: Story, trouble: str, look: Look) -> None:
        """Record the findings if repeating the last attempt makes its trouble worse."""
        before = story.last
        for id_, detail in (
            ("unsafeRepetition", _unsafe(story, look)),
            ("refusedTokenRepeated", _same_token(before, look)),
            ("staleVersionRepeated", _stale(before, look, has_read=story.looked is not None)),
            ("retryBeforeRetryAfter", _early(before, look)),
            ("retriedWithoutPause", _hammered(story, look)),
        ):
            told = None if detail is None else self._find(look.number, id_, detail)
            if told is not None:
                story.worse.setdefault(trouble, {}).setdefault(id_, told)

    def episodes(self) -> Iterator[Episode]:
        """Yield the outcomes so far of the kept stories."""
        for story in self._stories.values():
            yield from story.episodes()


def _doubt_of(before: Look, look: Look) -> str:
    """The reason why two requests may come from two threads, with advice."""
    return (
        f"Requests of the client overlapped at request {before.number} or {look.number}, so it cannot be told which"
        " request answers which failure. To have it judged, send one after the other."
    )


def _shows(written: Look, look: Look) -> bool:
    """Whether a request has read the result of a write: it names the written resource, or its answer contains it."""
    if written.method in _READS or look.began <= written.began or look.is_lost or look.is_ordered:
        return False
    if look.status not in (200, 304, 404) or (look.method not in _READS and look.operation not in LISTS):
        return False
    if not written.names:
        return look.operation in LISTS
    segment = unquote(look.path).rpartition("/")[2]
    return any(
        segment.lower() == (name if kind == "id" else f"key={name}".lower())
        or f'"{kind}":"{name}"' in look.answer_text
        or _is_asked_for(name, look)
        for kind, name in written.names
    )


def _is_asked_for(name: str, look: Look) -> bool:
    """Whether a condition of a list has an id or key as a whole value."""
    return any(
        value == name if parameter.startswith("var.") else f'"{name}"' in value
        for parameter, value in look.parameters
        if parameter.startswith(("where", "filter", "var."))
    )


# Checks whether a repeated request makes the trouble worse. Each returns the detail of a finding, or None.


def _unsafe(story: Story, look: Look) -> str | None:
    """The detail if a repeated POST has made a second resource."""
    if story.created is None or not look.was_carried_out:
        return None
    return f"Request {story.created} was the same and was carried out: there are two resources."


def _same_token(before: Look, look: Look) -> str | None:
    """The detail if a refused token is sent again and refused again. After a 401 that a rule has made, it is enough if
    the token is sent again, because the service itself would accept it."""
    if before.status != 401 or before.is_lost or not before.authorization:
        return None
    if before.authorization != look.authorization or not (look.status == 401 or before.is_ordered):
        return None
    return f"Request {before.number} was 401, and this one has the same token."


def _stale(before: Look, look: Look, *, has_read: bool) -> str | None:
    """The detail if the refused version is sent again.

    After a read this counts only if the service itself refuses it again, because after a made-up 409 the version may
    be right.
    """
    if before.status not in (409, 412) or before.is_lost or not look.expects_version:
        return None
    is_refused = look.status in (409, 412) and not look.is_ordered
    if not is_refused and (has_read or not (before.is_ordered or look.status in (409, 412))):
        return None
    sent = look.if_match or f"version {look.version}"
    return f"Request {before.number} sent {sent} and was {before.status}."


def _early(before: Look, look: Look) -> str | None:
    waited_s = look.began - before.entry.answered_at
    if before.is_lost or before.retry_after is None or waited_s + _EARLY_S >= before.retry_after:
        return None
    asked = f"Request {before.number} was answered with Retry-After: {before.retry_after}"
    return f"{asked}; this one came {max(0.0, waited_s):.2f} s later."


def _hammered(story: Story, look: Look) -> str | None:
    if len(story.began) < HAMMERED or (within := look.began - story.began[0]) >= _HAMMERED_S:
        return None
    return f"It was sent again {HAMMERED} times within {within:.2f} s."
