"""Judges how a client goes on after a request has failed.

A story is a failed request with the later requests for the same aim. Each trouble in a story has one outcome: a request
that is lost, then gets 409 and then succeeds has recovered from both. A request that makes a trouble worse gets a
finding. Requests that may come from several threads are not judged, and findings are removed if threads show later.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, cast

from sample_resource_sandbox.analysis.findings import Found
from sample_resource_sandbox.analysis.look import LISTS, TROUBLES, Look

_EARLY_S = 0.05
"""The time by which a wait may be shorter than ``Retry-After``, because the client measures the wait on its side."""

HAMMERED = 10
_HAMMERED_S = 1.0

_NUMBERS_KEPT = 20
"""The most requests of a story whose numbers are kept."""
_STORIES_KEPT = 250
"""The most stories of a client that are kept."""

_DOUBT = "so it cannot be told which request answers which failure. Send one after the other, on one connection;"
_CLOSE = "close connections that are not used any more."
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
    :param reason: the reason for the outcome.
    :param finding: the id of the finding by which the client has made the trouble worse.
    """

    trouble: str
    requests: list[int]
    outcome: Outcome
    reason: str
    finding: str = ""

    def described(self) -> dict[str, Any]:
        """The episode in the form of the report."""
        return {"requests": self.requests, "outcome": str(self.outcome), "reason": self.reason}


class Notes(Protocol):
    """Records the findings and outcomes of a client."""

    def find(self, number: int, id_: str, detail: str) -> Found | None:
        """Record a finding in a request, and return it; None if such findings are allowed."""
        ...

    def withdraw(self, found: Found) -> None:
        """Remove a finding."""
        ...

    def settle(self, episode: Episode) -> None:
        """Count the outcome of a trouble."""
        ...


@dataclass(slots=True)
class Story:
    """Requests for one aim, the first of which failed."""

    last: Look
    """The last attempt."""
    numbers: list[int] = field(default_factory=list[int])
    """The numbers of the attempts."""
    met: dict[str, int] = field(default_factory=dict[str, int])
    """The troubles of the story, each with the index of the first attempt that had it."""
    worse: dict[str, Found] = field(default_factory=dict[str, Found])
    """The first finding by which the client has made each trouble worse."""
    said: list[Found] = field(default_factory=list[Found])
    """All findings of the story."""
    done: list[tuple[int, Any]] = field(default_factory=list[tuple[int, Any]])
    """The attempts whose answer was lost after they had been carried out, each with the version that it expected."""
    began: deque[float] = field(default_factory=lambda: deque[float](maxlen=HAMMERED))
    attempts: int = 0
    looked: int | None = None
    """The number of the request by which the client has read the result of the last attempt."""
    has_version: bool = False
    """Whether an attempt that got 409 had expected a version."""
    refused_at: float = 0.0
    """The time when the token of the last attempt that got 401 was first seen; if it never was, the time of the
    attempt."""
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
        if look.trouble == "409":
            self.has_version |= look.version is not None
        if look.trouble == "401":
            self.refused_at = look.entry.token_seen_at or look.began
        if look.is_lost and look.was_carried_out and look.version is not None and len(self.done) < _NUMBERS_KEPT:
            self.done.append((look.number, look.version))
        if len(self.numbers) < _NUMBERS_KEPT:
            self.numbers.append(look.number)
        self.attempts += 1
        self.began.append(look.began)
        self.last, self.looked = look, None

    @property
    def _is_done(self) -> bool:
        """Whether the last attempt got 409 because an earlier one, whose answer was lost, had been carried out."""
        return self.last.status == 409 and any(version == self.last.version for _, version in self.done)

    def episodes(self) -> Iterator[Episode]:
        """Yield the outcome so far of each trouble of the story."""
        for trouble, first in sorted(self.met.items(), key=lambda each: each[1]):
            if trouble not in TROUBLES:
                continue
            numbers = self.numbers[first:] or [self.last.number]
            if trouble in self.worse:
                found = self.worse[trouble]
                yield Episode(trouble, numbers, Outcome.MADE_WORSE, found.detail, found.finding.id)
                continue
            if trouble == "lost" and self.looked is not None and (self.last.is_lost or self._is_done):
                numbers = [*numbers, self.looked]
            yield Episode(trouble, numbers, *self._outcome(trouble, self.attempts - 1 - first))

    def _outcome(self, trouble: str, times: int) -> tuple[Outcome, str]:
        last, often = self.last, "once" if times == 1 else f"{times} times"
        if self.doubt:
            return Outcome.NOT_JUDGED, self.doubt
        if self.is_over and trouble == "409" and self.has_version and last.version is None and not last.has_failed:
            return Outcome.GAVE_UP, "The retry without a version has overwritten the other writer's change."
        if self.is_over and trouble == "401" and (last.entry.token_seen_at or last.began) < self.refused_at:
            return Outcome.GAVE_UP, f"Sent again {often} with a token that is older than the refused one."
        if self.is_over:
            return Outcome.RECOVERED, f"Sent again {often}, it was {last.status}."
        if self.looked is not None and ((trouble == "lost" and last.is_lost) or (trouble != "401" and self._is_done)):
            return Outcome.RECOVERED, "The client then read the resource."
        if last.trouble is None:
            return Outcome.NOT_JUDGED, _ORDERED
        again = f"It was sent again {often}, and failed each time." if times else "The client did not retry it."
        return Outcome.GAVE_UP, again


