"""Finished calls, with methods that check them. Each ``expect_...`` returns the call, or raises Wrong."""

from collections.abc import Callable
from typing import Any

from sample_resource_testkit.client import meaning
from sample_resource_testkit.client.messages import KINDS, Returned, Sent, Wrong, as_json
from sample_resource_testkit.client.operations import Call, Expected, expected

UNSET = object()

REFUSED = 401
"""The status of a request whose token is not accepted."""

ANY_KIND = " ".join(KINDS)

_LATE_S = 5.0
"""How many seconds longer than its time limit a call may take on a busy machine."""


class Done:
    """A finished call, with its requests and the result of the client.

    :param requests: reads the requests that arrived after the call began.
    :param project: the key of the project that the client was opened for.
    :param token: the token that the client was given; None if it gets one itself.
    """

    def __init__(
        self, call: Call, returned: Returned, requests: Callable[[], list[Sent]], project: str, token: str | None
    ) -> None:
        self.call = call
        self.returned = returned
        self._requests = requests
        self._project = project
        self._token = token
        self._sent: list[Sent] | None = None

    @property
    def sent(self) -> list[Sent]:
        """The requests that arrived since the last reading before the call, oldest first.

        They are read at the first access. Read them before the next call, or they include the requests of that call.
        """
        if self._sent is None:
            self._sent = self._requests()
        return self._sent

    def wrong(
        self, reason: str, *, wanted: str = "", sent: Sent | None = None, cause: str = "", is_request: bool = False
    ) -> Wrong:
        """The exception for a fault of this call.

        :param sent: the request that shows the fault; by default the last one.
        :param cause: see :class:`Wrong`.
        """
        shown = sent or (self.sent[-1] if self.sent else None)
        return Wrong(
            reason,
            cause=cause,
            is_request=is_request,
            call=self.call.told(),
            sent="nothing" if shown is None else shown.told(),
            expected=wanted,
            answer="" if shown is None else shown.answer_told(),
            returned=self.returned.told(),
        )

    def answered_wrong(self, reason: str, cause: str = "", wanted: str = "") -> Wrong:
        """The exception for a wrong result. If the request was wrong already, it names that fault instead."""
        request = expected(self.call, self._project)
        if self._token is not None and not self.sent and (self.returned.error or {}).get("kind") == "other":
            return self._sent_nothing(request)
        # With calls at the same time, the requests of all calls are here. Only those with this call's path count, and
        # one right request among them is enough.
        own = [sent for sent in self.sent if meaning.has_path(request, sent)] or self.sent
        faults = [self._fault_of(request, sent) for sent in own]
        found = faults[-1] if faults and None not in faults else None
        if found is not None:
            reason = f"the request is another one than the call's, so its answer says nothing: {found.text}"
            return self.wrong(reason, wanted=request.told(), cause=found.cause, is_request=True)
        return self.wrong(reason, wanted=wanted, cause=cause)

    def expect(self, condition: bool, reason: str, wanted: str = "", cause: str = "") -> "Done":
        """Expect that a condition holds.

        :param reason: the sentence that says what is wrong if it does not hold.
        """
        if not condition:
            raise self.wrong(reason, wanted=wanted, cause=cause)
        return self

    # The request

    def expect_request(self) -> "Done":
        """Expect exactly one request, which means what the call says."""
        wanted = expected(self.call, self._project)
        if not self.sent:
            raise self._sent_nothing(wanted)
        for sent in self.sent:
            found = self._fault_of(wanted, sent) if sent.status == REFUSED else meaning.of_request(wanted, sent)
            if found is not None:
                raise self.wrong(found.text, wanted=wanted.told(), sent=sent, cause=found.cause, is_request=True)
        return self

    def _sent_nothing(self, wanted: Expected) -> Wrong:
        error = self.returned.error
        reason = "no request was sent" + ("" if error is None else f": the client raised {as_json(dict(error))}")
        cause = f"{self.call.operation}: no request is sent"
        return self.wrong(reason, wanted=wanted.told(), cause=cause, is_request=True)

    def expect_no_null(self) -> "Done":
        """Expect that no member in the bodies of requests is null. A null changes nothing, because it means the same as
        no member (4-18)."""
        wanted = expected(self.call, self._project)
        for sent in self.sent:
            found = meaning.nulls_of(wanted, sent)
            if found is not None:
                raise self.wrong(found.text, wanted=wanted.told(), sent=sent, cause=found.cause)
        return self

    def _fault_of(self, wanted: Expected, sent: Sent) -> meaning.Difference | None:
        """The fault of a request, if any. Its token is compared first: no body is kept of a request with a refused
        token."""
        return self._authorization_of(sent) or meaning.of_request(wanted, sent)

    def expect_authorization(self) -> "Done":
        """Expect that each request has the token that the client was given."""
        for sent in self.sent:
            found = self._authorization_of(sent)
            if found is not None:
                wanted = f"Authorization: Bearer …{self._token_end()}"
                raise self.wrong(found.text, wanted=wanted, sent=sent, cause=found.cause, is_request=True)
        return self

    def _token_end(self) -> str:
        """The last six characters of the token, which the journal shows."""
        return (self._token or "")[-6:]

    def _authorization_of(self, sent: Sent) -> meaning.Difference | None:
        found = sent.header("Authorization")
        if self._token is None or (
            len(found) == 1 and found[0].lower().startswith("bearer ") and found[0].endswith(self._token_end())
        ):
            return None
        shown = " and ".join(found) or "missing"
        text = f"Authorization is {shown}, and not Bearer with the token that was given"
        return meaning.Difference(text, "the header Authorization")

    def expect_requests(self, count: int) -> "Done":
        """Expect that exactly ``count`` requests were sent."""
        found = len(self.sent)
        told = f"{found} requests were sent" if found != 1 else "one request was sent"
        return self.expect(found == count, f"{told}, and not {count}", cause="another number of requests for a call")

    # The answer

    def at(self, *path: str) -> Any:
        """The value at a path in the result. In a list, the list of the values in all items.

        :raises Wrong: if the result has no such path.
        """
        found = self.expect_success().returned.result
        for position, name in enumerate(path):
            items = found if isinstance(found, list) else [found]
            if not all(isinstance(item, dict) and name in item for item in items):
                place = ".".join(path[: position + 1])
                raise self.answered_wrong(
                    f"the result has no {place}: {as_json(found)}", f"results: {place} is missing"
                )
            found = [item[name] for item in items] if isinstance(found, list) else items[0][name]
        return found

    def expect_success(self) -> "Done":
        """Expect that the client raised nothing."""
        error = self.returned.error
        if error is None:
            return self
        last = self.sent[-1] if self.sent else None
        if last is None:
            why, cause = "sent nothing", f"{self.call.operation}: no request is sent"
        elif error["kind"] != "http" and last.status is not None and last.status < 400:
            why, cause = f"raised an error for an answer of {last.status}", f"an error for {last.status}"
        else:
            after = f" after an answer of {last.status}" if error["kind"] == "http" else ""
            why, cause = f"gave up{after}", f"gives up{after or ' after a lost answer'}"
        raise self.answered_wrong(f"the client {why}: {as_json(dict(error))}", cause)

    def expect_result(self, wanted: Any = UNSET) -> "Done":
        """Expect that the result means the same as the answer, or as the given value.

        If the client shows ``meta``, it has to be that of the answer too.
        """
        self.expect_success()
        last = self.sent[-1] if self.sent else None
        if wanted is UNSET:
            wanted = meaning.loads(last.answer) if last is not None and last.answer else None
        self._expect_value(self.returned.result, wanted)
        if last is not None:
            self._expect_meta(last)
        return self

    def expect_known(self, wanted: Any) -> "Done":
        """Expect that the result means a value. Members that the value does not have are ignored."""
        self.expect_success()
        self._expect_value(meaning.known(self.returned.result, wanted), wanted)
        return self

    def _expect_value(self, found: Any, wanted: Any) -> None:
        difference = meaning.of_value(found, wanted, result=True)
        if difference is not None:
            reason = f"the client returned something else than the answer: {difference.text}"
            raise self.answered_wrong(reason, f"results: {difference.cause}", as_json(wanted))

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

    def expect_error(self, kind: str = ANY_KIND, **members: Any) -> "Done":
        """Expect an error of a kind with the given members.

        :param kind: one kind, or several separated by spaces; by default any.
        """
        error = self.returned.error
        wanted = as_json({"error": {"kind": kind.replace(" ", " or "), **members}})
        if error is None:
            told = as_json(self.returned.result)
            raise self.answered_wrong(f"the client reported success, and returned {told}", self._success_for(), wanted)
        found = error["kind"]
        if found not in kind.split():
            reason = f"the kind of the error is {found}, and not {kind.replace(' ', ' or ')}"
            raise self.answered_wrong(reason, f"errors of the kind {found} in place of {kind}", wanted)
        for name, value in members.items():
            if error.get(name) is None:
                raise self.answered_wrong(f"the error does not show {name}", f"errors without {name}", wanted)
            difference = meaning.of_value(error[name], value, result=True)
            if difference is not None:
                reason = f"{name} of the error is wrong: {difference.text}"
                raise self.answered_wrong(reason, f"errors with another {name}", wanted)
        return self

    def _success_for(self) -> str:
        """The cause of the fault that the client took an answer for a success."""
        status = self.sent[-1].status if self.sent else None
        if status is None:
            return "success for a call without an answer"
        return "success for an answer that cannot be read" if status < 300 else f"success for a {status}"

    def expect_in_time(self, limit_s: float) -> "Done":
        """Expect that the call took no longer than its time limit, with some seconds for a busy machine."""
        reason = f"the call took {self.returned.elapsed_s:.1f} s, and its time limit is {limit_s:g} s"
        return self.expect(self.returned.elapsed_s <= limit_s + _LATE_S, reason, cause="calls beyond their time limit")
