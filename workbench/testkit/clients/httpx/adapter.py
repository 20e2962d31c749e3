"""A client on httpx, driven by the conformance kit: the reference of what a client should do.

``sample-resource-conformance client -- python adapter.py``
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

import httpx

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
PROJECTIONS = "product-projection-search"

OPERATIONS = {
    "listResources": ("GET", ""),
    "checkResources": ("HEAD", ""),
    "createOrUpdateResource": ("POST", ""),
    "createOrOverwriteResource": ("PUT", ""),
    "overwriteResource": ("PATCH", ""),
    "getResourceById": ("GET", "/{id}"),
    "updateResourceById": ("POST", "/{id}"),
    "deleteResourceById": ("DELETE", "/{id}"),
    "getResourceByKey": ("GET", "/key={key}"),
    "searchResources": ("GET", "/searchApiPattern"),
    "searchProductProjections": ("POST", f"/{PROJECTIONS}"),
    "listResourcesSorted": ("GET", "/sorted-query-parameters"),
    "postWithAllOptions": ("POST", "/artificially-complex/path/uri-parameter-one={uriParameterOne}/{uriParameterTwo}"),
    "postDescriptionWithLinks": ("POST", "/description-with-urn-links"),
}
"""Method, and path below ``/{projectKey}/resource``."""

HEADERS = {"If-Match", "If-None-Match", "X-Correlation-ID", "Prefer", "Accept"}

SAFE_METHODS = {"GET", "HEAD"}

REPEATABLE_METHODS = {*SAFE_METHODS, "PUT", "DELETE"}

TRUSTED = httpx.create_ssl_context()
"""Read once, since it takes longer than all else that a new client does."""


class Failure(Exception):
    """What the client raises: an error in the form of the adapter's protocol."""

    def __init__(self, kind: str, **shown: Any) -> None:
        super().__init__(kind)
        self.shown = {"kind": kind, **{name: value for name, value in shown.items() if value is not None}}


# What is sent


def text(value: Any) -> str:
    """A scalar as a query has it, and an object as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def pairs(arguments: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and values of a query or a form: lists as repetitions, ``var`` and ``text`` under names of their own."""
    for name, value in arguments.items():
        if name in ("var", "text") and value is not None:
            yield from pairs({f"{name}.{key}": given for key, given in value.items()})
        elif value is not None:
            for item in value if isinstance(value, list) else [value]:
                yield name, text(item)


def encoded(found: Iterator[tuple[str, str]]) -> str:
    return urlencode(list(found), quote_via=quote, safe="")


def segment(value: str) -> str:
    return quote(value, safe="")


def target(operation: str, arguments: dict[str, Any]) -> str:
    """Path and query. Arguments that stand in the path, or are headers, are taken out of the query."""
    path = OPERATIONS[operation][1]
    in_path = re.findall(r"{(\w+)}", path)
    path = path.format_map({name: segment(arguments[name]) for name in in_path})
    query = encoded(pairs({name: arguments[name] for name in arguments if name not in (*in_path, *HEADERS)}))
    return f"{path}?{query}" if query else path


def headers_of(arguments: dict[str, Any]) -> dict[str, str]:
    return {name: arguments[name] for name in arguments if name in HEADERS and arguments[name] is not None}


def content(operation: str, body: Any) -> tuple[bytes | None, dict[str, str]]:
    """The body, and the header that says what it is."""
    if body is None:
        return None, {}
    if operation == "searchProductProjections":
        return encoded(pairs(body)).encode(), {"Content-Type": FORM}
    return json.dumps(body, ensure_ascii=False).encode(), {"Content-Type": JSON}


def may_repeat(method: str, path: str, body: Any) -> bool:
    """Whether a request that may have been carried out can come again: it is safe, or names an id, key or version."""
    named = isinstance(body, dict) and any(body.get(name) is not None for name in ("id", "key", "version"))
    return method in REPEATABLE_METHODS or PROJECTIONS in path or named


