"""What the sandbox finds in the requests of a client while it is put through the scenarios.

A client that fails a scenario of behaviour has a finding, if a journal can show for certain what it did wrong, and a
client that passes all scenarios has none.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from sample_resource_testkit.client.registry import scenarios
from sample_resource_testkit.client.runner import Cast, Result, run
from sample_resource_testkit.client.stage import MARK, Shared, Stage
from sample_resource_testkit.sandbox import SandboxServer

ORDERED = {"C-err-12": {"offsetTooLarge"}}
"""Findings that scenarios call for: their calls have what the sandbox advises against."""

CLIENT_OF_ITS_OWN = "connectionForEachRequest"
"""In the project that scenarios of requests share each of them has a client of its own, and most send one request."""

CALLS_AT_ONCE = "calls at the same time may be those of several programs"
NO_REPETITION = "nothing is said of a client that does not try again"
ON_ORDER = "an answer on order can be another one for the next test, which sends the same request"
RIGHT_FOR_OTHERS = "other clients do so with good reason"
SCRIPTED = "a script answers, and no sandbox has a journal of it"
RESULT = "it is about what the client returns"

AGREED: dict[str, str] = {
    "C-do-1": RESULT,
    "C-do-2": RIGHT_FOR_OTHERS,
    "C-do-3": "the journal leaves secrets out before anybody looks at it",
    "C-do-4": "tokenForEachRequest",
    "C-do-5": CALLS_AT_ONCE,
    "C-do-6": RIGHT_FOR_OTHERS,
    "C-do-7": RIGHT_FOR_OTHERS,
    "C-do-8": "refusedTokenRepeated",
    "C-do-9": NO_REPETITION,
    "C-do-10": "refusedTokenRepeated",
    "C-do-11": CALLS_AT_ONCE,
    "C-do-12": NO_REPETITION,
    "C-do-13": RIGHT_FOR_OTHERS,
    "C-do-14": RESULT,
    **{f"C-do-{number}": "retryBeforeRetryAfter" for number in range(15, 21)},
    "C-do-21": RESULT,
    "C-do-22": "retryBeforeRetryAfter",
    **{f"C-do-{number}": "unsafeRepetition" for number in range(23, 30)},
    "C-do-30": "refusedRequestRepeated",
    "C-do-31": ON_ORDER,
    "C-do-32": "a condition that fails may hold later, and some clients wait for it",
    **{f"C-do-{number}": ON_ORDER for number in range(33, 37)},
    "C-do-37": "an update with the current version is what a client should send, if it has looked at the resource",
    "C-do-38": "staleVersionRepeated",
    "C-do-39": RESULT,
    "C-do-40": RESULT,
    "C-do-41": "retriedWithoutPause",
    "C-do-42": RESULT,
    "C-do-43": "connectionForEachRequest",
    "C-do-44": "some servers end the connection with an error, and clients expect it",
    "C-do-45": SCRIPTED,
    "C-do-46": SCRIPTED,
    "C-do-47": RIGHT_FOR_OTHERS,
    "C-do-48": RESULT,
    "C-do-49": RESULT,
    "C-do-50": "retiredHeader",
    "C-do-51": "needlessEncoding",
    "C-do-52": "retiredHeader",
    "C-do-53": "the service takes such a header as HTTP has it, and nothing is lost",
    "C-do-54": "several programs may ask for tokens at the same time",
    "C-do-55": NO_REPETITION,
    "C-do-56": RESULT,
    "C-do-57": RESULT,
    "C-do-58": "staleVersionRepeated",
    "C-do-59": "staleVersionRepeated",
    "C-do-60": NO_REPETITION,
    "C-do-61": "unsafeRepetition",
}
"""Of each scenario of behaviour the finding that a client gets which fails it, or why no journal can tell."""

PROVOKED: dict[str, tuple[str, str]] = {
    "a token is asked for by each call": ("C-do-4", "tokenForEachRequest"),
    "a refused token is not replaced": ("C-do-8", "refusedTokenRepeated"),
    "refused tokens are replaced again and again": ("C-do-10", "refusedTokenRepeated"),
    "a list whose answer is lost is sent without end": ("C-do-41", "retriedWithoutPause"),
    "a resource is deleted with the version that was tried first": ("C-do-59", "staleVersionRepeated"),
    "Retry-After is not waited for": ("C-do-18", "retryBeforeRetryAfter"),
    "a long Retry-After is waited for a second": ("C-do-22", "retryBeforeRetryAfter"),
    "a POST without a key is repeated after a 503": ("C-do-23", "unsafeRepetition"),
    "a 500 is repeated": ("C-do-24", "unsafeRepetition"),
    "a 502 is repeated": ("C-do-25", "unsafeRepetition"),
    "any request whose connection breaks is repeated": ("C-do-28", "unsafeRepetition"),
    "a POST is sent again within its time limit": ("C-do-29", "unsafeRepetition"),
    "a 400 is repeated": ("C-do-30", "refusedRequestRepeated"),
    "a 409 is repeated": ("C-do-38", "staleVersionRepeated"),
    "each call has a connection of its own": ("C-do-43", "connectionForEachRequest"),
    "a header that is no longer read is sent": ("C-do-52", "retiredHeader"),
    "letters and digits are percent-encoded": ("C-do-51", "needlessEncoding"),
    "booleans are written as in Python": ("C-req-42", "booleanInOtherCase"),
    "the version is sent as a text": ("C-req-5", "numberAsText"),
}
"""Planted faults, each with a scenario that fails and what the sandbox finds meanwhile."""


@dataclass
class Watched(Cast):
    """A run that keeps what the sandbox finds.

    :ivar found: for each scenario the ids of findings in the requests of the client.
    :ivar results: what became of the scenarios.
    """

    found: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    results: dict[str, Result] = field(default_factory=dict[str, Result])

    def stage(self, number: str, adapter: Any, shared: Shared) -> Stage:
        """The world of a scenario, whose journal is read before it ends."""
        stage = super().stage(number, adapter, shared)
        former = stage.end

        def end() -> None:
            self.found[number] = _findings(stage, self.server, shared)
            former()

        stage.end = end  # type: ignore[method-assign]
        return stage


def _findings(stage: Stage, server: SandboxServer, shared: Shared) -> list[str]:
    project = stage.project
    if not project.key.startswith("sb-"):
        return []
    # Of a project that is shared, what the scenarios before have sent is theirs.
    seen = shared.seen if project is shared.project else 0
    page = server.order("GET", f"/sandbox/projects/{project.key}/requests?limit=200")
    return [
        finding["id"]
        for entry in page["results"]
        if entry["number"] > seen and not any(value.startswith(MARK) for _, value in entry["request"]["headers"])
        for finding in entry["findings"]
        if not (project is shared.project and finding["id"] == CLIENT_OF_ITS_OWN)
    ]


def watched(server: SandboxServer, command: Sequence[str], numbers: Collection[str], jobs: int = 3) -> Watched:
    """Put a client through scenarios, and keep what the sandbox finds."""
    cast = Watched(command, server, timeout_s=20, start_timeout_s=60)
    cast.results = run(cast, scenarios(), numbers, jobs)
    return cast
