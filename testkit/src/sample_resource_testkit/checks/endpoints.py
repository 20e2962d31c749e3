"""The endpoints of the interface as requests that a right server carries out, for rules that hold for many of them."""

import json as json_text
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import Caller, Made

SORTED = "/sorted-query-parameters"

SEARCH = "/searchApiPattern"

PRODUCTS = "/product-projection-search"

LINKS = "/description-with-urn-links"

UNKNOWN_ID = "6f9619ff-8b86-4011-b42d-00c04fc964ff"
"""A UUID of version 4, which no server is likely to have made."""


def complex_path(one: str = "one", two: str = "two") -> str:
    """The path of 4.9; the two parameters are given as they go out."""
    return f"/artificially-complex/path/uri-parameter-one={one}/{two}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A request to an endpoint.

    :param path: with ``{id}`` and ``{key}`` for those of a resource.
    :param body: the JSON body, if there is one; texts in it may be ``{id}``, and ``{version}`` is the number.
    :param form: the form, if there is one.
    """

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    form: str | None = None

    def ask(self, caller: Caller, made: Made, **options: Any) -> Answer:
        """Send the request about a resource."""
        path = self.path.replace("{id}", made.id).replace("{key}", made.key)
        if self.form is not None:
            options["form"] = self.form
        if self.body is None:
            return caller.send(self.method, path, **options)
        values = {"{id}": made.id, "{version}": made.version}
        body = {
            name: values.get(value, value) if isinstance(value, str) else value for name, value in self.body.items()
        }
        return caller.send(self.method, path, body, **options)


_FIELDS = {"objectTypeProperty": {"arrayOfIntExample": [1]}}

_UPDATE = {"version": "{version}", "actions": [{"action": "doSomeThing"}]}

READS = {
    "4.1 list": Endpoint("GET", "?limit=1"),
    "4.2 by id": Endpoint("GET", "/{id}"),
    "4.3 by key": Endpoint("GET", "/key={key}"),
    "4.4 search": Endpoint("GET", f"{SEARCH}?limit=1"),
    "4.5 existence": Endpoint("HEAD", ""),
    "4.12 sorted list": Endpoint("GET", f"{SORTED}?limit=1"),
}
"""They take ``manage_test`` or ``view_test``."""

WRITES = {
    "4.6 POST": Endpoint("POST", "", {"id": "{id}", **_FIELDS}),
    "4.7 PATCH": Endpoint("PATCH", "", {"id": "{id}", "version": "{version}", **_FIELDS}),
    "4.8 PUT": Endpoint("PUT", "", {"id": "{id}", **_FIELDS}),
    "4.11 DELETE": Endpoint("DELETE", "/{id}"),
}
"""They take ``manage_test``, and each changes the resource."""

OTHERS = {
    "4.9 all options": Endpoint("POST", complex_path(), {"custom": "a"}),
    "4.10 update": Endpoint("POST", "/{id}", _UPDATE),
    "4.13 links": Endpoint("POST", LINKS, {"custom": "a"}),
}
"""Their scopes are not shown in the interface."""

PRODUCT_SEARCH = {"4.14 products": Endpoint("POST", PRODUCTS, form="limit=1")}
"""It takes scopes of its own."""

ALL = {**READS, **WRITES, **OTHERS, **PRODUCT_SEARCH}


def errors_of(answer: Answer) -> list[dict[str, Any]]:
    """The entries of an error body; none if it has none that are objects."""
    body = answer.json
    entries: Any = body.get("errors") if isinstance(body, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def refused(answer: Answer, status: int, code: str, **members: Any) -> Answer:
    """Expect a status, and an entry of ``errors`` that has a code and members.

    The rest of the error body is left to the clauses on errors, so that a fault of it fails only these.
    """
    answer.expect_status(status)
    wanted = {"code": code, **members}
    holds = any(all(entry.get(name) == value for name, value in wanted.items()) for entry in errors_of(answer))
    return answer.expect(holds, f"an entry of errors with {json_text.dumps(wanted, ensure_ascii=False)}")
