"""The endpoints of the interface as requests that a right server carries out, for rules that hold for many of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import Caller, Made
from sample_resource_testkit.checks.names import FORM_SEARCH, LINKS, SEARCH, SORTED, complex_path


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

UPDATE = {"4.10 update": Endpoint("POST", "/{id}", _UPDATE)}

SAMPLES = {
    "4.9 all options": Endpoint("POST", complex_path(), {"custom": "a"}),
    "4.13 links": Endpoint("POST", LINKS, {"custom": "a"}),
}
"""They keep nothing, and so take ``view_test`` too."""

OTHERS = {**UPDATE, **SAMPLES}
"""Their scopes are not shown in the interface."""

PRODUCT_SEARCH = {"4.14 products": Endpoint("POST", FORM_SEARCH, form="limit=1")}
"""It takes scopes of its own."""

ALL = {**READS, **WRITES, **OTHERS, **PRODUCT_SEARCH}
