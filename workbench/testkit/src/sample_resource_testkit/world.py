"""The world of a check: callers of the server, new values, and existing resources.

Nothing here is about one clause. A resource is made by any way that the server has, and never removed, because a server
may have no DELETE. Checks tell their resources apart by keys and words that no other check, and no other run, has.
"""

import hashlib
import random
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

from sample_resource_testkit.access import Access, Credentials, ProjectClient
from sample_resource_testkit.answers import Answer, told
from sample_resource_testkit.callers import FORM as FORM
from sample_resource_testkit.callers import JSON as JSON
from sample_resource_testkit.callers import UNSET, Query
from sample_resource_testkit.callers import Caller as Caller
from sample_resource_testkit.callers import Made as Made
from sample_resource_testkit.exchanges import Exchange
from sample_resource_testkit.outcomes import Failed, NotReachable, Skipped
from sample_resource_testkit.wire import NoAnswer, NotConnected, RawAnswer, Request, Transport

T = TypeVar("T")


@dataclass(slots=True)
class Server:
    """The server that a run checks, shared by all threads of the run.

    :param tag: letters in all keys and words, which no other run has.
    :param seed: the seed of the values that checks draw.
    :param busy: requests that the server answered with 503.
    """

    transport: Transport
    access: Access
    tag: str
    seed: int = 0
    ways: "Ways" = field(default_factory=lambda: Ways())
    busy: list[Exchange] = field(default_factory=list[Exchange])


@dataclass(slots=True)
class Ways:
    """The way of making a resource that has worked last, so that the others need not be tried each time."""

    last: str = ""


