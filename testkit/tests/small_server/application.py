"""From a request to an answer: paths, methods, scopes, parameters, and what each endpoint does."""

import json
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from .identity import FORM, Client, Identity
from .lists import CONDITIONS, VARIABLE, WHERE, Lists, expand_faults
from .predicates import Predicates
from .refusals import Refused, bad_parameter, entry, not_found
from .resources import ETags, Preconditions, Resource, Shapes, Store, WriteBodies, Writes
from .samples import Samples
from .search import KINDS, REPEATABLE, TEXT, Search, Words
from .values import KEY, BodyRules, Declared, ParameterRules, Parameters

READ, WRITE = ("manage_test", "view_test"), ("manage_test",)

PRODUCTS = ("view_products", "view_published_products")

JSON = "application/json"

WORDS = ("searchApiPattern", "sorted-query-parameters", "description-with-urn-links", "product-projection-search")

LIST = Declared({**CONDITIONS, **WHERE}, frozenset(("where", "sort", "arrayOfString", "arrayOfStringWithDescription")))
LIST.patterns = (VARIABLE,)
LIST.empty = frozenset(("stringParameter", "arrayOfString", "arrayOfStringWithDescription", VARIABLE))

SORTED = Declared({**WHERE, "expand": "text"}, frozenset(("where", "sort", "expand")), (VARIABLE,))
SORTED.empty = frozenset((VARIABLE,))

SEARCH = Declared(KINDS, REPEATABLE, (TEXT,))

ONE = Declared({"optionalQueryParameter": "text", "secondOptionalQueryParameter": "text"})
ONE.empty = frozenset(ONE.kinds)

SAMPLE = Declared({"queryParameterOne": "number", "queryParameterTwo": "text"})
SAMPLE.empty = frozenset(("queryParameterTwo",))

LARGEST_BODY, LONGEST_TARGET, LONGEST_HEADER = 2_097_152, 8_190, 8_190
LARGEST_FORM_OF_OAUTH = 32_768


@dataclass
class Request:
    """A request as it came.

    :param path: percent-encoded, without the query.
    :param headers: names in lower case; several values of one are joined by a comma.
    """

    method: str
    path: str
    query: bytes
    headers: dict[str, str]
    body: bytes = b""
    has_body: bool = False