class Stories:
    """The stories of one client. Ended stories are kept, because their findings may have to be removed."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._stories: dict[bytes, Story] = {}

    def follow(self, look: Look, may_follow: Callable[[Look, Look], bool]) -> None:
        """Continue the stories with the next request of the client.

        :param may_follow: returns whether one thread has certainly sent both a request and an earlier one.
        """
        if not self._stories and look.trouble is None:
            return
        for story in self._stories.values():
            if story.last.trouble is not None and _shows(story.last, look):
                story.looked = look.number
                if not may_follow(look, story.last):
                    story.doubt = story.doubt or _doubt_of(story.last, look)
        story = self._stories.get(look.aim)
        if story is not None and (look.entry.is_beside or look.entry.is_apart) and not may_follow(look, story.last):
            self._doubt(story, look)  # another thread may have sent the earlier requests, too
        if story is None or story.is_over:
            if look.trouble is not None:
                self._begin(look)
            return
        before = story.last
        if look.is_reaction_to(before) and (before.call == look.call or before.status == 409):
            look.entry.repeats = before.number
        if not may_follow(look, before) or not look.is_reaction_to(before):
            story.doubt = story.doubt or _doubt_of(before, look)
        elif not story.doubt and before.trouble is not None and before.is_same(look):
            self._blame(story, before.trouble, look)
        story.add(look)

    def _begin(self, look: Look) -> None:
        former = self._stories.pop(look.aim, None)
        if former is None and len(self._stories) >= _STORIES_KEPT:
            former = self._stories.pop(next(iter(self._stories)))
        if former is not None:
            self._settle(former)
        story = self._stories[look.aim] = Story(look)
        story.add(look)

    def _blame(self, story: Story, trouble: str, look: Look) -> None:
        """Record a finding if repeating the last attempt makes its trouble worse."""
        before = story.last
        told = (
            ("refusedTokenRepeated", _same_token(before, look)),
            ("staleVersionRepeated", _stale(before, look, has_read=story.looked is not None)),
            ("retryBeforeRetryAfter", _early(before, look)),
            ("unsafeRepetition", _unsafe(before, look, has_looked=story.looked is not None)),
            ("retriedWithoutPause", _hammered(story, look)),
        )
        for id_, detail in told:
            found = None if detail is None else self._notes.find(look.number, id_, detail)
            if found is not None:
                story.said.append(found)
                story.worse.setdefault(trouble, found)
                return

    def _doubt(self, story: Story, look: Look) -> None:
        if story.said:
            story.doubt = story.doubt or _doubt_of(story.last, look)
        for found in story.said:
            self._notes.withdraw(found)
        story.said.clear()
        story.worse.clear()

    def _settle(self, story: Story) -> None:
        for episode in story.episodes():
            self._notes.settle(episode)

    def episodes(self) -> Iterator[Episode]:
        """Yield the outcomes so far of the kept stories."""
        for story in self._stories.values():
            yield from story.episodes()


def _doubt_of(before: Look, look: Look) -> str:
    """The reason why two requests may come from two threads, with advice."""
    if look.connection != before.connection and not look.entry.is_beside:
        came = (
            f"Request {before.number} came on connection {before.connection}, and {look.number} on {look.connection},"
        )
        return f"{came} as from two threads, {_DOUBT} {_CLOSE}"
    return f"Requests of the client overlapped at request {before.number} or {look.number}, {_DOUBT} {_CLOSE}"


def _shows(written: Look, look: Look) -> bool:
    """Whether a request has read the result of a write: it names the written resource, or its answer contains it."""
    if written.method in _READS or look.began <= written.began or look.is_lost or look.is_ordered:
        return False
    if look.status not in (200, 304, 404) or (look.method not in _READS and look.operation not in LISTS):
        return False
    names = [("id", each) for each in written.ids_named] + [("key", each) for each in written.keys_named]
    if not names:
        return look.operation in LISTS and _may_show_any(look)
    segment = look.decoded_path.rpartition("/")[2]
    return any(
        segment.lower() == (name if kind == "id" else f"key={name}".lower())
        or f'"{kind}":"{name}"' in look.answer_text
        or _is_asked_for(name, look)
        for kind, name in names
    )


def _may_show_any(look: Look) -> bool:
    """Whether a list may show a resource with no known name: by a condition or ``desc``, or as a list of all."""
    conditions = ("where", "filter", "text.")
    if any(name.startswith(conditions) or (name == "sort" and "desc" in value) for name, value in look.parameters):
        return True
    page = cast("dict[str, Any]", look.answer_json) if isinstance(look.answer_json, dict) else {}
    return page.get("offset") == 0 and page.get("count", 0) < page.get("limit", 0)


def _is_asked_for(name: str, look: Look) -> bool:
    """Whether a condition of a list has an id or key as a whole value."""
    return any(
        value == name if parameter.startswith("var.") else f'"{name}"' in value
        for parameter, value in look.parameters
        if parameter.startswith(("where", "filter", "var."))
    )


# Checks whether a repeated request makes the trouble worse. Each returns the detail of a finding, or None.


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

    After a read this counts only if the service itself answers 409 again, because after a made-up 409 the version may
    be right.
    """
    if before.status != 409 or before.is_lost or look.version is None:
        return None
    is_refused = look.status == 409 and not look.is_ordered
    if not is_refused and (has_read or not (before.is_ordered or look.status == 409)):
        return None
    return f"Request {before.number} sent version {look.version} and was 409."


