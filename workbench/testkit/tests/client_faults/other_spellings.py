"""Kinds of wrong that other modules plant too, each in another spelling: a verdict rests on no single one."""

import asyncio
import json
from typing import Any
from urllib.parse import quote

from client_faults import (
    behaving,
    behaving_tokens,
    failing,
    returning,
    sending_bodies,
    sending_parameters,
    sending_values,
)
from client_faults.planting import answering, around, fault, numbers, of_client, pairs_changed, planted, texts
from client_faults.sending_values import is_number, scalars, segments, values

IN_PATHS = {"id", "key", "uriParameterOne", "uriParameterTwo"}

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


async def _hammers(send: Any, _: Any) -> Any:
    for _ in range(30):
        response = await send()
        if response.status_code not in (502, 504):
            break
    return response


@fault("calls at the same time return the answer that comes first", "C-ans-49")
def _(adapter: Any) -> None:
    async def call(former: Any, self: Any, operation: str, *args: Any) -> Any:
        ended = self.__dict__.setdefault("ended", {}).setdefault(operation, [])
        before = len(ended)
        ended.append(made := await former(self, operation, *args))
        return ended[before] if operation == "getResourceById" else made

    around(adapter.Client, "call", call)


@fault("lists at the same time return the answer that comes last", "C-ans-49")
def _(adapter: Any) -> None:
    async def call(former: Any, self: Any, operation: str, *args: Any) -> Any:
        if operation != "listResources":
            return await former(self, operation, *args)
        self.under_way = getattr(self, "under_way", 0) + 1
        try:
            self.last = await former(self, operation, *args)
        finally:
            self.under_way -= 1
        while self.under_way:
            await asyncio.sleep(0.01)
        return self.last

    around(adapter.Client, "call", call)


@fault("a list gets the answer of HEAD that is under way", "C-ans-49")
def _(adapter: Any) -> None:
    async def attempt(former: Any, self: Any, method: str, path: str, *args: Any) -> Any:
        heads = self.__dict__.setdefault("heads", {})
        if method == "HEAD":
            heads[path] = asyncio.ensure_future(former(self, method, path, *args))
            return await heads[path]
        head = heads.get(path)
        return await (former(self, method, path, *args) if method != "GET" or head is None or head.done() else head)

    around(adapter.Client, "attempt", attempt)


@fault("a token is thrown away after two calls", "C-do-4")
def _(adapter: Any) -> None:
    async def get_token(former: Any, self: Any, refused: str | None = None) -> str:
        self.uses = getattr(self, "uses", 0) + 1
        if self.opened["token"] is None and self.uses % 3 == 0:
            self.token = None
        return await former(self, refused)

    around(adapter.Client, "get_token", get_token)


@fault("a token that was given is used once", "C-req-15 C-do-6 C-do-7")
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


@fault("all scopes are asked for, whatever was given", "C-do-2 C-do-13")
def _(adapter: Any) -> None:
    async def new_token(former: Any, self: Any) -> str:
        given = self.opened["scope"]
        self.opened["scope"] = " ".join(f"{name}:{self.opened['projectKey']}" for name in ("manage_test", "view_test"))
        try:
            return await former(self)
        finally:
            self.opened["scope"] = given

    around(adapter.Client, "new_token", new_token)


@fault("User-Agent is sent twice", "C-do-53")
def _(adapter: Any) -> None:
    async def twice(request: Any) -> None:
        request.headers = adapter.httpx.Headers([*request.headers.raw, (b"User-Agent", b"another")])

    def made(former: Any, self: Any, opened: Any) -> None:
        former(self, opened)
        self.http.event_hooks = {"request": [twice]}

    around(adapter.Client, "__init__", made)


def _two_at_once(former: Any, self: Any, opened: Any) -> None:
    former(self, opened)
    self.lock = asyncio.Semaphore(2)


