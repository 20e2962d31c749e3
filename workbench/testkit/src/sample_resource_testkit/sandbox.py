"""Throwaway projects in the sandbox of a server, for tests of clients.

The fixtures of :mod:`.plugin` give these objects to tests. They can be used without pytest as well::

    service = SandboxServer("http://127.0.0.1:8000")
    project = service.make_project(resources=3)
"""

import contextlib
import http.client
import json
import ssl
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote, urlencode, urlsplit

from sample_resource_testkit.journal import (
    ANYTHING,
    JournalEntry,
    Times,
    Values,
    fits,
    times_order,
    told,
)

JOURNAL_LENGTH = 1_000
"""How many of the last requests of a project the server keeps."""

_PAGE = 500

_TIMEOUT_S = 75.0


class SandboxError(Exception):
    """The server refused an order, or did not answer. The message has its answer.

    :param refusal: the message of a 400, which says what is wrong with the order; None for any other error.
    """

    def __init__(self, text: str, refusal: str | None = None) -> None:
        super().__init__(text)
        self.refusal = refusal


class UnexpectedRequests(AssertionError):
    """The client has not sent the requests that a test expects."""


class SandboxServer:
    """A running service whose sandbox is on.

    :param url: the URL of the service, without a slash at its end.
    :param token: the value of ``SANDBOX_TOKEN``, if the service has one.
    :param run: the name of the run that new projects belong to; None for no run.
    """

    def __init__(self, url: str, token: str = "", run: str | None = None) -> None:
        self.url = url.rstrip("/")
        self.token_url = f"{self.url}/oauth/token"
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no URL with http:// or https:// and a host")
        self._parts = parts
        self._token = token
        self.run = run

    def make_project(self, **order: Any) -> "SandboxProject":
        """Make a project.

        :param order: members of the body of ``POST /sandbox/projects``: ``resources=100``, ``scope="view_test"``,
            ``copyOf=...``, ``ttlSeconds=...``, ``clock={...}``, ``ids={...}``, ``run=...``, and
            ``allow=["staleVersionRepeated"]`` (findings that are not reported).
        :raises SandboxError: if the server refuses.
        """
        if self.run is not None:
            order.setdefault("run", self.run)
        return SandboxProject(self, {**self.order("POST", "/sandbox/projects", order), "run": order.get("run")})

    def verdict(self, *, allow: Sequence[str] = ()) -> tuple[bool, str]:
        """Whether the clients of the run pass, and the report on them as text.

        :param allow: the ids of findings that are expected, such as ``staleVersionRepeated``.
        :raises SandboxError: if the server has no such run, or does not know a finding.
        """
        if self.run is None:
            raise SandboxError("the projects of this server belong to no run")
        path = f"/sandbox/runs/{quote(self.run, safe='')}/verdict?{urlencode({'allow': allow}, doseq=True)}"
        status, answered = self._answered("GET", path, None, also=409)
        return status == 200, answered.decode().rstrip("\n")

    def order(self, method: str, path: str, body: Any = None, *, also: int | None = None) -> Any:
        """Send a request to the sandbox.

        :param path: the path below the URL of the service.
        :param body: a value for a JSON body; None for no body.
        :param also: a further status that is no error.
        :return: the JSON value of the answer; None if it has no body.
        :raises SandboxError: for a status of 300 or more (no redirect is followed), or if the server does not answer.
        """
        _, answered = self._answered(method, path, body, also=also)
        return json.loads(answered) if answered else None

    def _answered(self, method: str, path: str, body: Any, *, also: int | None = None) -> tuple[int, bytes]:
        headers = {"Accept": "application/json"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        status, answered = self.send(method, path, data, headers)
        if status >= 300 and status != also:
            off = f"{self.url} has no sandbox: start the service with SANDBOX=on. "
            is_off = status == 404 and path == "/sandbox/projects"
            told = f"{method} {self.url}{path} was answered {status}: {answered.decode(errors='replace')}"
            raise SandboxError(off + told if is_off else told, _message_of(answered) if status == 400 else None)
        return status, answered

    def send(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Send a request on a separate connection, and return status and body of the answer.

        :raises SandboxError: if the server does not answer.
        """
        try:
            with contextlib.closing(self._connect()) as connection:
                connection.request(method, self._parts.path + path, data, dict(headers))
                answer = connection.getresponse()
                return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise SandboxError(f"{method} {self.url}{path} was not answered: {error}") from error

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=context)
        return http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)


class SandboxProject:
    """A throwaway project, with an API client and a token.

    :ivar key: the project key.
    :ivar url: the URL of the project, as ``http://127.0.0.1:8000/sb-abcdefghijkl``; its resources are below
        ``/resource``.
    :ivar server_url: the URL of the service.
    :ivar token: a bearer token with all scopes of the client.
    :ivar client_id: the id of the API client.
    :ivar client_secret: the secret of the API client.
    :ivar scope: the scopes that the client may request.
    :ivar run: the name of the run that the project belongs to; None for no run.
    :ivar token_url: the URL of the token endpoint.
    """

    def __init__(self, server: SandboxServer, made: Mapping[str, Any]) -> None:
        self._server = server
        self._path = f"/sandbox/projects/{made['projectKey']}"
        self.key: str = made["projectKey"]
        self.server_url: str = server.url
        self.url = f"{server.url}/{self.key}"
        self.token: str = made["accessToken"]
        self.client_id: str = made["clientId"]
        self.client_secret: str = made["clientSecret"]
        self.scope: str = made["scope"]
        self.token_url = server.token_url
        self.run: str | None = made.get("run")
        self._told_before: list[str] = []

    def __repr__(self) -> str:
        return f"<SandboxProject {self.url}>"

    # Faults

    def rules(self, rules: Sequence[Mapping[str, Any]]) -> None:
        """Replace the rules that make requests fail.

        All rules that match a request and are due act in their order, until one gives an answer. An empty list removes
        all rules.

        :param rules: rules as the documentation of the sandbox describes them.
        :raises SandboxError: if a rule is not valid. The message names the rule, and no rule is changed.
        """
        self._server.order("PUT", f"{self._path}/rules", {"rules": [dict(rule) for rule in rules]})

    def rule_counts(self) -> list[dict[str, int]]:
        """For each rule, how often it has ``matched`` and how often it has ``acted``."""
        listed = self._server.order("GET", f"{self._path}/rules")["rules"]
        return [{"matched": rule["matched"], "acted": rule["acted"]} for rule in listed]

    # Clock and ids

    def clock(
        self, now: datetime | str | None = None, *, offset_seconds: int | None = None, runs: bool | None = None
    ) -> None:
        """Set the project's clock, which dates writes and tells when tokens expire. The default is real time.

        :param now: the time at which the clock starts: a datetime with a time zone, or a text of RFC 3339.
        :param offset_seconds: the seconds that the clock is ahead of real time, instead of ``now``.
        :param runs: False stops the clock.
        :raises SandboxError: if the server refuses.
        """
        order: dict[str, Any] = {}
        if now is not None:
            order["now"] = _written(now)
        if offset_seconds is not None:
            order["offsetSeconds"] = offset_seconds
        if runs is not None:
            order["runs"] = runs
        self._server.order("PUT", f"{self._path}/clock", order)

    def ids(self, seed: int | None = None) -> None:
        """Make the ids of new resources the repeatable sequence of a seed, or random again without one."""
        self._server.order("PUT", f"{self._path}/ids", {} if seed is None else {"seed": seed})

    # State

    def reset(self, *, keep: Collection[Literal["rules", "requests"]] = ()) -> None:
        """Restore the resources that the project had when it was made, its clock and its ids.

        :param keep: what is not reset: ``rules``, ``requests`` or both. Otherwise the rules are removed and the journal
            is emptied. The report of a failed test shows the earlier requests all the same.
        """
        if "requests" not in keep:
            self._told_before += [told(self.journal()) or "none", "(reset)"]
        self._server.order("POST", f"{self._path}/reset", {"keep": list(keep)})

    # Requests of the client

    def journal(
        self,
        *,
        method: str | None = None,
        path: str | None = None,
        status: int | None = None,
        operation_id: str | None = None,
    ) -> list[JournalEntry]:
        """The answered requests among the last 1,000 of the project, newest first.

        :param method: only requests with this method.
        :param path: only requests with this path below the project, without the query; ``*`` stands for any characters.
        :param status: only requests with this status; see :class:`JournalEntry`.
        :param operation_id: only requests of this operation of the OpenAPI document, such as
            ``createOrUpdateResource``.
        """
        found: list[JournalEntry] = []
        narrowing = {
            name: text for name, text in (("method", method), ("operationId", operation_id)) if text is not None
        }
        for offset in range(0, JOURNAL_LENGTH, _PAGE):
            query = urlencode({**narrowing, "limit": _PAGE, "offset": offset})
            page = self._server.order("GET", f"{self._path}/requests?{query}")["results"]
            found += (JournalEntry.of(entry, self.key) for entry in page)
            if len(page) < _PAGE:
                break
        return [entry for entry in found if fits(path or "*", entry.path) and status in (None, entry.status)]

    def expect(
        self,
        method: str,
        path: str,
        *,
        times: Times | None = None,
        after: JournalEntry | Sequence[JournalEntry] | None = None,
        status: int | None = None,
        query: Mapping[str, Values] | None = None,
        headers: Mapping[str, Values] | None = None,
        body: Any = ANYTHING,
        within_ms: int = 0,
        settle_ms: int = 0,
    ) -> list[JournalEntry]:
        """Expect that the client has sent a request, and return all requests that match, oldest first.

        A parameter that is not given matches anything. In texts, ``*`` stands for any characters.

        :param path: the path below the project, not decoded.
        :param times: how often the request is expected: a number, or a pair of the least and the largest number (None:
            no limit); by default at least once.
        :param after: one or more earlier requests, which this method has returned; only later requests match.
        :param status: the status of the answer; see :class:`JournalEntry`.
        :param query: parameters by name: a value, several values, or whether the parameter is present.
        :param headers: headers by name, likewise; the letter case of names makes no difference.
        :param body: a JSON value, whose members and items the body has among others; a text, which is the whole body;
            or None for no body.
        :param within_ms: how long to wait for the requests, up to a minute.
        :param settle_ms: how long to wait for requests beyond the largest number.
        :raises UnexpectedRequests: if the client has sent fewer or more; the message shows the nearest request and its
            differences.
        """
        __tracebackhide__ = True
        earlier = [after] if isinstance(after, JournalEntry) else list(after or ())
        asked: dict[str, Any] = {
            "method": method,
            "path": path,
            "after": max((entry.number for entry in earlier), default=None),
            "times": None if times is None else times_order(times),
            "status": status,
            "query": query,
            "header": headers,
            "withinMs": within_ms,
            "settleMs": settle_ms,
        }
        order = {name: value for name, value in asked.items() if value is not None}
        if body is not ANYTHING:
            order["body"] = "" if body is None else body
        answer = self._server.order("POST", f"{self._path}/requests/expect", order, also=409)
        if "told" in answer:
            raise UnexpectedRequests(answer["told"])
        numbers = set(answer["requests"])
        return [entry for entry in reversed(self.journal()) if entry.number in numbers] if numbers else []

    def told(self) -> str:
        """All requests as text, also those before a reset; what the client gave up; and the rules that have not
        acted."""
        gave_up = (line for line in self.report()["told"].splitlines() if line.startswith("gave up: "))
        listed = self._server.order("GET", f"{self._path}/rules")["rules"]
        idle = (
            f"rule {rule.get('name', number)} never acted, and matched {rule['matched']} requests."
            for number, rule in enumerate(listed)
            if not rule["acted"]
        )
        return "\n".join([*self._told_before, told(self.journal()) or "none", *gave_up, *idle])

    def findings(self) -> list[dict[str, Any]]:
        """The findings of the report: what the client does that works and should not be so."""
        return self.report()["findings"]

    def har(self) -> dict[str, Any]:
        """The journal as a HAR 1.2 document, which browsers and other tools can open."""
        return self._server.order("GET", f"{self._path}/requests.har")

    def report(self) -> dict[str, Any]:
        """The report on the client: what the service has carried out for it, how it dealt with faults, and the
        findings."""
        return self._server.order("GET", f"{self._path}/report")

    # Tokens

    def new_token(self, scope: str | None = None) -> str:
        """Request another token from the token endpoint. The journal has the request.

        :param scope: names with or without the project, such as ``view_test``; by default all scopes of the client.
        :raises SandboxError: if the endpoint refuses.
        """
        form = {"grant_type": "client_credentials", "client_id": self.client_id, "client_secret": self.client_secret}
        if scope is not None:
            form["scope"] = " ".join(name if ":" in name else f"{name}:{self.key}" for name in scope.split())
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        status, answered = self._server.send("POST", "/oauth/token", urlencode(form).encode(), headers)
        if status != 200:
            raise SandboxError(f"the token endpoint answered {status}: {answered.decode(errors='replace')}")
        return json.loads(answered)["access_token"]

    def remove(self) -> None:
        """Remove the project with everything in it. The server does so by itself after an hour."""
        self._server.order("DELETE", self._path)


def _written(moment: datetime | str) -> str:
    """A time as a text of RFC 3339."""
    if isinstance(moment, str):
        return moment
    if moment.tzinfo is None:
        raise ValueError("the time needs a time zone, as datetime.now(UTC) has")
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _message_of(answered: bytes) -> str | None:
    """The message of an error body of the interface; None for any other body."""
    try:
        return str(json.loads(answered)["message"])
    except (ValueError, TypeError, KeyError):
        return None
