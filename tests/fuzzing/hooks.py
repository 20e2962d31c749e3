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

ENTITY_TAGS = ('"1"', "*", 'W/"1", "2"')
"""Valid values of If-Match and If-None-Match. For a header, Schemathesis ignores pattern and format, and not enum."""

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
        if name in ("If-Match", "If-None-Match"):
            parameter["schema"]["enum"] = list(ENTITY_TAGS)
        elif name in TEXTS:
            schema = parameter["schema"]
            text = schema["items"] if schema.get("type") == "array" else schema
            text.clear()
            text |= {"type": "string", "format": name}


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    """Remove from valid requests what the service refuses by rules that JSON Schema cannot express, and the reverse."""
    if case.meta is None:
        return
    form = case.body if case.operation.path.endswith("/product-projection-search") else None
    if isinstance(form, dict):
        # Values of a form are texts, so one that was made to be invalid may be valid again, but for the grammars.
        for name in TEXTS.keys() & form.keys():
            if isinstance(given := form[name], list):
                form[name] = [text for text in TEXTS[name] if text in given]
    if case.meta.generation.mode is not GenerationMode.POSITIVE:
        # The types of optional fields lack null, which is as if absent: so one ObjectType serves requests and answers.
        case.body = _without_null(case.body)
        for name in ("If-Match", "If-None-Match"):
            if case.headers.get(name) in ENTITY_TAGS:
                del case.headers[name]  # 412 comes first, and is none of the refusals that Schemathesis knows
        return
    given = case.body if isinstance(case.body, dict) else {}
    for name in given.keys() & case.query.keys():
        del case.query[name]  # a parameter may not be in both the form and the query string
    for search in (case.query, given):
        facets: Any = search.get("facet")
        if facets is not None:
            search["facet"] = list(dict.fromkeys(facets))  # the name of a facet may occur only once
    if not isinstance(case.body, dict):
        return
    if case.operation.path.startswith("/oauth/"):
        # The header has the credentials, and generated scopes are not those of the client.
        for name in ("client_id", "client_secret", "scope"):
            case.body.pop(name, None)
    elif "id" in case.body:
        case.body.pop("key", None)  # another resource may have the key, which is refused as a duplicate


def _without_null(value: Any) -> Any:
    """A JSON value with an array, which no field takes that takes no null, in place of each null in an object."""
    if isinstance(value, dict):
        return {name: [None] if member is None else _without_null(member) for name, member in value.items()}
    return [_without_null(item) for item in value] if isinstance(value, list) else value


@schemathesis.deserializer("application/x-www-form-urlencoded")
def read_form(context: Any, response: Response) -> dict[str, list[Any]]:
    """The arrays in a form. Items are JSON, except those of arrays of strings."""
    form = parse_qs(response.content.decode(), keep_blank_values=True)
    return {name: texts if "String" in name else [json.loads(text) for text in texts] for name, texts in form.items()}
