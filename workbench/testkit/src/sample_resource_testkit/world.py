"""What a check works with: callers of the server, values of its own, resources that are there.

Nothing here is about one clause. A resource is made by whatever way the server has, and never removed, because a server
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

from sample_resource_testkit.access import Access, Credentials, ProjectClient, SandboxAccess
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
    """The server that a run checks; all its threads share it.

    :param tag: letters that no other run has, in all keys and words.
    :param seed: of the values that checks draw.
    :param busy: what the server answered with 503.
    """

    transport: Transport
    access: Access
    tag: str
    seed: int = 0
    ways: "Ways" = field(default_factory=lambda: Ways())
    busy: list[Exchange] = field(default_factory=list[Exchange])


@dataclass(slots=True)
class Ways:
    """Which way of making a resource has worked, so that the others need not be tried each time."""

    last: str = ""


class World(Caller):
    """The world of one case: a caller with all scopes for the first project, and everything else.

    :param label: the clause, the check and the case: what values and keys depend on.
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
        """A key that no other resource has: 2 to 256 of letters, digits, hyphens and underscores."""
        return f"kit-{self.word()}"

    def word(self) -> str:
        """A word of 16 lower-case letters that stands in no other resource."""
        with self._lock:
            self._words += 1
            number = self._words
        digest = hashlib.sha256(f"{self.server.tag}/{self.label}/{number}".encode()).digest()
        return "q" + "".join(chr(ord("a") + byte % 26) for byte in digest[:15])

    def number(self) -> int:
        """An integer of 52 bits that most likely stands in no other resource; 2**52 or more."""
        digest = hashlib.sha256(self.word().encode()).digest()
        return (1 << 52) + int.from_bytes(digest[:6], "big")

    # Other callers

    def caller(self, *scopes: str, client: ProjectClient | None = None) -> Caller:
        """A caller whose token has just these scopes, which are named without a project.

        :raises Skipped: when it sends something, if no such token can be had.
        """
        return Caller(self, client or self._client, scopes)

    def second(self) -> Caller:
        """A caller for the second project.

        :raises Skipped: if there is none.
        """
        client = self.server.access.second
        if client is None:
            raise Skipped("needs a second project: --second-project, or --sandbox")
        return Caller(self, client)

    def nobody(self) -> Caller:
        """A caller without a token."""
        return Caller(self, self._client, token="")

    def stranger(self) -> Caller:
        """A caller for a project that the token is not for: of the same client, at the second project."""
        second = self.second()
        return Caller(self, second.client, token=self.token)

    def bearer(self, token: str, project: str | None = None) -> Caller:
        """A caller with any token."""
        return Caller(self, self._client if project is None else ProjectClient(project), token=token)

    def empty_project(self) -> Caller:
        """A caller for a project in which nothing is, and which nothing else uses.

        :raises Skipped: if the server can give none.
        """
        return Caller(self, self.server.access.new_project())

    def oauth(
        self,
        form: Query | None = None,
        *,
        endpoint: str = "",
        client: ProjectClient | None = None,
        authorization: str | None = UNSET,
        **options: Any,
    ) -> Answer:
        """POST a form to the token endpoint, or to another one beside it.

        :param form: by default ``grant_type=client_credentials``.
        :param endpoint: the last segment of its path, as ``introspect``; by default that of the token endpoint.
        :param authorization: None for no such header; by default HTTP Basic with the credentials of the client.
        :param options: those of :meth:`Caller.request`.
        :raises Skipped: without a token endpoint.
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

    def sandbox(self, project: str, what: str, json: Any) -> Answer:
        """Order something of the sandbox: PUT on ``/sandbox/projects/{project}/{what}``, as ``clock``.

        :raises Skipped: if the run does not use a sandbox, or this one takes no such order.
        """
        access = self.server.access
        if not isinstance(access, SandboxAccess):
            raise Skipped("needs a server with a sandbox: --sandbox")
        target = f"/sandbox/projects/{project}/{what}"
        answer = self.put(json=json, target=target, authorization=access.authorization)
        if answer.status in (404, 405):
            raise Skipped(f"needs a sandbox with '{what}': PUT {target} is {answer.status}")
        return answer

    # Expectations

    def expect(
        self, condition: bool, expected: str, got: object = "something else", *, of: Answer | None = None
    ) -> None:
        """Expect something that does not follow from one answer alone; it counts as one check.

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
        """End the case as not reachable, because the server does not do what the check rests on."""
        raise NotReachable(reason)

    # Requests

    def deliver(self, request: Request) -> Answer:
        """Send a request that is made already on a connection of its own.

        :raises Failed: if no answer comes.
        """
        return self._answered(request, self.server.transport.exchange)

    def token_for(self, client: ProjectClient, scopes: tuple[str, ...]) -> str:
        """A token of a client.

        :raises Skipped: if none can be had.
        """
        return self.server.access.token(client, scopes)

    def race(self, requests: Sequence[Request]) -> list[Answer]:
        """Send requests at the same time, each on a connection that is open already.

        :return: the answers in the order of the requests.
        :raises Failed: if one of them gets no answer.
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
        """Call a function in so many threads, with 0, 1, 2, ..., and return what they return, in that order."""
        with ThreadPoolExecutor(count) as threads:
            return list(threads.map(work, range(count)))

    @contextmanager
    def connection(self) -> Generator[Callable[[Request], Answer]]:
        """A function that sends requests one after the other on one connection.

        :raises Failed: if there is no connection.
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
        """The answer that another case got, as one of this case."""
        assert exchange.answer is not None  # noqa: S101 -- it is answered
        self.exchanges.append(exchange)
        return Answer(exchange, exchange.answer, self.count)

    # Resources

    def make_for(self, caller: Caller, fields: dict[str, Any], key: str) -> Made:
        """Make a resource as :meth:`Caller.make` says."""
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