@dataclass
class Answer:
    """An answer; ``body`` is a JSON value, or bytes as they are, or None."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Call:
    """A request that was admitted."""

    request: Request
    project: str
    client: str
    scopes: tuple[str, ...]
    given: Parameters
    body: bytes
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Endpoint:
    """A method of a URL.

    :param takes: the content type of its body; empty if it has none.
    """

    serve: Callable[[Call], Answer]
    scopes: tuple[str, ...]
    declared: Declared = field(default_factory=Declared)
    takes: str = ""


class Application:
    """The small server without its sockets. A fault is planted by replacing a method of one of its parts."""

    def __init__(self) -> None:
        self.identity = Identity()
        self.store = Store()
        self.shapes = Shapes()
        self.tags = ETags()
        self.parameters = ParameterRules()
        self.bodies = BodyRules()
        self.writes = Writes(self.store, self.tags)
        self.write_bodies = WriteBodies(self.bodies)
        self.predicates = Predicates()
        self.lists = Lists(self.predicates, self.bodies)
        self.words = Words()
        self.search = Search(self.lists, self.shapes, self.words)
        self.samples = Samples(self.bodies)

    def answer(self, request: Request) -> Answer:
        """Answer any request."""
        try:
            answer = self.dispatch(request)
        except Refused as refused:
            answer = self.refusal(refused)
        answer.headers.setdefault("X-Correlation-ID", self.correlation_id(request.headers.get("x-correlation-id", "")))
        return answer

    def refusal(self, refused: Refused) -> Answer:
        """The answer that says why a request is not served."""
        return Answer(refused.status, refused.body(), dict(refused.headers))

    def correlation_id(self, sent: str) -> str:
        """That of the client, or a new one."""
        return sent if re.fullmatch(r"[A-Za-z0-9_/-]{8,256}", sent) else secrets.token_hex(12)

    def dispatch(self, request: Request) -> Answer:
        """Find the endpoint, and serve the request.

        :raises Refused: if it cannot be served.
        """
        self.look_at_sizes(request)
        other = self.outside(request)
        if other is not None:
            return other
        project, path, methods = self.endpoints(request)
        allowed = [*(["HEAD"] if "GET" in methods and "HEAD" not in methods else []), *methods, "OPTIONS"]
        if request.method == "OPTIONS":
            return Answer(200, None, {"Allow": ", ".join(sorted(allowed))})
        if request.method not in allowed:
            message = f"The method {request.method} is not allowed."
            raise Refused(405, entry("MethodNotAllowed", message), headers={"Allow": ", ".join(sorted(allowed))})
        endpoint = methods.get(request.method) or methods["GET"]
        token = self.identity.admitted(request.headers.get("authorization"), project, endpoint.scopes)
        self.look_at_body(request, endpoint)
        form = request.body if endpoint.takes == FORM else b""
        given, faults = self.parameters.read(endpoint.declared, request.query, form)
        call = Call(request, project, token.client.id, token.scopes, given, request.body, path)
        if faults:
            raise Refused(400, *faults, *self.body_faults(endpoint, call))
        return endpoint.serve(call)

    def body_faults(self, endpoint: Endpoint, call: Call) -> list[Any]:
        """The faults of a body that come after those of the query string."""
        if endpoint.takes != JSON or not call.path:
            return []
        try:
            self.body_of(call)
        except Refused as refused:
            return list(refused.entries)
        return []

    def body_of(self, call: Call) -> Any:
        """The body of a request as a value."""
        if call.path[0] in ("artificially-complex", "description-with-urn-links"):
            return self.samples.record(call.body)
        if call.path[0] == "{id}":
            return self.write_bodies.update(call.body)
        has_match = "if-match" in call.request.headers
        return self.write_bodies.on_collection(call.request.method, call.body, has_match=has_match)

    def look_at_sizes(self, request: Request) -> None:
        """Refuse what is too long to be looked at."""
        if len(request.path) + len(request.query) > LONGEST_TARGET:
            raise Refused(414, entry("InvalidInput", "The request target is too long."))
        if any(len(name) + len(value) > LONGEST_HEADER for name, value in request.headers.items()):
            raise Refused(431, entry("RequestRejected", "The headers are too large."))

    def look_at_body(self, request: Request, endpoint: Endpoint) -> None:
        """Refuse a body that is too large, or of another type."""
        if len(request.body) > LARGEST_BODY:
            raise Refused(413, entry("ContentTooLarge", f"A body may have {LARGEST_BODY} bytes."))
        if not endpoint.takes or not request.body:
            return
        kind, *options = [part.strip().lower() for part in request.headers.get("content-type", "").split(";")]
        charsets = [each.partition("=")[2].strip('"') for each in options if each.startswith("charset=")]
        if kind != endpoint.takes or any(charset not in ("utf-8", "utf8") for charset in charsets):
            raise Refused(415, entry("UnsupportedMediaType", f"The body has to be {endpoint.takes} in UTF-8."))

    # Addresses

    def unknown(self, request: Request) -> Refused:
        """The answer to a URL that is not there."""
        return Refused(404, entry("ResourceNotFound", f"URI not found: {request.path}"))

    def endpoints(self, request: Request) -> tuple[str, tuple[str, ...], dict[str, Endpoint]]:
        """The project, the path below its resources, and the methods of a URL.

        :raises Refused: if it is unknown.
        """
        start, *segments = request.path.split("/")
        decoded = [self.parameters.decoded(each.replace("+", "%2B").encode()) for each in segments]
        project = decoded[0] or ""
        if start or len(segments) < 2 or not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", project) or decoded[1] != "resource":
            raise self.unknown(request)
        rest = segments[2:]
        if not rest:
            return project, ("resource",), self.collection()
        if len(rest) == 1 and rest[0]:
            name = decoded[2]
            if name is None:
                return project, ("{id}", rest[0]), self.by_id()
            if name.startswith("key="):
                return project, ("key", name[len("key=") :]), {"GET": Endpoint(self.get_by_key, READ)}
            if name in WORDS:
                return project, (name,), self.named(name)
            return project, ("{id}", name), self.by_id()
        if len(rest) == 4 and rest[:2] == ["artificially-complex", "path"] and rest[3]:
            first, second = decoded[4], decoded[5]
            if rest[2].startswith(("uri-parameter-one=", "uri-parameter-one%3D")):
                path = ("artificially-complex", "\0" if first is None else first, "\0" if second is None else second)
                return project, path, {"POST": Endpoint(self.complex_sample, READ, SAMPLE, JSON)}
        raise self.unknown(request)

    def collection(self) -> dict[str, Endpoint]:
        """The methods of the collection."""
        staged = Declared({"staged": "boolean"})
        return {
            "GET": Endpoint(self.get_list, READ, LIST),
            "HEAD": Endpoint(self.check_existence, READ, LIST),
            **{method: Endpoint(self.write, WRITE, staged, JSON) for method in ("POST", "PUT", "PATCH")},
        }

    def by_id(self) -> dict[str, Endpoint]:
        """The methods of a resource."""
        return {
            "GET": Endpoint(self.get_by_id, READ, ONE),
            "POST": Endpoint(self.update, WRITE, Declared(), JSON),
            "DELETE": Endpoint(self.delete, WRITE, Declared({"version": "number"})),
        }

    def named(self, name: str) -> dict[str, Endpoint]:
        """The method of a word."""
        if name == "searchApiPattern":
            return {"GET": Endpoint(self.get_search, READ, SEARCH)}
        if name == "sorted-query-parameters":
            return {"GET": Endpoint(self.get_sorted, READ, SORTED)}
        if name == "product-projection-search":
            return {"POST": Endpoint(self.product_search, PRODUCTS, SEARCH, FORM)}
        return {"POST": Endpoint(self.links_sample, READ, SAMPLE, JSON)}

    # Reads

    def one(self, found: Resource, request: Request) -> Answer:
        """A single resource, unless the preconditions of a read say otherwise."""
        tag = self.tags.of(found)
        conditions = self.conditions(request)
        if conditions.match is not None and not self.tags.held(conditions.match, found, weak=False):
            raise self.tags.failed()
        if conditions.none_match is not None and self.tags.held(conditions.none_match, found, weak=True):
            return Answer(304, None, {"ETag": tag})
        return Answer(200, self.shapes.whole(found), {"ETag": tag})

    def conditions(self, request: Request) -> Preconditions:
        """The preconditions of a request."""
        match, none_match = request.headers.get("if-match"), request.headers.get("if-none-match")
        return Preconditions(
            None if match is None else self.tags.read("If-Match", match),
            None if none_match is None else self.tags.read("If-None-Match", none_match),
        )

    def get_by_id(self, call: Call) -> Answer:
        """4.2"""
        return self.one(self.writes.wanted(call.project, call.path[1]), call.request)

    def get_by_key(self, call: Call) -> Answer:
        """4.3"""
        key = call.path[1]
        found = self.store.by_key(call.project, key) if KEY.fullmatch(key) else None
        if found is None:
            raise not_found("key", key)
        return self.one(found, call.request)

    def matches(self, call: Call) -> list[Resource]:
        """The resources that the parameters of a list ask for.

        :raises Refused: with all faults of the parameters.
        """
        faults = self.lists.page_faults(call.given) + expand_faults(call.given.all("expand"))
        conditions: list[Any] = []
        for read in (self.lists.where, self.lists.conditions):
            try:
                conditions.append(read(call.given))
            except Refused as refused:
                faults += refused.entries
        if faults:
            raise Refused(400, *faults)
        return self.lists.matches(self.store.resources(call.project), *conditions, sort=call.given.all("sort"))

    def get_list(self, call: Call) -> Answer:
        """4.1"""
        page, part = self.lists.page(self.matches(call), call.given)
        return Answer(200, {**page, "results": [self.shapes.listed(found) for found in part]})

    def check_existence(self, call: Call) -> Answer:
        """4.5"""
        if not self.matches(call):
            raise Refused(404, entry("ResourceNotFound", "No resource matches."))
        return Answer(200)

    def get_sorted(self, call: Call) -> Answer:
        """4.12"""
        page, part = self.lists.page(self.matches(call), call.given)
        return Answer(200, {**page, "results": [self.expanded(found, call) for found in part]})

    def expanded(self, found: Resource, call: Call) -> Any:
        """A resource with the references that ``expand`` names."""
        shown = self.shapes.whole(found)
        for name in call.given.all("expand"):
            client = self.identity.clients[shown[name]["id"]]
            shown[name]["obj"] = {"id": client.id, "name": client.name, "scopes": list(client.scopes)}
        return shown

    def get_search(self, call: Call) -> Answer:
        """4.4"""
        return Answer(200, self.search.answer(self.store.resources(call.project), call.given))

    def product_search(self, call: Call) -> Answer:
        """4.14"""
        if call.given.one("staged", False) and f"view_products:{call.project}" not in call.scopes:
            raise self.identity.insufficient(("view_products",))
        return self.get_search(call)

    # Writes

    def write(self, call: Call) -> Answer:
        """4.6, 4.7 and 4.8"""
        conditions = self.conditions(call.request)
        body = self.body_of(call)
        staged = call.given.one("staged", False)
        method = call.request.method
        status, made = self.writes.on_collection(method, call.project, call.client, body, staged, conditions)
        headers = {"ETag": self.tags.of(made)}
        if status == 201:
            headers["Location"] = self.location(call.project, made)
        return Answer(status, self.shapes.whole(made), headers)

    def location(self, project: str, made: Resource) -> str:
        """Where a new resource is."""
        return f"/{project}/resource/{quote(made.id)}"

    def update(self, call: Call) -> Answer:
        """4.10"""
        conditions = self.conditions(call.request)
        made = self.writes.update(call.project, call.client, call.path[1], self.body_of(call), conditions)
        return Answer(200, self.shapes.whole(made), {"ETag": self.tags.of(made)})

    def delete(self, call: Call) -> Answer:
        """4.11"""
        conditions = self.conditions(call.request)
        gone = self.writes.delete(call.project, call.path[1], call.given.one("version"), conditions)
        return Answer(200, self.shapes.whole(gone), {"ETag": self.tags.of(gone)})

    # Samples

    def preferred(self, call: Call, *codes: int) -> tuple[int, dict[str, str]]:
        """The status that ``Prefer`` asks for, and the headers that say so."""
        for text in re.split(r"[,;]", call.request.headers.get("prefer", "")):
            found = re.fullmatch(r'\s*code\s*=\s*"?(\d+)"?\s*', text, re.IGNORECASE)
            if found and int(found[1]) in codes:
                return int(found[1]), {"Preference-Applied": f"code={found[1]}"}
        return 200, {}

    def complex_sample(self, call: Call) -> Answer:
        """4.9"""
        faults = [
            bad_parameter(name, "The text is no UTF-8 without U+0000.")
            for name, text in zip(("uriParameterOne", "uriParameterTwo"), call.path[1:], strict=True)
            if text == "\0"
        ]
        if faults:
            raise Refused(400, *faults)
        accepted = self.accepted(call.request.headers.get("accept", "*/*"))
        second = call.given.all("queryParameterTwo")
        texts = [call.path[1].partition("=")[2], call.path[2], *second]
        shown = self.samples.echo(self.body_of(call), texts=texts, number=call.given.one("queryParameterOne"))
        status, headers = self.preferred(call, 200, 201, 203)
        headers["Vary"] = "Accept, Prefer"
        if accepted == JSON:
            return Answer(status, shown, headers)
        form = urlencode([(name, _form_text(item)) for name, items in shown.items() for item in items])
        return Answer(status, form.encode(), {**headers, "Content-Type": FORM})

    def accepted(self, accept: str) -> str:
        """The content type of an answer of 4.9: a form only if it is preferred."""
        weights: dict[str, float] = {}
        for part in accept.split(","):
            kind, *options = [each.strip() for each in part.split(";")]
            quality = next((each[2:] for each in options if each.startswith("q=")), "1")
            weights[kind.lower()] = float(quality) if re.fullmatch(r"[01](\.\d*)?", quality) else 1.0

        def weight(kind: str) -> float:
            ranges = (kind, f"{kind.partition('/')[0]}/*", "*/*")
            return next((weights[each] for each in ranges if each in weights), 0.0)

        return max((JSON, FORM), key=weight)

    def links_sample(self, call: Call) -> Answer:
        """4.13"""
        record = self.body_of(call)
        status, headers = self.preferred(call, 200, 202)
        headers["Vary"] = "Prefer"
        if status == 202:
            return Answer(202, self.samples.times(record), headers)
        texts = call.given.all("queryParameterTwo")
        return Answer(200, self.samples.echo(record, texts=texts, number=call.given.one("queryParameterOne")), headers)

    # Beside the projects

    def outside(self, request: Request) -> Answer | None:
        """OAuth and throwaway projects; None for any other path."""
        paths: dict[str, tuple[str, Callable[[Request], Answer]]] = {
            "/oauth/token": ("POST", self.token),
            "/oauth/introspect": ("POST", self.introspect),
            "/oauth/revoke": ("POST", self.revoke),
            "/sandbox/projects": ("POST", self.new_project),
            "/.well-known/jwks.json": ("GET", lambda _: Answer(200, self.identity.key_set())),
            "/.well-known/oauth-authorization-server": ("GET", lambda _: Answer(200, self.identity.metadata())),
        }
        if request.path.startswith("/sandbox/projects/") and request.method == "DELETE":
            return Answer(200, {})
        if request.path not in paths:
            return None
        method, serve = paths[request.path]
        if request.method != method:
            message = f"The method {request.method} is not allowed."
            raise Refused(405, entry("MethodNotAllowed", message), headers={"Allow": method})
        return serve(request)

    def new_project(self, request: Request) -> Answer:
        """A project of its own, with a client."""
        key = f"p-{secrets.token_hex(8)}"
        client = self.identity.new_client(key)
        made = {"projectKey": key, "clientId": client.id, "clientSecret": client.secret}
        return Answer(201, {**made, "accessToken": self.identity.issue(client, client.scopes)})

    def credentials(self, request: Request) -> tuple[Client, dict[str, str]]:
        """The client and the form of a request below ``/oauth``."""
        if len(request.body) > LARGEST_FORM_OF_OAUTH:
            raise Refused(413, entry("ContentTooLarge", f"A form may have {LARGEST_FORM_OF_OAUTH} bytes."))
        content_type = request.headers.get("content-type", "")
        form = self.identity.form(content_type, request.body, request.query.decode("utf-8", "replace"))
        return self.identity.client_of(request.headers.get("authorization"), form), form

    def token(self, request: Request) -> Answer:
        """The token endpoint."""
        client, form = self.credentials(request)
        return Answer(200, self.identity.grant(client, form), {"Cache-Control": "no-store"})

    def introspect(self, request: Request) -> Answer:
        """Introspection."""
        return Answer(200, self.identity.introspect(self.credentials(request)[1]), {"Cache-Control": "no-store"})

    def revoke(self, request: Request) -> Answer:
        """Revocation."""
        self.identity.revoke(*self.credentials(request))
        return Answer(200, {})


def _form_text(item: Any) -> str:
    return item if isinstance(item, str) else json.dumps(item)
