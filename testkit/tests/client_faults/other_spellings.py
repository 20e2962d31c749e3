"""Kinds of wrong that other modules plant too, each in another spelling: a verdict rests on no single one."""

import asyncio
import json
from typing import Any
from urllib.parse import quote

from client_faults import (
    behaving,
    failing,
    returning,
    sending_bodies,
    sending_parameters,
    sending_values,
)
from client_faults.planting import answering, around, fault, numbers, of_client, pairs_changed, planted, texts
from client_faults.sending_values import is_number, scalars, segments, values

body_scalars, objects = sending_bodies.scalars, sending_bodies.objects


def each_member(change: Any) -> Any:
    """Change members of bodies by name and value; None leaves one out."""
    return objects(
        lambda value: {name: made for name, item in value.items() if (made := change(name, item)) is not None}
    )


def shown(change: Any) -> Any:
    """Change members of an error by name and value; None leaves one out."""
    return failing.errors(
        lambda found, _: {name: made for name, item in found.items() if (made := change(name, item)) is not None}
    )


def of_list(name: str, change: Any) -> Any:
    """Change the values of one repeated parameter."""

    def plant(adapter: Any) -> None:
        def pairs(former: Any, arguments: Any) -> Any:
            given = arguments.get(name)
            return former({**arguments, name: change(given)} if isinstance(given, list) else arguments)

        around(adapter, "pairs", pairs)

    return plant


def of_method(method: str, change: Any) -> Any:
    """Change the requests of a method: the change gets what sends one."""

    async def changed(self: Any, send: Any, operation: str, called: str, body: Any) -> Any:
        return await change(send, body) if called == method else await send()

    return answering(changed)


async def _looks_again(send: Any, _: Any) -> Any:
    response = await send()
    if response.status_code == 200:
        await send(method="HEAD")
    return response


async def _sends_beside(send: Any, body: Any) -> Any:
    if isinstance(body, dict) and body.keys() & {"id", "key", "version"}:
        return await send()
    first = asyncio.ensure_future(send())
    done, _ = await asyncio.wait([first], timeout=0.6)
    return await (first if done else send())


async def _insists(send: Any, body: Any) -> Any:
    response = await send()
    if response.status_code >= 500 and "key" not in body and "version" not in body:
        return await send()
    return response


@fault("calls at the same time return the answer that comes first", "")
def _(adapter: Any) -> None:
    async def call(former: Any, self: Any, operation: str, *args: Any) -> Any:
        ended = self.__dict__.setdefault("ended", {}).setdefault(operation, [])
        before = len(ended)
        ended.append(made := await former(self, operation, *args))
        return ended[before] if operation == "getResourceById" else made

    around(adapter.Client, "call", call)


@fault("a token is thrown away after two calls", "")
def _(adapter: Any) -> None:
    async def get_token(former: Any, self: Any, refused: str | None = None) -> str:
        self.uses = getattr(self, "uses", 0) + 1
        if self.opened["token"] is None and self.uses % 3 == 0:
            self.token = None
        return await former(self, refused)

    around(adapter.Client, "get_token", get_token)


@fault("a token that was given is used once", "")
def _(adapter: Any) -> None:
    async def get_token(former: Any, self: Any, refused: str | None = None) -> str:
        self.uses = getattr(self, "uses", 0) + 1
        if self.opened["token"] is not None and self.uses == 2 and self.opened["projectKey"] != "scripted":
            self.token = await self.new_token()
        return await former(self, refused)

    around(adapter.Client, "get_token", get_token)


def asked_twice(when: Any) -> Any:
    """Ask for two tokens in place of one."""

    async def new_token(_: Any, former: Any, self: Any) -> str:
        if when(self):
            await former(self)
        return await former(self)

    return of_client("new_token", new_token)


@fault("all scopes are asked for, whatever was given", "")
def _(adapter: Any) -> None:
    async def new_token(former: Any, self: Any) -> str:
        given = self.opened["scope"]
        self.opened["scope"] = " ".join(f"{name}:{self.opened['projectKey']}" for name in ("manage_test", "view_test"))
        try:
            return await former(self)
        finally:
            self.opened["scope"] = given

    around(adapter.Client, "new_token", new_token)