# What comes back


def media_type(response: httpx.Response) -> str:
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def result_of(method: str, response: httpx.Response) -> Any:
    """What the client returns for an answer of success."""
    if method == "HEAD":
        return response.status_code == 200
    if response.status_code == 304:
        return None
    if media_type(response) == FORM:
        return parse_qs(response.content.decode(), keep_blank_values=True)
    try:
        value = json.loads(response.content.decode())
    except ValueError as error:
        raise Failure("decoding", message=str(error)) from error
    if media_type(response) != JSON or not isinstance(value, dict):
        raise Failure("decoding", message="the answer is no JSON object")
    return value


def error_of(response: httpx.Response) -> Failure:
    """What the client raises for any other answer. The body may be anything."""
    try:
        body = json.loads(response.content)
    except ValueError:
        body = None
    body = body if isinstance(body, dict) else {}
    errors = body.get("errors")
    errors = errors if isinstance(errors, list) else []
    first = errors[0] if errors and isinstance(errors[0], dict) else {}
    wait = response.headers.get("Retry-After", "")
    return Failure(
        "http",
        status=response.status_code,
        code=first.get("code") or body.get("error"),
        message=body.get("message"),
        currentVersion=first.get("currentVersion"),
        retryAfterSeconds=int(wait) if wait.isdecimal() else None,
        errors=errors or None,
    )


def meta_of(response: httpx.Response) -> dict[str, Any]:
    shown = {"etag": response.headers.get("ETag"), "location": response.headers.get("Location")}
    return {"status": response.status_code, **{name: value for name, value in shown.items() if value is not None}}


def is_success(operation: str, status: int) -> bool:
    return status < 300 or status == 304 or (operation == "checkResources" and status == 404)


@asynccontextmanager
async def failures() -> AsyncIterator[None]:
    """What httpx raises, as what this client raises."""
    try:
        yield
    except (TimeoutError, httpx.TimeoutException) as error:
        raise Failure("timeout", message=str(error)) from error
    except httpx.DecodingError as error:
        raise Failure("decoding", message=str(error)) from error
    except httpx.TransportError as error:
        raise Failure("network", message=str(error)) from error