def _early(before: Look, look: Look) -> str | None:
    waited_s = look.began - before.entry.answered_at
    if before.is_lost or before.retry_after is None or waited_s + _EARLY_S >= before.retry_after:
        return None
    asked = f"Request {before.number} was answered with Retry-After: {before.retry_after}"
    return f"{asked}; this one came {max(0.0, waited_s):.2f} s later."


def _unsafe(before: Look, look: Look, *, has_looked: bool) -> str | None:
    """The detail if a repeated POST makes, or may make, a second resource, unless the client has looked first."""
    if look.operation != "createOrUpdateResource" or not isinstance(look.json, dict):
        return None
    if not {"id", "key", "version"}.isdisjoint(look.members) or "if-match" in look.headers:
        return None
    if not (before.is_lost or ((before.status or 0) >= 500 and before.is_ordered)):
        return None
    if has_looked and not before.was_carried_out:
        return None
    if before.was_carried_out:
        return f"Request {before.number} was the same and was carried out: there are two resources."
    return f"Request {before.number} was the same, and the client cannot know that it was not carried out."


def _hammered(story: Story, look: Look) -> str | None:
    if len(story.began) < HAMMERED or (within := look.began - story.began[0]) >= _HAMMERED_S:
        return None
    return f"It was sent again {HAMMERED} times within {within:.2f} s."
