"""A call that was made, and what can be expected of it. Each ``expect_...`` returns the call, and raises Wrong."""

from collections.abc import Callable
from typing import Any

from sample_resource_testkit.client import meaning
from sample_resource_testkit.client.messages import Returned, Sent, Wrong, as_json
from sample_resource_testkit.client.operations import Call, expected

UNSET = object()

_LATE_S = 5.0
"""How much longer than its time limit a call may take on a busy machine."""


class Done:
    """A call, what the client returned, and what it sent.

    :param requests: reads the requests that came after the call began.
    """

    def __init__(self, call: Call, returned: Returned, requests: Callable[[], list[Sent]]) -> None:
        self.call = call
        self.returned = returned
        self._requests = requests
        self._sent: list[Sent] | None = None

    @property
    def sent(self) -> list[Sent]:
        """The requests since the last ones that were read before the call, oldest first.

        They are read when they are first asked for: do so before the next call, or they have those of that one too.
        """
        if self._sent is None:
            self._sent = self._requests()
        return self._sent

    def wrong(self, reason: str, *, wanted: str = "", sent: Sent | None = None) -> Wrong:
        """The exception that says that this call went wrong.

        :param sent: the request that shows it; by default the last one.
        """
        shown = sent or (self.sent[-1] if self.sent else None)
        return Wrong(
            reason,
            call=self.call.told(),
            sent="nothing" if shown is None else shown.told(),
            expected=wanted,
            answer="" if shown is None else shown.answer_told(),
            returned=self.returned.told(),
        )

    def expect(self, condition: bool, reason: str, wanted: str = "") -> "Done":
        """Expect something that no other method says.

        :param reason: what is wrong if it does not hold.
        """
        if not condition:
            raise self.wrong(reason, wanted=wanted)
        return self

    # The request

    def expect_request(self, project: str) -> "Done":
        """Expect one request that means what the call says."""
        wanted = expected(self.call, project)
        if not self.sent:
            reason = "no request was sent"
            if self.returned.error is not None:
                reason += f": the client raised {as_json(dict(self.returned.error))}"
            raise self.wrong(reason, wanted=wanted.told())
        for sent in self.sent:
            found = meaning.of_request(wanted, sent)
            if found is not None:
                raise self.wrong(found, wanted=wanted.told(), sent=sent)
        return self

    def expect_requests(self, count: int) -> "Done":
        """Expect that so many requests were sent."""
        found = len(self.sent)
        told = f"{found} requests were sent" if found != 1 else "one request was sent"
        return self.expect(found == count, f"{told}, and not {count}")

    # The answer

    def expect_success(self) -> "Done":
        """Expect that the client raised nothing."""
        error = self.returned.error
        return self.expect(error is None, f"the client raised an error for a call that succeeded: {as_json(error)}")

    def expect_result(self, wanted: Any = UNSET) -> "Done":
        """Expect that the result means what the answer said, or another value.

        ``meta``, if the client shows it, has to be that of the answer too.
        """
        self.expect_success()
        last = self.sent[-1] if self.sent else None
        if wanted is UNSET:
            wanted = meaning.loads(last.answer) if last is not None and last.answer else None
        found = meaning.of_value(self.returned.result, wanted, result=True)
        if found is not None:
            raise self.wrong(f"the client returned something else than the answer: {found}", wanted=as_json(wanted))
        if last is not None:
            self._expect_meta(last)
        return self

    def expect_known(self, wanted: Any) -> "Done":
        """Expect that the result has a value, and pass over members that the value does not have."""
        self.expect_success()
        found = meaning.of_value(meaning.known(self.returned.result, wanted), wanted, result=True)
        if found is not None:
            raise self.wrong(f"the client returned something else than the answer: {found}", wanted=as_json(wanted))
        return self

    def _expect_meta(self, last: Sent) -> None:
        headers = {name.lower(): value for name, value in last.answer_headers}
        of_answer: dict[str, Any] = {
            "status": last.status,
            **{name: headers.get(name) for name in ("etag", "location")},
        }
        for name, value in self.returned.meta.items():
            if name in of_answer and value is not None and of_answer[name] not in (None, value):
                raise self.wrong(f"{name} of the answer is {of_answer[name]!r}, and the client shows {value!r}")

    # The error

    def expect_error(self, kind: str, **members: Any) -> "Done":
        """Expect an error of a kind, with these members.

        :param kind: one, or several with blanks between them.
        """
        error = self.returned.error
        wanted = as_json({"error": {"kind": kind.replace(" ", " or "), **members}})
        if error is None:
            told = as_json(self.returned.result)
            raise self.wrong(f"the client reported success, and returned {told}", wanted=wanted)
        if error["kind"] not in kind.split():
            reason = f"the kind of the error is {error['kind']}, and not {kind.replace(' ', ' or ')}"
            raise self.wrong(reason, wanted=wanted)
        for name, value in members.items():
            if error.get(name) is None:
                raise self.wrong(f"the error does not show {name}", wanted=wanted)
            found = meaning.of_value(error[name], value, result=True)
            if found is not None:
                raise self.wrong(f"{name} of the error is wrong: {found}", wanted=wanted)
        return self

    def expect_in_time(self, limit_s: float) -> "Done":
        """Expect that the call took no longer than its time limit, with some seconds for a busy machine."""
        reason = f"the call took {self.returned.elapsed_s:.1f} s, and its time limit is {limit_s:g} s"
        return self.expect(self.returned.elapsed_s <= limit_s + _LATE_S, reason)
