"""How a fault is planted in the service, and the list of all of them.

A fault stands around the service as WSGI middleware: it sees each request and each answer, and may change both, send
other requests or answer itself. The few that cannot be seen from there replace a function of the service.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

CONTROL = "/planted"
"""``PUT /planted/{name}`` plants a fault in the place of the one before; with an empty name there is none."""

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Request:
    """A request as the service gets it.

    :param path: percent-encoded, without the query.
    :param query: percent-encoded.
    :param headers: by their names in lower case.
    """

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes = b""

    @property
    def project(self) -> str:
        return self.path.split("/")[1]

    @property
    def rest(self) -> str:
        """The path below ``/{projectKey}/resource``, without its first slash; ``-`` for any other path."""
        parts = self.path.split("/", 3)
        return "-" if parts[2:3] != ["resource"] else parts[3] if len(parts) > 3 else ""

    @property
    def is_item(self) -> bool:
        """Whether it is about one resource, by id."""
        return self.rest.count("-") == 4 and "/" not in self.rest and "=" not in self.rest

    @property
    def writes_a_body(self) -> bool:
        """Whether it is a POST, PUT or PATCH on the collection."""
        return self.rest == "" and self.method in ("POST", "PUT", "PATCH")

    def to(self, rest: str, method: str = "GET", query: str = "", json: Any = None) -> "Request":
        """Another request of the same client in the same project."""
        headers = {name: value for name, value in self.headers.items() if name in ("authorization", "host")}
        if json is not None:
            headers["content-type"] = JSON
        path = f"/{self.project}/resource" + (f"/{rest}" if rest else "")
        return Request(method, path, query, headers, b"" if json is None else dump(json))

    # Headers

    def header(self, name: str, value: str | None) -> "Request":
        """With another value of a header; None: without it."""
        headers = {each: old for each, old in self.headers.items() if each != name}
        return replace(self, headers=headers if value is None else {**headers, name: value})

    # Parameters, those in a form included

    @property
    def parameters(self) -> Pairs:
        pairs = parse_qsl(self.query, keep_blank_values=True)
        return pairs + (parse_qsl(self.body.decode(errors="replace"), keep_blank_values=True) if self._has_form else [])

    @property
    def _has_form(self) -> bool:
        return self.headers.get("content-type", "").startswith(FORM)

    def values(self, name: str) -> list[str]:
        return [value for each, value in self.parameters if each == name]

    def with_parameters(self, pairs: Pairs) -> "Request":
        """With other parameters. Bytes that are no UTF-8 are lost, so it is this very request if none differs."""
        if pairs == self.parameters:
            return self
        if self._has_form:
            return replace(self, query="", body=urlencode(pairs).encode())
        return replace(self, query=urlencode(pairs, quote_via=quote))

    def without(self, *names: str) -> "Request":
        return self.with_parameters([pair for pair in self.parameters if pair[0] not in names])

    def renamed(self, old: str, new: str) -> "Request":
        """With a parameter under another name."""
        return self.with_parameters([(new if name == old else name, value) for name, value in self.parameters])

    def added(self, name: str, value: str) -> "Request":
        return self.with_parameters([*self.parameters, (name, value)])

    def changed(self, change: Callable[[str], str], *names: str) -> "Request":
        """With the values of some parameters changed."""
        return self.with_parameters(
            [(name, change(value) if name in names else value) for name, value in self.parameters]
        )

    # Bodies

    def json(self) -> Any:
        """The value of a JSON body; None if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    def members(self) -> dict[str, Any]:
        """The members of a JSON object; none if the body is something else."""
        found = self.json()
        return found if isinstance(found, dict) else {}

    def with_json(self, value: Any) -> "Request":
        return replace(self, body=dump(value))


@dataclass
class Answer:
    """An answer of the service.

    :param body: of a JSON answer the value, else bytes.
    :param headers: by their names as they are sent.
    """

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def results(self) -> list[Any]:
        """The results of a page; none if it is something else."""
        return self.body["results"] if isinstance(self.body, dict) and "results" in self.body else []

    @property
    def errors(self) -> list[Any]:
        return self.body["errors"] if isinstance(self.body, dict) and self.status >= 400 else []

    @property
    def says(self) -> str:
        """All that it says, for a look whether it mentions something."""
        return json.dumps(self.body, ensure_ascii=False) if not isinstance(self.body, bytes) else ""


def dump(value: Any) -> bytes:
    """A value as JSON."""
    return json.dumps(value).encode()


def refusal(status: int, code: str = "InvalidInput", message: str = "No.", **members: Any) -> Answer:
    """An error answer."""
    error = {"code": code, "message": message, **members}
    return Answer(status, {"statusCode": status, "message": message, "errors": [error]}, {"Content-Type": JSON})


Forward = Callable[[Request], Answer]
"""Has the service answer a request."""

Wrapper = Callable[[Request, Forward], Answer]


class Planted:
    """Where a fault is planted.

    :ivar around: what stands around the service; None: nothing.
    """

    def __init__(self) -> None:
        self.around: Wrapper | None = None
        self._replaced: list[tuple[Any, str, Any]] = []

    def wrap(self, owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
        """Put a function in the place of one of a module or of a class; its first argument is the old one."""
        old = getattr(owner, name)
        self._replaced.append((owner, name, old))
        setattr(owner, name, lambda *arguments, **named: wrapper(old, *arguments, **named))

    def remove(self) -> None:
        """Remove the fault."""
        self.around = None
        while self._replaced:
            setattr(*self._replaced.pop())


@dataclass(frozen=True)
class Fault:
    """A way in which a server may be wrong.

    :param plant: plants it.
    :param clauses: those that speak of it, and so have to fail.
    """

    name: str
    plant: Callable[[Planted], None]
    clauses: tuple[str, ...]


FAULTS: dict[str, Fault] = {}

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _listed(clauses: tuple[str, ...], plant: Callable[[Planted, Any], None]) -> Decorator:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        assert name not in FAULTS, name
        FAULTS[name] = Fault(name, lambda planted: plant(planted, function), clauses)
        return function

    return add


# A function becomes a fault by one of these. Its name says what is wrong.


def inside(*clauses: str) -> Decorator:
    """The function gets the :class:`Planted`, and replaces what it wants, or sets what is to stand around."""
    return _listed(clauses, lambda planted, function: function(planted))


def around(*clauses: str) -> Decorator:
    """The function gets a request and what has the service answer one, and returns an answer."""

    def plant(planted: Planted, function: Any) -> None:
        planted.around = function

    return _listed(clauses, plant)


def of_requests(*clauses: str) -> Decorator:
    """The function gets a request, and returns the one that the service answers; None: as it is."""

    def plant(planted: Planted, function: Any) -> None:
        planted.around = lambda request, forward: forward(function(request) or request)

    return _listed(clauses, plant)


def of_answers(*clauses: str, status: int | None = None) -> Decorator:
    """The function gets a request and the answer, and changes the answer.

    :param status: only answers with this one.
    """

    def plant(planted: Planted, function: Any) -> None:
        def wrapper(request: Request, forward: Forward) -> Answer:
            answer = forward(request)
            if status in (None, answer.status):
                function(request, answer)
            return answer

        planted.around = wrapper

    return _listed(clauses, plant)
