"""Hooks of Schemathesis for what the document cannot express: query languages, and rules that depend on state."""

import json
from typing import Any
from urllib.parse import parse_qs

import schemathesis
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode, HookContext, Response

FILTERS = ('arrayOfStringExample:"dog","cat"', "arrayOfObjectType.integerExample:range(700 to *)", "key:missing")

TEXTS = {
    "where": (
        'arrayOfStringExample contains any ("dog", "bird")',
        "arrayOfObjectType(integerExample > 700 and integerExampleInt32 = 1)",
        'version > 1 and not(key = "my-pet") or someProperty is not defined',
    ),
    "objectParameter": ("{}", '{"arrayOfIntExample": [1, 2]}', '{"arrayOfStringExample": ["\\u00e9"]}'),
    "filter": FILTERS,
    "filter.facets": FILTERS,
    "filter.query": FILTERS,
    "facet": ("arrayOfStringExample", "arrayOfIntExample:range(0 to 5), (5 to *) as few", "key counting products"),
}
"""Valid values of parameters that have a language or a grammar, by name."""

for _name, _texts in TEXTS.items():
    schemathesis.openapi.format(_name, st.sampled_from(_texts))


@schemathesis.hook
def before_load_schema(context: HookContext, raw_schema: dict[str, Any]) -> None:
    """Give these parameters a format, so that Schemathesis takes their values from :data:`TEXTS`."""
    described = [
        (parameter["name"], parameter)
        for operations in raw_schema["paths"].values()
        for operation in operations.values()
        for parameter in operation["parameters"]
    ]
    form = raw_schema["components"]["schemas"]["SearchForm"]["properties"]
    described += [(name, {"schema": schema}) for name, schema in form.items()]
    for name, parameter in described:
        if name in TEXTS:
            schema = parameter["schema"]
            text = schema["items"] if schema.get("type") == "array" else schema
            text.clear()
            text |= {"type": "string", "format": name}


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    """Remove from valid requests what the service refuses by rules that JSON Schema cannot express."""
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    given = case.body if isinstance(case.body, dict) else {}
    for name in given.keys() & case.query.keys():
        del case.query[name]  # a parameter may not be in both the form and the query string
    for search in (case.query, given):
        if "facet" in search:
            search["facet"] = list(dict.fromkeys(search["facet"]))  # the name of a facet may occur only once
        search.pop("fuzzyLevel", None)  # the highest allowed level depends on the longest word
    if not isinstance(case.body, dict):
        return
    for name, value in case.body.items():
        case.body[name] = _without_nul(value)  # a schema of any JSON value cannot say that of the texts inside
    if case.operation.path.startswith("/oauth/"):
        # The header has the credentials, and generated scopes are not those of the client.
        for name in ("client_id", "client_secret", "scope"):
            case.body.pop(name, None)
    elif "id" in case.body:
        case.body.pop("key", None)  # another resource may have the key, which is refused as a duplicate
    elif case.method in ("PUT", "PATCH"):
        case.body.setdefault("key", "my-pet")  # without id and key the project must not have several resources
    if case.method == "PATCH":
        case.body.setdefault("version", 1)  # required without If-Match


def _without_nul(value: Any) -> Any:
    """A JSON value without U+0000 in its texts."""
    if isinstance(value, dict):
        return {name.replace("\0", ""): _without_nul(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_without_nul(item) for item in value]
    return value.replace("\0", "") if isinstance(value, str) else value


@schemathesis.deserializer("application/x-www-form-urlencoded")
def read_form(context: Any, response: Response) -> dict[str, list[Any]]:
    """The arrays in a form. Items are JSON, except those of arrays of strings."""
    form = parse_qs(response.content.decode(), keep_blank_values=True)
    return {name: texts if "String" in name else [json.loads(text) for text in texts] for name, texts in form.items()}