class Client:
    """One client of a project. It keeps its connections and its token."""

    def __init__(self, opened: dict[str, Any]) -> None:
        self.opened = opened
        self.base = f"{opened['url']}/{opened['projectKey']}/resource"
        self.limit_s = opened["timeoutMs"] / 1000
        self.attempt_s = opened.get("attemptTimeoutMs", opened["timeoutMs"]) / 1000
        self.http = httpx.AsyncClient(timeout=self.limit_s, verify=TRUSTED)
        self.token: str | None = opened["token"]
        self.good_until = float("inf")
        self.lock = asyncio.Lock()

    async def call(self, operation: str, arguments: dict[str, Any], body: Any) -> tuple[Any, dict[str, Any]]:
        """The result of an operation, and what else the answer shows.

        :raises Failure: if there is none.
        """
        method = OPERATIONS[operation][0]
        async with failures(), asyncio.timeout(self.limit_s):
            response = await self.answer(method, target(operation, arguments), headers_of(arguments), operation, body)
        if not is_success(operation, response.status_code):
            raise error_of(response)
        return result_of(method, response), meta_of(response)

    async def answer(
        self, method: str, path: str, headers: dict[str, str], operation: str, body: Any
    ) -> httpx.Response:
        """The answer that counts: after a new token for a 401, and after the wait that a 429 or 503 asks for."""
        ends = time.monotonic() + self.limit_s
        data, described = content(operation, body)
        token = await self.get_token()
        is_renewed = False
        while True:
            sent = {**headers, **described, **self.authorization(token)}
            response = await self.attempt(method, path, sent, data)
            if response.status_code == 401 and self.opened["token"] is None and not is_renewed:
                is_renewed, token = True, await self.get_token(refused=token)
            elif self.should_wait(method, path, body, response, ends):
                await asyncio.sleep(self.wait_s(response))
            else:
                return response

    async def attempt(self, method: str, path: str, headers: dict[str, str], data: bytes | None) -> httpx.Response:
        """Send a request. What is safe is sent once more if its connection breaks, or takes longer than one may."""
        for attempts_left in (1, 0):
            try:
                async with asyncio.timeout(self.attempt_s):
                    return await self.http.request(method, self.base + path, headers=headers, content=data)
            except (TimeoutError, httpx.TransportError):
                if not self.tries_again(method) or not attempts_left:
                    raise
        raise AssertionError

    def tries_again(self, method: str) -> bool:
        return method in SAFE_METHODS

    def should_wait(self, method: str, path: str, body: Any, response: httpx.Response, ends: float) -> bool:
        """Whether the answer asks to come again, and there is time for it."""
        if response.status_code not in (429, 503) or not may_repeat(method, path, body):
            return False
        return time.monotonic() + self.wait_s(response) < ends

    def wait_s(self, response: httpx.Response) -> float:
        wait = response.headers.get("Retry-After", "")
        return float(wait) if wait.isdecimal() else 0.5

    def authorization(self, token: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {token}"}

    async def get_token(self, refused: str | None = None) -> str:
        """The token, which is asked for once and kept until it ends or is refused. Calls at once wait for the same."""
        async with self.lock:
            if self.token is None or self.token == refused or time.monotonic() > self.good_until:
                self.token = await self.new_token()
            return self.token

    async def new_token(self) -> str:
        credentials = (self.opened["clientId"], self.opened["clientSecret"])
        form = {"grant_type": "client_credentials", "scope": self.opened["scope"]}
        ends = time.monotonic() + self.limit_s
        response = await self.http.post(self.opened["tokenUrl"], auth=credentials, data=form)
        while response.status_code in (429, 503) and time.monotonic() + self.wait_s(response) < ends:
            await asyncio.sleep(self.wait_s(response))
            response = await self.http.post(self.opened["tokenUrl"], auth=credentials, data=form)
        if response.status_code != 200:
            raise error_of(response)
        granted = result_of("POST", response)
        if not isinstance(granted.get("access_token"), str):
            raise Failure("decoding", message="the answer has no access_token")
        self.good_until = time.monotonic() + granted.get("expires_in", 0) * 0.9
        return granted["access_token"]


# The protocol

FEATURES = ["attempt-timeout", "reconnects", "retries", "token-refresh"]

HELLO = {"client": "httpx", "version": httpx.__version__, "features": FEATURES}

SESSIONS: dict[str, Client] = {}


async def handle(message: dict[str, Any]) -> dict[str, Any]:
    """The answer to a message."""
    if message["do"] == "hello":
        return HELLO
    session = message["session"]
    if message["do"] == "open":
        SESSIONS[session] = Client(message)
        return {"session": session, "ok": True}
    if message["do"] == "close":
        await SESSIONS.pop(session).http.aclose()
        return {"session": session, "ok": True}
    if message["operation"] not in OPERATIONS:
        return {"id": message["id"], "unsupported": f"there is no {message['operation']}"}
    try:
        client, arguments = SESSIONS[session], message.get("arguments", {})
        result, meta = await client.call(message["operation"], arguments, message.get("body"))
    except Failure as failure:
        return {"id": message["id"], "error": failure.shown}
    return {"id": message["id"], "result": result, "meta": meta}


def write(answer: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
    sys.stdout.buffer.flush()


async def main() -> None:
    """Answer each line as soon as its answer is there, until the input ends."""
    running: set[asyncio.Task[None]] = set()

    async def answer(line: bytes) -> None:
        write(await handle(json.loads(line)))

    while line := await asyncio.to_thread(sys.stdin.buffer.readline):
        task = asyncio.create_task(answer(line))
        running.add(task)
        task.add_done_callback(running.discard)
    for task in running:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(main())