planted(
    # Requests
    ("C-req-1..14", "paths end with a slash", lambda adapter: around(adapter, "target", lambda former, *args: (made := former(*args).partition("?"))[0] + "/" + made[1] + made[2])),
    ("C-req-101..114", "X-Correlation-ID has another name", lambda adapter: around(adapter, "headers_of", lambda former, arguments: {"Correlation-ID" if name == "X-Correlation-ID" else name: value for name, value in former(arguments).items()})),
    ("C-req-121..134", "X-Correlation-ID has another name beside other parameters", lambda adapter: around(adapter, "headers_of", lambda former, arguments: {"Correlation-ID" if name == "X-Correlation-ID" and len(arguments.keys() - IN_PATHS) > 1 else name: value for name, value in former(arguments).items()})),
    ("C-req-15 C-do-1 C-do-56", "the token has another scheme", sending_parameters.authorized(lambda token: {"Authorization": f"Token {token}"})),
    ("C-req-16 C-req-46 C-req-56", "a plus in a query becomes a blank", values(lambda value: value.replace("+", " "))),
    ("C-req-17 C-req-52 C-req-56", "a query ends at its first number sign", values(lambda value: value.partition("#")[0])),
    ("C-req-18 C-req-50 C-req-56", "quotes of a query are others", values(lambda value: value.replace('"', "'"))),
    ("C-req-19 C-req-56", "percent signs of a query are lost", values(lambda value: value.replace("%", ""))),
    ("C-req-20 C-req-52 C-req-56", "texts of a query lose what ASCII does not have", values(lambda value: value.encode("ascii", "ignore").decode())),
    ("C-req-21 C-req-39", "empty texts of a query are absent", scalars(lambda value: None if value == "" else value)),
    ("C-req-22 C-req-98", "tabs of a query become blanks", values(lambda value: value.replace("\t", " "))),
    ("C-req-96 C-req-98", "control characters of a query become blanks", values(lambda value: "".join(each if ord(each) >= 0x20 or each in "\t\r\n" else " " for each in value))),
    ("C-req-98", "control characters of a form become blanks", sending_values.form_values(lambda value: "".join(each if ord(each) >= 0x20 else " " for each in value))),
    ("C-req-95", "long texts of a query are refused by a smaller limit", values(lambda value: value[:3000])),
    ("C-req-23", "a part of a path ends at its first question mark", segments(lambda value: quote(value.partition("?")[0], safe=""))),
    ("C-req-24 C-req-25 C-req-27", "a slash in a path is not encoded", segments(lambda value: quote(value, safe="/"))),
    ("C-req-26", "a path loses what ASCII does not have", segments(lambda value: quote(value.encode("ascii", "ignore").decode(), safe=""))),
    ("C-req-28", "an empty part of a path becomes a hyphen", segments(lambda value: quote(value or "-", safe=""))),
    ("C-req-97", "control characters of a path become blanks", segments(lambda value: quote("".join(each if ord(each) >= 0x20 else " " for each in value), safe=""))),
    ("C-req-32", "the order of sort is the other way round", of_list("sort", lambda value: value[::-1])),
    ("C-req-33 C-req-38", "a text that is repeated is sent once", sending_parameters.of_lists(lambda value: list(dict.fromkeys(value)))),
    ("C-req-34", "commas in repeated values become semicolons", of_list("arrayOfString", lambda value: [item.replace(",", ";") for item in value])),
    ("C-req-35", "a list of one value is its JSON text", of_list("where", lambda value: json.dumps(value) if len(value) == 1 else value)),
    ("C-req-36 C-req-60", "an empty list is sent as brackets", sending_parameters.of_lists(lambda value: value or "[]")),
    ("C-req-41 C-req-57", "lists of variables and languages are the other way round", sending_parameters.of_families(lambda value: {name: given[::-1] if isinstance(given, list) else given for name, given in value.items()})),
    ("C-req-40", "languages are sent in lower case", lambda adapter: pairs_changed(adapter, lambda found: [(name.lower() if name.startswith("text.") else name, value) for name, value in found])),
    ("C-req-43 C-req-59", "0 is sent as false", scalars(lambda value: False if is_number(value) and value == 0 else value)),
    ("C-req-44 C-req-49", "negative numbers are sent in brackets", scalars(lambda value: f"({-value})" if is_number(value) and value < 0 else value)),
    ("C-req-45", "fractions of a query are rounded", scalars(lambda value: round(value, 5) if isinstance(value, float) else value)),
    ("C-req-46", "large fractions of a query are cut off", scalars(lambda value: min(value, 1e20) if isinstance(value, float) else value)),
    ("C-req-49", "the largest integers of a query are rounded", scalars(lambda value: int(float(value)) if isinstance(value, int) and abs(value) > 2**62 else value)),
    ("C-req-50", "objects of a query are written as in Python", scalars(lambda value: str(value) if isinstance(value, dict) else value)),
    ("C-req-51", "objectParameter is sent if it is an object", scalars(lambda value: None if isinstance(value, str) and value.startswith('{"arrayOfInt') else value)),
    ("C-req-53 C-req-60", "null is sent as the empty text", scalars(lambda value: "" if value is None else value)),
    ("C-req-55", "repeated fields of a form are the other way round", sending_parameters.form_changed(lambda body: {name: value[::-1] if isinstance(value, list) else value for name, value in body.items()})),
    ("C-req-91 C-req-101 C-req-104..106 C-req-108 C-req-109", "If-Match loses its quotes", sending_parameters.of_header("If-Match", lambda value: value.replace('"', ""))),
    ("C-req-92 C-req-101 C-req-104..106 C-req-108 C-req-110", "If-None-Match loses its quotes", sending_parameters.of_header("If-None-Match", lambda value: value.replace('"', ""))),
    ("C-req-93", "Prefer is sent without its name", sending_parameters.of_header("Prefer", lambda value: value.removeprefix("code="))),
    ("C-req-94", "Accept is not sent", sending_parameters.of_header("Accept", lambda _: None)),
    # Bodies
    ("C-req-62", "a field of an ObjectType has another name", objects(lambda value: {"arrayOfFloatsExample" if name == "arrayOfFloatExample" else name: item for name, item in value.items()})),
    ("C-req-63", "the id is left out of a POST", sending_bodies.left_out("id", "createOrUpdateResource")),
    ("C-req-64", "the id is left out of a PUT", sending_bodies.left_out("id", "createOrOverwriteResource")),
    ("C-req-5", "the version is left out of a PATCH", sending_bodies.left_out("version", "overwriteResource")),
    ("C-req-65", "the key is left out of a PATCH", sending_bodies.left_out("key", "overwriteResource")),
    ("C-req-62 C-req-66 C-req-68", "numbers of bodies lose their sign", body_scalars(numbers(abs))),
    ("C-req-67", "large integers of bodies become fractions", body_scalars(numbers(lambda value: float(value) if isinstance(value, int) and abs(value) > 2**53 else value))),
    ("C-req-69", "fractions of bodies have seven digits", body_scalars(numbers(lambda value: float(f"{value:.7g}") if isinstance(value, float) else value))),
    ("C-req-70", "very small numbers of bodies are sent as 0", body_scalars(numbers(lambda value: 0 if 0 < value < 1e-300 else value))),
    ("C-req-71", "texts of bodies lose separators of lines", body_scalars(texts(lambda value: value.replace("\u2028", "")))),
    ("C-req-72 C-req-79", "empty texts of bodies are sent as null", objects(lambda value: {name: [each or None for each in item] if name == "arrayOfStringExample" else item or None if name in ("someProperty", "lastName") else item for name, item in value.items()})),
    ("C-req-73", "empty arrays are sent as null", objects(lambda value: {name: None if item == [] and name != "actions" else item for name, item in value.items()})),
    ("C-req-74", "an empty record gets a field that is null", lambda adapter: around(adapter, "content", lambda former, operation, body: former(operation, {"custom": None} if body == {} else body))),
    ("C-req-62", "arrays of integers of bodies lose their duplicates", each_member(lambda name, item: list(dict.fromkeys(item)) if name == "arrayOfIntExample" else item)),
    ("C-req-76", "empty objects in arrays of bodies are left out", each_member(lambda name, item: [each for each in item if each] if name == "arrayOfObjectType" else item)),
    ("C-req-77", "another field of the record is spelt as it should be", objects(lambda value: {"twelfthProperty" if name == "twelthProperty" else name: item for name, item in value.items()})),
    ("C-req-78", "a field for any JSON value is sent as a text", each_member(lambda name, item: json.dumps(item) if name == "custom" and not isinstance(item, str) else item)),
    ("C-req-80", "the last milliseconds of a minute are lost", body_scalars(texts(lambda value: value.replace("59.999Z", "59.000Z")))),
    ("C-req-81", "4.13 gets no persons", sending_bodies.left_out("createdBy", "postDescriptionWithLinks")),
    ("C-req-82", "actions are sent in the order of their names", each_member(lambda name, item: sorted(item, key=lambda each: each["action"]) if name == "actions" else item)),
    ("C-req-83", "staged of an action is sent as a text", each_member(lambda name, item: str(item).lower() if name == "staged" else item)),
    ("C-req-84", "an empty list of actions is sent as null", objects(lambda value: {name: None if item == [] and name == "actions" else item for name, item in value.items()})),
    ("C-req-85", "a version is sent in 32 bits", each_member(lambda name, item: (item + 2**31) % 2**32 - 2**31 if name == "version" and isinstance(item, int) else item)),
    ("C-req-86", "the last of many actions is lost", each_member(lambda name, item: item[:99] if name == "actions" else item)),
    ("C-req-87", "long arrays of bodies are cut off", each_member(lambda name, item: item[:1000] if isinstance(item, list) else item)),
    ("C-req-88", "fractions of bodies have fifteen digits", body_scalars(numbers(lambda value: float(f"{value:.15g}") if isinstance(value, float) and abs(value) < 1e-9 else value))),
    ("C-req-75", "long arrays of integers are the other way round", each_member(lambda name, item: item[::-1] if name == "arrayOfIntExample" and len(item) == 5 else item)),
    ("C-req-77", "a field of the record is not sent alone", objects(lambda value: {} if list(value) == ["tenthProperty"] else value)),
    ("C-req-29", "a slash in the second parameter of a path becomes a blank", sending_parameters.path_changed("postWithAllOptions", lambda given: {**given, "uriParameterTwo": given["uriParameterTwo"].replace("/", " ")})),
    # Answers
    ("C-ans-10 C-ans-68..70 C-ans-72", "an empty page has no results", returning.objects(lambda value: {name: item for name, item in value.items() if name != "results" or item})),
    ("C-ans-22 C-ans-23 C-ans-49", "the existence check returns nothing", returning.nothing(lambda request: request.method == "HEAD")),
    ("C-ans-28..30", "values of a form are texts", returning.of_forms(lambda _, result: {name: value[0] for name, value in result.items()})),
    ("C-ans-31 C-ans-32", "4.13 returns nothing", returning.nothing(lambda request: "urn-links" in str(request.url))),
    ("C-ans-36", "the largest integers are returned as texts", returning.scalars(numbers(lambda value: str(value) if isinstance(value, int) and abs(value) > 2**62 else value))),
    ("C-ans-68", "unknown types of data are refused", returning.enumerated("dataType", "text", "number", "datetime")),
    ("C-ans-70", "unknown members of facets are refused", returning.known_only({"median"})),
    # Errors
    ("C-err-1 C-err-6 C-err-14..18 C-err-27 C-err-28 C-err-31", "messages are shown in capitals", failing.of_message(str.upper)),
    ("C-err-2", "the entries of errors are the other way round", shown(lambda name, item: item[::-1] if name == "errors" else item)),
    ("C-err-1 C-err-3 C-err-6..9 C-err-11 C-err-12 C-err-14..18 C-err-20 C-err-29 C-err-30 C-err-33", "codes are shown in small letters", shown(lambda name, item: item.lower() if name == "code" else item)),
    ("C-err-9 C-err-30", "currentVersion is shown as a text", shown(lambda name, item: str(item) if name == "currentVersion" else item)),
    ("C-err-13 C-err-21..26 C-err-34 C-err-36 C-err-63", "the body of an error has to have a statusCode", failing.parsed(lambda response: failing.is_no_json(response) or "statusCode" not in str(response.content))),
    ("C-err-1 C-err-12 C-err-33 C-do-30", "a 400 of a GET is told as one of the network", lambda adapter: around(adapter, "error_of", lambda former, response: adapter.Failure("network") if response.status_code == 400 and response.request.method == "GET" else former(response))),
    ("C-err-5", "the code of a 403 is not shown", failing.errors(lambda found, _: {name: item for name, item in found.items() if name != "code" or found["status"] != 403})),
    ("C-err-10", "currentVersion has 31 bits at most", shown(lambda name, item: min(item, 2**31 - 1) if name == "currentVersion" else item)),
    # Behaviour
    ("C-do-15..20 C-do-55", "half of Retry-After is waited for", behaving.waits(lambda wait_s, _: wait_s / 2)),
    ("C-err-68 C-do-21", "a 503 without Retry-After is told as something else", lambda adapter: around(adapter, "error_of", lambda former, response: adapter.Failure("other") if response.status_code == 503 and "Retry-After" not in response.headers else former(response))),
    ("C-do-23..25", "a POST is sent again after a 5xx", of_method("POST", _insists)),
    ("C-do-41", "a proxy without a server is asked thirty times", of_method("GET", _hammers)),
    ("C-do-29", "a POST is sent beside one that takes long", of_method("POST", _sends_beside)),
    ("C-do-26..28 C-do-61", "a POST whose connection breaks is sent again", lambda adapter: setattr(adapter.Client, "tries_again", lambda _, method: method in ("GET", "HEAD", "POST"))),
    ("C-do-30", "a list that is refused is sent once more", behaving.repeated({400}, when=lambda operation, *_: operation == "listResourcesSorted")),
    ("C-do-34..36", "a 405, a 413 and a 415 are repeated", behaving.repeated({405, 413, 415})),
    ("C-do-38", "an update that is refused is sent once more", behaving.repeated({409}, when=lambda operation, *_: operation == "updateResourceById")),
    ("C-do-43", "each request ends its connection", behaving.headers({"Connection": "close"})),
    ("C-ans-8 C-do-47 C-do-59", "a delete is followed by a look", of_method("DELETE", _looks_again)),
    ("C-do-9 C-do-11", "a refused token is replaced in calls with an id and in writes alone", behaving_tokens.not_renewed(lambda operation, _: operation == "listResources" or "Sorted" in operation)),
    ("C-do-5", "two calls at the same time ask for tokens", lambda adapter: around(adapter.Client, "__init__", _two_at_once)),
    ("C-do-44", "the connection is closed after a 404", behaving.connections(lambda response: response.status_code == 404)),
    ("C-do-8", "a new token is asked for twice", asked_twice(lambda self: self.token is not None)),
    ("C-do-4 C-do-13 C-do-54 C-do-55", "each token is asked for twice", asked_twice(lambda _: True)),
)  # fmt: skip
