"""Callers, each of which sends requests to one project with one token, and the resources that they make."""

import json as json_text
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from sample_resource_testkit.access import ProjectClient
from sample_resource_testkit.answers import Answer
from sample_resource_testkit.outcomes import NotReachable
from sample_resource_testkit.wire import Request

Query = str | Mapping[str, object] | Sequence[tuple[str, object]]

JSON = "application/json"

FORM = "application/x-www-form-urlencoded"

UNSET: Any = object()
"""The default of parameters for which None is a value."""


class Sender(Protocol):
    """The part of a world that its callers use."""

    def key(self) -> str:
        """A new key, which no other resource has."""
        ...

    def deliver(self, request: Request) -> Answer:
        """Send a request on a separate connection, and record the exchange."""
        ...

    def token_for(self, client: ProjectClient, scopes: tuple[str, ...]) -> str:
        """An access token of a client."""
        ...

    def make_for(self, caller: "Caller", fields: dict[str, Any], key: str) -> "Made":
        """Make a resource by any way that works."""
        ...


@dataclass(frozen=True, slots=True)
class Made:
    """A resource that a check has made.

    :param body: the body of the answer that reported it.
    :param location: the ``Location`` header; empty if there was none.
    :param key: the key that it was made with; empty if the server accepts no keys.
    """

    body: dict[str, Any]
    key: str
    location: str = ""

    @property
    def id(self) -> str:
        """The id of the resource, from the body or the ``Location`` header.

        :raises NotReachable: if neither has it.
        """
        found = self.body.get("id")
        if isinstance(found, str):
            return found
        last = self.location.partition("?")[0].rpartition("/")[2]
        if last:
            return last
        raise NotReachable("no id of a resource is known: neither the body nor Location of an answer has it")

    @property
    def version(self) -> int:
        """The version of the resource.

        :raises NotReachable: if the body has no version number.
        """
        found = self.body.get("version")
        if isinstance(found, int | float) and not isinstance(found, bool):
            return int(found)
        raise NotReachable("no version of a resource is known: the body of the answer has none")