@fault("User-Agent is sent twice", "")
def _(adapter: Any) -> None:
    async def twice(request: Any) -> None:
        request.headers = adapter.httpx.Headers([*request.headers.raw, (b"User-Agent", b"another")])

    def made(former: Any, self: Any, opened: Any) -> None:
        former(self, opened)
        self.http.event_hooks = {"request": [twice]}

    around(adapter.Client, "__init__", made)


async def _is_expired(self: Any, send: Any, *_: Any) -> Any:
    if self.opened["token"] is not None:
        return await send()
    self.opened["token"], response = "own", await send()
    self.opened["token"] = None
    return response if b"expired" in response.content else await send() if response.status_code == 401 else response


planted(
    # Requests
    ("", "paths end with a slash", lambda adapter: around(adapter, "target", lambda former, *args: (made := former(*args).partition("?"))[0] + "/" + made[1] + made[2])),
    ("", "X-Correlation-ID has another name", lambda adapter: around(adapter, "headers_of", lambda former, arguments: {"Correlation-ID" if name == "X-Correlation-ID" else name: value for name, value in former(arguments).items()})),
    ("", "the token has another scheme", sending_parameters.authorized(lambda token: {"Authorization": f"Token {token}"})),
    ("", "a plus in a query becomes a blank", values(lambda value: value.replace("+", " "))),
    ("", "a query ends at its first number sign", values(lambda value: value.partition("#")[0])),
    ("", "quotes of a query are others", values(lambda value: value.replace('"', "'"))),
    ("", "percent signs of a query are lost", values(lambda value: value.replace("%", ""))),
    ("", "texts of a query lose what ASCII does not have", values(lambda value: value.encode("ascii", "ignore").decode())),
    ("", "empty texts of a query are absent", scalars(lambda value: None if value == "" else value)),
    ("", "tabs of a query become blanks", values(lambda value: value.replace("\t", " "))),
    ("", "control characters of a query become blanks", values(lambda value: "".join(each if ord(each) >= 0x20 or each in "\t\r\n" else " " for each in value))),
    ("", "control characters of a form become blanks", sending_values.form_values(lambda value: "".join(each if ord(each) >= 0x20 else " " for each in value))),
    ("", "long texts of a query are refused by a smaller limit", values(lambda value: value[:3000])),
    ("", "a part of a path ends at its first question mark", segments(lambda value: quote(value.partition("?")[0], safe=""))),
    ("", "a slash in a path is not encoded", segments(lambda value: quote(value, safe="/"))),
    ("", "a path loses what ASCII does not have", segments(lambda value: quote(value.encode("ascii", "ignore").decode(), safe=""))),
    ("", "an empty part of a path becomes a hyphen", segments(lambda value: quote(value or "-", safe=""))),
    ("", "control characters of a path become blanks", segments(lambda value: quote("".join(each if ord(each) >= 0x20 else " " for each in value), safe=""))),
    ("", "the order of sort is the other way round", of_list("sort", lambda value: value[::-1])),
    ("", "a text that is repeated is sent once", sending_parameters.of_lists(lambda value: list(dict.fromkeys(value)))),
    ("", "commas in repeated values become semicolons", of_list("arrayOfString", lambda value: [item.replace(",", ";") for item in value])),
    ("", "a list of one value is its JSON text", of_list("where", lambda value: json.dumps(value) if len(value) == 1 else value)),
    ("", "an empty list is sent as brackets", sending_parameters.of_lists(lambda value: value or "[]")),
    ("", "lists of variables and languages are the other way round", sending_parameters.of_families(lambda value: {name: given[::-1] if isinstance(given, list) else given for name, given in value.items()})),
    ("", "languages are sent in lower case", lambda adapter: pairs_changed(adapter, lambda found: [(name.lower() if name.startswith("text.") else name, value) for name, value in found])),
    ("", "0 is sent as false", scalars(lambda value: False if is_number(value) and value == 0 else value)),
    ("", "negative numbers are sent in brackets", scalars(lambda value: f"({-value})" if is_number(value) and value < 0 else value)),
    ("", "fractions of a query are rounded", scalars(lambda value: round(value, 5) if isinstance(value, float) else value)),
    ("", "large fractions of a query are cut off", scalars(lambda value: min(value, 1e20) if isinstance(value, float) else value)),
    ("", "the largest integers of a query are rounded", scalars(lambda value: int(float(value)) if isinstance(value, int) and abs(value) > 2**62 else value)),
    ("", "objects of a query are written as in Python", scalars(lambda value: str(value) if isinstance(value, dict) else value)),
    ("", "objectParameter is sent if it is an object", scalars(lambda value: None if isinstance(value, str) and value.startswith('{"arrayOfInt') else value)),
    ("", "null is sent as the empty text", scalars(lambda value: "" if value is None else value)),
    ("", "repeated fields of a form are the other way round", sending_parameters.form_changed(lambda body: {name: value[::-1] if isinstance(value, list) else value for name, value in body.items()})),
    ("", "If-Match loses its quotes", sending_parameters.of_header("If-Match", lambda value: value.replace('"', ""))),
    ("", "If-None-Match loses its quotes", sending_parameters.of_header("If-None-Match", lambda value: value.replace('"', ""))),
    ("", "Prefer is sent without its name", sending_parameters.of_header("Prefer", lambda value: value.removeprefix("code="))),
    ("", "Accept is not sent", sending_parameters.of_header("Accept", lambda _: None)),
    # Bodies
    ("", "a field of an ObjectType has another name", objects(lambda value: {"arrayOfFloatsExample" if name == "arrayOfFloatExample" else name: item for name, item in value.items()})),
    ("", "the id is left out of a POST", sending_bodies.left_out("id", "createOrUpdateResource")),
    ("", "the id is left out of a PUT", sending_bodies.left_out("id", "createOrOverwriteResource")),
    ("", "the version is left out of a PATCH", sending_bodies.left_out("version", "overwriteResource")),
    ("", "numbers of bodies lose their sign", body_scalars(numbers(abs))),
    ("", "large integers of bodies become fractions", body_scalars(numbers(lambda value: float(value) if isinstance(value, int) and abs(value) > 2**53 else value))),
    ("", "fractions of bodies have seven digits", body_scalars(numbers(lambda value: float(f"{value:.7g}") if isinstance(value, float) else value))),
    ("", "very small numbers of bodies are sent as 0", body_scalars(numbers(lambda value: 0 if 0 < value < 1e-300 else value))),
    ("", "texts of bodies lose separators of lines", body_scalars(texts(lambda value: value.replace("\u2028", "")))),
    ("", "empty texts of bodies are sent as null", objects(lambda value: {name: [each or None for each in item] if name == "arrayOfStringExample" else item or None if name in ("someProperty", "lastName") else item for name, item in value.items()})),
    ("", "empty arrays are sent as null", objects(lambda value: {name: None if item == [] and name != "actions" else item for name, item in value.items()})),
    ("", "an empty record gets a field that is null", lambda adapter: around(adapter, "content", lambda former, operation, body: former(operation, {"custom": None} if body == {} else body))),
    ("", "arrays of integers of bodies lose their duplicates", each_member(lambda name, item: list(dict.fromkeys(item)) if name == "arrayOfIntExample" else item)),
    ("", "empty objects in arrays of bodies are left out", each_member(lambda name, item: [each for each in item if each] if name == "arrayOfObjectType" else item)),
    ("", "another field of the record is spelt as it should be", objects(lambda value: {"twelfthProperty" if name == "twelthProperty" else name: item for name, item in value.items()})),
    ("", "a field for any JSON value is sent as a text", each_member(lambda name, item: json.dumps(item) if name == "custom" and not isinstance(item, str) else item)),
    ("", "times of bodies lose their milliseconds", each_member(lambda name, item: item[:19] + "Z" if name in ("createdAt", "lastModifiedAt") else item)),
    ("", "4.13 gets no persons", sending_bodies.left_out("createdBy", "postDescriptionWithLinks")),
    ("", "actions are sent in the order of their names", each_member(lambda name, item: sorted(item, key=lambda each: each["action"]) if name == "actions" else item)),
    ("", "staged of an action is sent as a text", each_member(lambda name, item: str(item).lower() if name == "staged" else item)),
    ("", "an empty list of actions is sent as null", objects(lambda value: {name: None if item == [] and name == "actions" else item for name, item in value.items()})),
    ("", "a version is sent in 32 bits", each_member(lambda name, item: (item + 2**31) % 2**32 - 2**31 if name == "version" and isinstance(item, int) else item)),
    ("", "the last of many actions is lost", each_member(lambda name, item: item[:99] if name == "actions" else item)),
    ("", "long arrays of bodies are cut off", each_member(lambda name, item: item[:1000] if isinstance(item, list) else item)),
    ("", "fractions of bodies have fifteen digits", body_scalars(numbers(lambda value: float(f"{value:.15g}") if isinstance(value, float) and abs(value) < 1e-9 else value))),
    # Answers
    ("", "an empty page has no results", returning.objects(lambda value: {name: item for name, item in value.items() if name != "results" or item})),
    ("", "the existence check returns nothing", returning.nothing(lambda request: request.method == "HEAD")),
    ("", "values of a form are texts", returning.of_forms(lambda _, result: {name: value[0] for name, value in result.items()})),
    ("", "4.13 returns nothing", returning.nothing(lambda request: "urn-links" in str(request.url))),
    ("", "the largest integers are returned as texts", returning.scalars(numbers(lambda value: str(value) if isinstance(value, int) and abs(value) > 2**62 else value))),
    ("", "unknown types of data are refused", returning.enumerated("dataType", "text", "number", "datetime")),
    ("", "unknown members of facets are refused", returning.known_only({"median"})),
    # Errors
    ("", "messages are shown in capitals", failing.of_message(str.upper)),
    ("", "the entries of errors are the other way round", shown(lambda name, item: item[::-1] if name == "errors" else item)),
    ("", "codes are shown in small letters", shown(lambda name, item: item.lower() if name == "code" else item)),
    ("", "currentVersion is shown as a text", shown(lambda name, item: str(item) if name == "currentVersion" else item)),
    ("", "the body of an error has to have a statusCode", failing.parsed(lambda response: failing.is_no_json(response) or "statusCode" not in str(response.content))),
    ("", "a 400 of a GET is told as one of the network", lambda adapter: around(adapter, "error_of", lambda former, response: adapter.Failure("network") if response.status_code == 400 and response.request.method == "GET" else former(response))),
    # Behaviour
    ("", "half of Retry-After is waited for", behaving.waits(lambda wait_s, _: wait_s / 2)),
    ("", "a 503 without Retry-After is told as something else", lambda adapter: around(adapter, "error_of", lambda former, response: adapter.Failure("other") if response.status_code == 503 and "Retry-After" not in response.headers else former(response))),
    ("", "a POST is sent again after a 5xx", of_method("POST", _insists)),
    ("", "a POST is sent beside one that takes long", of_method("POST", _sends_beside)),
    ("", "a POST whose connection breaks is sent again", lambda adapter: setattr(adapter.Client, "tries_again", lambda _, method: method in ("GET", "HEAD", "POST"))),
    ("", "a list that is refused is sent once more", behaving.repeated({400}, when=lambda operation, *_: operation == "listResourcesSorted")),
    ("", "a 405, a 413 and a 415 are repeated", behaving.repeated({405, 413, 415})),
    ("", "a 404 is repeated", behaving.repeated({404})),
    ("", "an update that is refused is sent once more", behaving.repeated({409}, when=lambda operation, *_: operation == "updateResourceById")),
    ("", "each request ends its connection", behaving.headers({"Connection": "close"})),
    ("", "a delete is followed by a look", of_method("DELETE", _looks_again)),
    ("", "hyphens of a query are percent-encoded", lambda adapter: around(adapter, "encoded", lambda former, found: former(found).replace("-", "%2D"))),
    ("", "another header that is no longer read is sent", behaving.headers({"x-vrap-other": "1"})),
    ("", "a token that has expired is not replaced", answering(_is_expired)),
    ("", "a new token is asked for twice", asked_twice(lambda self: self.token is not None)),
    ("", "each token is asked for twice", asked_twice(lambda _: True)),
)  # fmt: skip
