"""The stage of a scenario: its project, its clients, and their requests."""

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any, TypedDict, Unpack

from sample_resource_testkit.client.adapter import Adapter
from sample_resource_testkit.client.done import Done
from sample_resource_testkit.client.messages import Sent, Unsupported, Wrong
from sample_resource_testkit.client.operations import Call
from sample_resource_testkit.client.scripted import TOKEN, Reply, Scripted
from sample_resource_testkit.outcomes import NotReachable
from sample_resource_testkit.sandbox import SandboxProject, SandboxServer

MARK = "conformance-kit"
"""The beginning of the correlation id of the kit's own requests, which do not count as requests of the client."""

_JOURNAL, _SHARED_JOURNAL = 200, 20
"""How many requests are read from a scenario's own project, and from a shared one. No scenario or call sends more."""

_NO_ID = "01a2032c-47e7-7238-9557-4a15aa7b8370"

_MADE_UP = {
    "projectKey": "scripted",
    "clientId": "client-of-a-script",
    "clientSecret": "secret-of-a-script",
    "scope": "manage_test:scripted view_test:scripted",
    "accessToken": TOKEN.body["access_token"],
}
"""The project of scripted servers, which exists on no service."""


@dataclass(slots=True)
class Shared:
    """A project that scenarios share, one after the other, if they only look at requests. Its resources make no
    difference to them.

    :param seen: the number of the last request of the earlier scenarios.
    """

    project: SandboxProject | None = None
    seen: int = 0


class Wanted(TypedDict, total=False):
    """Options of a client that differ from the defaults.

    :ivar own_token: whether the client gets its token itself; by default it is given one.
    :ivar token: the token that it is given instead of a valid one.
    :ivar scope: the scope that it requests instead of all scopes.
    :ivar url: the URL of its server, instead of the service or the script.
    :ivar timeout_ms: the time limit of its calls.
    :ivar attempt_timeout_ms: the time limit of one attempt of a call, for a client that has such a limit.
    :ivar project: the key of another project than the scenario's.
    """

    own_token: bool
    token: str
    scope: str
    url: str
    timeout_ms: int
    attempt_timeout_ms: int
    project: SandboxProject


class Session:
    """An open client of the adapter."""

    def __init__(self, stage: "Stage", name: str, order: Mapping[str, Any]) -> None:
        self._stage = stage
        self._name = name
        self._order = order
        self._limit_s = order["timeoutMs"] / 1000
        self._is_open = True

    def call(self, operation: str, arguments: Mapping[str, Any] | None = None, body: Any = None) -> Done:
        """Call an operation, wait for the answer, and return the finished call."""
        return self.at_once(Call(operation, arguments or {}, body))[0]

    def read(self, number: int = 0) -> Done:
        """Make the call of :meth:`Stage.reading`."""
        return self.at_once(self._stage.reading(number))[0]

    def at_once(self, *calls: Call) -> list[Done]:
        """Make calls at the same time, and return the finished calls.

        An adapter may answer them one after the other.
        """
        stage = self._stage
        before = stage.seen
        for call in calls:
            stage.look_for(call.operation)
        waits = [
            stage.adapter.begin(self._name, call.operation, call.arguments, call.body, self._limit_s) for call in calls
        ]
        project, token = self._order["projectKey"], self._order["token"]
        return [
            Done(call, wait(), lambda: stage.requests(after=before), project, token)
            for call, wait in zip(calls, waits, strict=True)
        ]

    def close(self) -> None:
        """Close the client, if it is still open."""
        if self._is_open:
            self._is_open = False
            self._stage.adapter.close(self._name)