class Caller:
    """Sends requests to the resources of one project with one token.

    A path is what follows ``/{projectKey}/resource``: ``""``, ``"/key=a"``, ``"?limit=1"``. It is sent unchanged.
    """

    def __init__(
        self, sender: Sender, client: ProjectClient, scopes: tuple[str, ...] = (), token: str | None = None
    ) -> None:
        self._sender = sender
        self._client = client
        self._scopes = scopes
        self._token = token

    @property
    def project(self) -> str:
        """The key of the project."""
        return self._client.key

    @property
    def client(self) -> ProjectClient:
        """The API client, with its project and credentials."""
        return self._client

    @property
    def token(self) -> str:
        """The access token; empty for a caller without one.

        :raises Skipped: if no token can be obtained.
        """
        if self._token is not None:
            return self._token
        return self._sender.token_for(self._client, self._scopes)

    def request(
        self,
        method: str,
        path: str = "",
        json: Any = UNSET,
        *,
        query: Query = "",
        body: bytes | str | None = None,
        form: Query | None = None,
        headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        target: str | None = None,
        authorization: str | None = UNSET,
    ) -> Request:
        """A request, which can be sent later.

        :param json: a value for the body, which gets ``Content-Type: application/json``.
        :param query: a text, which is sent unchanged, or a mapping, which is percent-encoded; several values of a name
            are a list.
        :param body: bytes or text for the body, without a ``Content-Type``.
        :param form: a form for the body, given like ``query``; the request gets the content type of forms.
        :param headers: further headers. They replace the headers of the other parameters that have the same name.
        :param target: the whole request target instead of ``path``, without the URL of the server.
        :param authorization: the value of the header, or None for no header; by default the caller's token is sent.
        """
        given = list(headers) if isinstance(headers, Sequence) else list(headers.items())
        content = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
        added: list[tuple[str, str]] = []
        if authorization is UNSET:
            authorization = f"Bearer {self.token}" if self.token else None
        if authorization is not None:
            added.append(("Authorization", authorization))
        if json is not UNSET:
            content = json_text.dumps(json, ensure_ascii=False).encode("utf-8", "surrogatepass")
            added.append(("Content-Type", JSON))
        elif form is not None:
            content = encoded(form).encode()
            added.append(("Content-Type", FORM))
        names = {name.lower() for name, _ in given}
        whole = [*(pair for pair in added if pair[0].lower() not in names), *given]
        addressed = f"/{self.project}/resource{path}" if target is None else target
        asked = encoded(query)
        if asked:
            addressed += ("&" if "?" in addressed else "?") + asked
        return Request(method, addressed, tuple(whole), content)

    def send(self, method: str, path: str = "", json: Any = UNSET, **options: Any) -> Answer:
        """Send a request on a separate connection; the parameters are those of :meth:`request`.

        :raises Failed: if no answer comes.
        """
        return self._sender.deliver(self.request(method, path, json, **options))

    def get(self, path: str = "", **options: Any) -> Answer:
        """Send a GET request, as :meth:`send` does."""
        return self.send("GET", path, **options)

    def head(self, path: str = "", **options: Any) -> Answer:
        """Send a HEAD request, as :meth:`send` does."""
        return self.send("HEAD", path, **options)

    def post(self, path: str = "", json: Any = UNSET, **options: Any) -> Answer:
        """Send a POST request, as :meth:`send` does."""
        return self.send("POST", path, json, **options)

    def put(self, path: str = "", json: Any = UNSET, **options: Any) -> Answer:
        """Send a PUT request, as :meth:`send` does."""
        return self.send("PUT", path, json, **options)

    def patch(self, path: str = "", json: Any = UNSET, **options: Any) -> Answer:
        """Send a PATCH request, as :meth:`send` does."""
        return self.send("PATCH", path, json, **options)

    def delete(self, path: str = "", **options: Any) -> Answer:
        """Send a DELETE request, as :meth:`send` does."""
        return self.send("DELETE", path, **options)

    def make(self, fields: Mapping[str, Any] | None = None, *, key: str | None = None) -> Made:
        """Make a resource by any way that works: POST or PUT, with or without a key.

        :param fields: its objectTypeProperty; empty by default.
        :param key: its key; a new one by default.
        :raises NotReachable: if no way works.
        """
        return self._sender.make_for(self, dict(fields or {}), self._sender.key() if key is None else key)

    def update(self, made: Made, *actions: Mapping[str, Any] | str) -> Made:
        """Apply update actions to a resource (4.10), and return the updated resource.

        :param actions: names of actions, or objects with ``action``; by default ``doSomeThing``.
        :raises NotReachable: if the server refuses.
        """
        answer = self.post(f"/{made.id}", update_body(made.version, *actions))
        if not (200 <= answer.status < 300 and isinstance(answer.json, dict)):
            raise NotReachable(f"an update by id (4.10) was answered with {answer.status}")
        return Made(answer.json, made.key)


def update_body(version: Any, *actions: Mapping[str, Any] | str) -> dict[str, Any]:
    """The body of an update by id. A text is an action without fields; the default action is ``doSomeThing``."""
    listed = [{"action": action} if isinstance(action, str) else dict(action) for action in actions or ("doSomeThing",)]
    return {"version": version, "actions": listed}


def encoded(query: Query) -> str:
    """A query or a form as text.

    A text is returned unchanged. A mapping is percent-encoded: a list repeats its name, and booleans become ``true``
    and ``false``.
    """
    if isinstance(query, str):
        return query
    pairs = query.items() if isinstance(query, Mapping) else query
    return "&".join(
        f"{quote(name, safe='.')}={quote(_text(value), safe='')}"
        for name, listed in pairs
        for value in (listed if isinstance(listed, list | tuple) else [listed])
    )


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json_text.dumps(value, ensure_ascii=False)
