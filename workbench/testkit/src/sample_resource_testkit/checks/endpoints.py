"""The endpoints of the interface as valid requests, for clauses that hold for many endpoints."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import Caller, Made
from sample_resource_testkit.checks.names import FORM_SEARCH, LINKS, SEARCH, SORTED, complex_path


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A valid request to an endpoint.

    :param path: the path, with ``{id}`` and ``{key}`` in place of a resource's id and key.
    :param body: the JSON body, or None. Its texts may be ``{id}``, and ``{version}`` for the number.
    :param form: the form as text, or None.
    """

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    form: str | None = None

    def ask(self, caller: Caller, made: Made, **options: Any) -> Answer:
        """Send the request for a resource."""
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
"""Reads. They accept the scopes ``manage_test`` and ``view_test``."""

WRITES = {
    "4.6 POST": Endpoint("POST", "", {"id": "{id}", **_FIELDS}),
    "4.7 PATCH": Endpoint("PATCH", "", {"id": "{id}", "version": "{version}", **_FIELDS}),
    "4.8 PUT": Endpoint("PUT", "", {"id": "{id}", **_FIELDS}),
    "4.11 DELETE": Endpoint("DELETE", "/{id}"),
}
"""Writes. They accept the scope ``manage_test``, and each of them changes the resource."""

UPDATE = {"4.10 update": Endpoint("POST", "/{id}", _UPDATE)}

SAMPLES = {
    "4.9 all options": Endpoint("POST", complex_path(), {"custom": "a"}),
    "4.13 links": Endpoint("POST", LINKS, {"custom": "a"}),
}
"""The echo endpoints. They store nothing, and so accept ``view_test``, too."""

OTHERS = {**UPDATE, **SAMPLES}
"""The endpoints whose scopes the interface does not show."""

PRODUCT_SEARCH = {"4.14 products": Endpoint("POST", FORM_SEARCH, form="limit=1")}
"""The search by form, which has its own scopes."""

ALL = {**READS, **WRITES, **OTHERS, **PRODUCT_SEARCH}