class Stage:
    """The stage of one scenario.

    :param number: the number of the scenario, a part of its sessions' names.
    :param timeout_ms: the time limit of calls, unless the scenario sets another.
    :param shared: the project that it may share with other scenarios.
    :param removes: whether its project is removed at its end; else the whole service is removed at the end of the run.
    :param seed: the seed of the run.
    :param trace: gets each request of the client when it is read.
    :ivar random: a generator of random values, seeded by the run's seed and the scenario's number.
    """

    def __init__(
        self,
        number: str,
        adapter: Adapter,
        server: SandboxServer,
        *,
        shared: Shared,
        timeout_ms: int = 10_000,
        removes: bool = True,
        seed: int = 0,
        trace: Callable[[str, str], None] | None = None,
    ) -> None:
        self.random = Random(f"{seed}/{number}")  # noqa: S311 -- values of tests
        self._timeout_ms = timeout_ms
        self._shared = shared
        self._uses_shared = False
        self._removes = removes
        self._trace = trace
        self.adapter = adapter
        self.number = number
        self._server = server
        self._project: SandboxProject | None = None
        self._is_made = False
        self._scripted: Scripted | None = None
        self._sessions: list[Session] = []
        self.seen = 0
        self.sent: list[Sent] = []

    @property
    def project(self) -> SandboxProject:
        """The project of this scenario. If a script answers instead of the service, its project is made up."""
        if self._project is None:
            made_up = self._scripted is not None
            self._project = SandboxProject(self._server, _MADE_UP) if made_up else self._server.make_project()
            self._is_made = not made_up
        return self._project

    def share(self) -> None:
        """Use the shared project, because the scenario only looks at requests."""
        if self._shared.project is None:
            self._shared.project = self._server.make_project()
        self._project, self.seen, self._uses_shared = self._shared.project, self._shared.seen, True

    def look_for(self, operation: str) -> None:
        """Check that the client has an operation.

        :raises Unsupported: if it does not have the operation.
        """
        listed = self.adapter.hello.operations
        if listed is not None and operation not in listed:
            raise Unsupported(f"the client has no {operation}")

    def reading(self, number: int = 0) -> Call:
        """A call of a read that the client has, for scenarios that judge how it behaves and not what it reads.

        :param number: calls with different numbers differ in their target, as far as that read permits.
        """
        listed = self.adapter.hello.operations
        for operation in ("listResources", "listResourcesSorted", "searchResources"):
            if listed is None or operation in listed:
                return Call(operation, {"limit": number} if number else {})
        return Call("getResourceById", {"id": _NO_ID if self._scripted is not None else self.make()["id"]})

    def each(self, calls: Iterable[Call], judge: Callable[[Done], object]) -> None:
        """Make calls one after the other with one client, as :meth:`all_of` does."""
        client = self.client()
        self.all_of(lambda call=call: judge(client.call(call.operation, call.arguments, call.body)) for call in calls)

    def all_of(self, parts: Iterable[Callable[[], object]]) -> None:
        """Play all parts of a scenario, and go on after one that shows a fault.

        :raises Wrong: for the first fault, with the others in ``also``.
        :raises Unsupported: if no part is wrong, and the adapter cannot make a call of one of them.
        """
        wrong: list[Wrong] = []
        unsupported: Unsupported | None = None
        for part in parts:
            try:
                part()
            except Wrong as found:
                wrong.append(found)
            except Unsupported as found:
                unsupported = unsupported or found
        if wrong:
            wrong[0].also = tuple(wrong[1:])
            raise wrong[0]
        if unsupported is not None:
            raise unsupported

    # What a scenario starts from

    def make(self, object_type: Any = None, **members: Any) -> dict[str, Any]:
        """Make a resource in the project by a request of the kit, and return it."""
        draft = {"objectTypeProperty": object_type or {}, **members}
        return self.write("POST", "", draft)

    def update(self, resource: Mapping[str, Any], *actions: Mapping[str, Any]) -> dict[str, Any]:
        """Update a resource by a request of the kit, as another writer, and return it."""
        body = {"version": resource["version"], "actions": list(actions) or [{"action": "doSomeThing"}]}
        return self.write("POST", f"/{resource['id']}", body)

    def write(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Send a request of the kit to a path below the collection, and return the body of the answer.

        :raises NotReachable: if the service refuses.
        """
        headers = {
            "Authorization": f"Bearer {self.project.token}",
            "Content-Type": "application/json",
            "X-Correlation-ID": f"{MARK}/{self.number}",
        }
        data = None if body is None else json.dumps(body).encode()
        status, answer = self._server.send(method, f"/{self.project.key}/resource{path}", data, headers)
        if status >= 400:
            raise NotReachable(f"the service answered {status} to what the scenario is given: {answer.decode()}")
        return json.loads(answer) if answer else {}

    def rules(self, *rules: Mapping[str, Any]) -> None:
        """Set the rules by which the sandbox makes requests fail."""
        self.project.rules(rules)

    def script(self, *replies: Reply) -> None:
        """Start a server with a script. Clients that are opened from now on use it instead of the service."""
        if self._scripted is not None:
            self._scripted.close()
        self._scripted = Scripted(replies)
        self.seen = 0

    def stop_script(self) -> None:
        """End the scripted server, so that connections to it are refused."""
        if self._scripted is not None:
            self._scripted.close()

    def client(self, **wanted: Unpack[Wanted]) -> Session:
        """Open a client of the adapter with the given options.

        :raises Unsupported: if the adapter has no such client.
        """
        name = f"{self.number}/{len(self._sessions) + 1}"
        order = self.order(**wanted)
        self.adapter.open(name, order)
        session = Session(self, name, order)
        self._sessions.append(session)
        return session

    def order(self, **wanted: Unpack[Wanted]) -> dict[str, Any]:
        """The members of the message that opens a client."""
        of = wanted.get("project") or self.project
        base = wanted.get("url") or (self._scripted.url if self._scripted is not None else of.server_url)
        attempt = wanted.get("attempt_timeout_ms")
        return {
            "url": base,
            "projectKey": of.key,
            "clientId": of.client_id,
            "clientSecret": of.client_secret,
            "tokenUrl": f"{base}/oauth/token",
            "scope": wanted.get("scope") or of.scope,
            "token": None if wanted.get("own_token") else wanted.get("token") or of.token,
            "timeoutMs": wanted.get("timeout_ms") or self._timeout_ms,
            **({} if attempt is None else {"attemptTimeoutMs": attempt}),
        }

    def populate(self, resources: int) -> None:
        """Give this scenario a project with this number of made-up resources."""
        self._project, self._is_made = self._server.make_project(resources=resources), True

    def read(self, path: str) -> Any:
        """The body of the service's answer to a GET of the kit, for a path below the collection."""
        return self.write("GET", path)

    def second_project(self) -> SandboxProject:
        """Make another project, which the sandbox removes when its lifetime has passed."""
        return self._server.make_project(ttlSeconds=60)

    # Requests of the client

    def requests(self, after: int = 0) -> list[Sent]:
        """The client's requests, without its token requests, oldest first."""
        return [each for each in self.all_requests() if each.operation != "getToken" and each.number > after]

    def tokens(self) -> list[Sent]:
        """The client's token requests, oldest first."""
        return [each for each in self.all_requests() if each.operation == "getToken"]

    def all_requests(self) -> list[Sent]:
        """All requests of the client, oldest first."""
        if self._scripted is not None:
            self.sent = list(self._scripted.received)
        else:
            limit = _SHARED_JOURNAL if self._uses_shared else _JOURNAL
            page = self._server.order("GET", f"/sandbox/projects/{self.project.key}/requests?limit={limit}")
            self.sent = [sent for sent in map(_of_entry, reversed(page["results"])) if not _is_kits(sent)]
        if self._trace is not None:
            for each in self.sent:
                if each.number > self.seen:
                    self._trace(self.number, f"{each.told()}\n{each.answer_told()}")
        self.seen = max((each.number for each in self.sent), default=self.seen)
        return self.sent

    def close_sessions(self) -> None:
        """Close all clients of the scenario."""
        for session in self._sessions:
            session.close()

    def end(self) -> None:
        """Remove what was made for the scenario."""
        if self._uses_shared:
            self.all_requests()
            self._shared.seen = self.seen
        if self._scripted is not None:
            self._scripted.close()
        if self._project is not None and self._is_made and self._removes:
            self._project.remove()


def _is_kits(sent: Sent) -> bool:
    return any(value.startswith(MARK) for value in sent.header("X-Correlation-ID"))


def _of_entry(entry: Mapping[str, Any]) -> Sent:
    """A request from an entry of the sandbox's journal."""
    request, response = entry["request"], entry.get("response")
    began = datetime.fromisoformat(entry["startedAt"].replace("Z", "+00:00")).timestamp()
    return Sent(
        number=entry["number"],
        operation=entry.get("operationId") or "",
        method=request["method"],
        target=request["target"],
        headers=tuple((name, value) for name, value in request["headers"]),
        body=_content(request),
        began=began,
        ended=began + (entry.get("durationMs") or 0) / 1000,
        status=None if response is None else response["status"],
        answer_headers=() if response is None else tuple((name, value) for name, value in response["headers"]),
        answer="" if response is None else _content(response).decode("utf-8", "backslashreplace"),
        connection=(entry.get("connection") or {}).get("number"),
    )


def _content(message: Mapping[str, Any]) -> bytes:
    body = message.get("body") or {}
    if "base64" in body:
        return base64.b64decode(body["base64"])
    return str(body.get("text", "")).encode()