class World(Caller):
    """The world of one case: a caller with all scopes for the first project, and the helpers of checks.

    :param label: the names of clause, check and case, on which values and keys depend.
    """

    def __init__(self, server: Server, label: str) -> None:
        super().__init__(self, server.access.project)
        self.server = server
        self.label = label
        self.checks = 0
        self.exchanges: list[Exchange] = []
        self.random = random.Random(f"{server.seed}/{label}")  # noqa: S311 -- repeatable values, no secrets
        self._lock = threading.Lock()
        self._words = 0

    # Values

    def key(self) -> str:
        """A new key, which no other resource has: 2 to 256 letters, digits, hyphens and underscores."""
        return f"kit-{self.word()}"

    def word(self) -> str:
        """A new word of 16 lower-case letters, which no other resource contains."""
        with self._lock:
            self._words += 1
            number = self._words
        digest = hashlib.sha256(f"{self.server.tag}/{self.label}/{number}".encode()).digest()
        return "q" + "".join(chr(ord("a") + byte % 26) for byte in digest[:15])

    def number(self) -> int:
        """A new integer of 2**52 or more, which most likely no other resource contains."""
        digest = hashlib.sha256(self.word().encode()).digest()
        return (1 << 52) + int.from_bytes(digest[:6], "big")

    # Other callers

    def caller(self, *scopes: str, client: ProjectClient | None = None) -> Caller:
        """A caller whose token has exactly the given scopes, which are named without a project.

        :raises Skipped: when the caller sends a request, if no such token can be obtained.
        """
        return Caller(self, client or self._client, scopes)

    def second(self) -> Caller:
        """A caller for the second project.

        :raises Skipped: if there is no second project.
        """
        client = self.server.access.second
        if client is None:
            raise Skipped("needs a second project: --second-project, or --sandbox")
        return Caller(self, client)

    def nobody(self) -> Caller:
        """A caller without a token."""
        return Caller(self, self._client, token="")

    def stranger(self) -> Caller:
        """A caller for the second project with the token of the first project."""
        second = self.second()
        return Caller(self, second.client, token=self.token)

    def bearer(self, token: str, project: str | None = None) -> Caller:
        """A caller with the given token, for the first project or the given one."""
        return Caller(self, self._client if project is None else ProjectClient(project), token=token)

    def empty_project(self) -> Caller:
        """A caller for an empty project, which nothing else uses.

        :raises Skipped: if no new project can be made.
        """
        return Caller(self, self.server.access.new_project())

    def two_clients(self) -> tuple[Caller, Caller]:
        """Callers of two API clients for an empty project.

        :raises Skipped: if there is no other client, or no new project can be made.
        """
        first, other = self.server.access.two_clients()
        return Caller(self, first), Caller(self, other)

    def oauth(
        self,
        form: Query | None = None,
        *,
        endpoint: str = "",
        client: ProjectClient | None = None,
        authorization: str | None = UNSET,
        **options: Any,
    ) -> Answer:
        """POST a form to the token endpoint, or to another OAuth endpoint.

        :param form: the form; by default ``grant_type=client_credentials``.
        :param endpoint: the last segment of the path, such as ``introspect``; by default that of the token endpoint.
        :param authorization: the value of the header, or None for no header; by default HTTP Basic with the client's
            credentials.
        :param options: the parameters of :meth:`Caller.request`.
        :raises Skipped: if no token endpoint is known.
        :raises Failed: if no answer comes.
        """
        access = self.server.access
        if not isinstance(access, Credentials):
            raise Skipped("needs a token endpoint: --client-id and --client-secret, or --sandbox")
        basic = f"Basic {(client or self._client).basic}" if authorization is UNSET else authorization
        target = f"{access.target.rpartition('/')[0]}/{endpoint}" if endpoint else access.target
        method = options.pop("method", "POST")
        if method == "POST" and form is None and not options.keys() & {"json", "body"}:
            form = "grant_type=client_credentials"
        request = self.request(method, form=form, target=target, authorization=basic, **options)
        answer = self._answered(request, access.transport.exchange, access.transport)
        body = _object(answer)
        if body is not None and isinstance(body.get("access_token"), str):
            access.keep(body["access_token"])
        return answer

    # Expectations

    def expect(
        self, condition: bool, expected: str, got: object = "something else", *, of: Answer | None = None
    ) -> None:
        """Expect a condition that is about more than one answer. It counts as one check.

        :param of: the answer to show; by default the last one.
        :raises Failed: if the condition is false.
        """
        self.count()
        if not condition:
            raise Failed(expected, got if isinstance(got, str) else told(got), None if of is None else of.exchange)

    def count(self) -> None:
        """Count a check."""
        with self._lock:
            self.checks += 1

    def skip(self, reason: str) -> NoReturn:
        """End the case as skipped; the reason begins with what is missing, as ``needs a second project``."""
        raise Skipped(reason)

    def not_reachable(self, reason: str) -> NoReturn:
        """End the case as not reachable, because the server does not do what the check needs."""
        raise NotReachable(reason)

    # Requests

    def deliver(self, request: Request) -> Answer:
        """Send a finished request on a separate connection, and return the answer.

        :raises Failed: if no answer comes.
        """
        return self._answered(request, self.server.transport.exchange)

    def token_for(self, client: ProjectClient, scopes: tuple[str, ...]) -> str:
        """An access token of a client.

        :raises Skipped: if no token can be obtained.
        """
        return self.server.access.token(client, scopes)

    def race(self, requests: Sequence[Request]) -> list[Answer]:
        """Send requests at the same time, each on a connection that is already open.

        :return: the answers in the order of the requests.
        :raises Failed: if a request gets no answer.
        """
        barrier = threading.Barrier(len(requests))

        def together(request: Request) -> RawAnswer:
            arrived = False

            def wait() -> None:
                nonlocal arrived
                arrived = True
                barrier.wait(self.server.transport.timeout_s)

            try:
                return self.server.transport.exchange(request, wait)
            except threading.BrokenBarrierError:
                raise NoAnswer("another request of the same race could not be sent") from None
            finally:
                if not arrived:
                    barrier.abort()

        return self.at_once(len(requests), lambda number: self._answered(requests[number], together))

    def at_once(self, count: int, work: Callable[[int], T]) -> list[T]:
        """The results of a function for 0, 1, 2, ..., called at the same time in ``count`` threads."""
        with ThreadPoolExecutor(count) as threads:
            return list(threads.map(work, range(count)))

    @contextmanager
    def connection(self) -> Generator[Callable[[Request], Answer]]:
        """A function that sends requests one after the other on one connection.

        :raises Failed: if the connection cannot be opened.
        """
        try:
            with self.server.transport.connection() as connection:
                yield lambda request: self._answered(request, connection.exchange)
        except NotConnected as error:
            raise Failed("a connection", str(error)) from None

    def _answered(
        self, request: Request, exchange: Callable[[Request], RawAnswer], transport: Transport | None = None
    ) -> Answer:
        transport = transport or self.server.transport
        complete = transport.complete(request)
        try:
            raw = exchange(complete)
        except NoAnswer as error:
            failed = Exchange(transport.origin, complete, None, str(error))
            with self._lock:
                self.exchanges.append(failed)
            raise Failed("an answer", str(error), failed) from None
        answered = Exchange(transport.origin, complete, raw)
        if raw.status == 503:
            self.server.busy.append(answered)
        with self._lock:
            self.exchanges.append(answered)
        return Answer(answered, raw, self.count)

    def seen(self, exchange: Exchange) -> Answer:
        """The answer of an exchange of another case, recorded as an answer of this case."""
        assert exchange.answer is not None  # noqa: S101 -- it is answered
        self.exchanges.append(exchange)
        return Answer(exchange, exchange.answer, self.count)

    # Resources

    def make_for(self, caller: Caller, fields: dict[str, Any], key: str) -> Made:
        """Make a resource by any way that works, for a caller; see :meth:`Caller.make`."""
        ways: dict[str, Callable[[], tuple[Answer, str]]] = {
            "POST with a key": lambda: (caller.post("", {"key": key, "objectTypeProperty": fields}), key),
            "PUT with a key": lambda: (caller.put("", {"key": key, "version": 1, "objectTypeProperty": fields}), key),
            "PUT to the key": lambda: (caller.put(f"/key={key}", {"version": 1, "objectTypeProperty": fields}), key),
            "POST without a key": lambda: (caller.post("", {"objectTypeProperty": fields}), ""),
        }
        tried: list[str] = []
        for name in sorted(ways, key=lambda way: way != self.server.ways.last):
            try:
                answer, kept = ways[name]()
            except Failed as error:
                tried.append(f"{name}: {error.got}")
                continue
            body = _object(answer)
            if answer.status in (200, 201) and body is not None:
                self.server.ways.last = name
                return Made(body, kept, answer.header("Location") or "")
            tried.append(f"{name}: {answer.status}")
        raise NotReachable(f"no way to make a resource works ({'; '.join(tried)})")


def _object(answer: Answer) -> dict[str, Any] | None:
    """The body of an answer, if it is a JSON object."""
    try:
        body = answer.json
    except Failed:
        return None
    return body if isinstance(body, dict) else None
