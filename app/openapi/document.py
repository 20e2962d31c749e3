"""Makes the OpenAPI 3.1 document from the URL map, the marks of views, the schemas and the error catalogue.

A view declares its operation id and answers with :func:`app.openapi.marks.operation`. Its docstring is the summary and
description of the operation, and that of an action's class the description of its schema. Query parameters and JSON
bodies follow from the schemas, security from the scopes, and error responses from the mark, the scopes, the path and
the body of the view. The rest is written by hand in ``parts.json`` and ``description.md``.
"""

import re
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from flask import Flask
from flask_smorest import Api
from werkzeug.routing import Rule

from app import errors
from app.config import Settings
from app.http.bodies import FORM, JSON
from app.http.request_log import route_template
from app.identity.scopes import accepted_scopes
from app.openapi.examples import ANSWER_EXAMPLES, BODY_EXAMPLES, ERROR_EXAMPLES, PARTS, Document
from app.openapi.marks import Answer, Operation, operation_of
from app.query.fields import RESOURCE
from app.resource.actions import REGISTRY
from app.resource.params import SearchFormSchema
from app.resource.schemas import ACTION_SCHEMAS, ACTIONS_AT_MOST
from app.values.json_fields import TEXT
from app.values.parameters import Parameter


def document(app: Flask, api: Api, settings: Settings) -> Document:
    """The OpenAPI document of the application's routes."""
    generated: Document = cast("Any", api.spec).to_dict()  # by flask-smorest
    _describe_actions(generated["components"]["schemas"], _converter_of(api))
    description = Path(__file__).with_name("description.md").read_text("utf-8")
    components: Document = deepcopy(PARTS["components"])
    flow: Document = components["securitySchemes"]["clientCredentials"]["flows"]["clientCredentials"]
    # In parts.json, tokenUrl is only a path. The URL of this service is put before it.
    flow["tokenUrl"] = f"{settings.base_url}{flow['tokenUrl']}"
    # No operation documents 405, because it answers methods that an endpoint does not have.
    examples = {code: error for code, error in ERROR_EXAMPLES.items() if code != "MethodNotAllowed"}
    # Each example is named by its error code. The answer with status 414 has the error code InvalidInput, but the
    # example with this name shows status 400. So the example for status 414 gets a name of its own.
    examples[_TARGET_TOO_LONG] = errors.target_too_long()
    return {
        "openapi": "3.1.0",
        "info": PARTS["info"] | {"description": _unwrapped(description)},
        "servers": _servers(settings),
        "tags": list(PARTS["tags"].values()),
        "paths": _paths(app, generated["paths"]),
        "components": {
            "schemas": _schemas(generated["components"]["schemas"], components["schemas"]),
            "headers": components["headers"],
            "links": components["links"],
            "examples": {code: {"value": error.payload()} for code, error in examples.items()},
            "securitySchemes": components["securitySchemes"],
        },
    }


def _schemas(made: Document, by_hand: Document) -> Document:
    """All schemas by name: those of ``made`` except PaginationMetadata, those written by hand, and three that are made
    here from parts of these: EchoedObjectType, FlatResource and Projection.

    :param made: the schemas that flask-smorest has made from marshmallow schemas, and those of update actions, which
        :func:`_describe_actions` has added.
    :param by_hand: a copy of the schemas of ``parts.json``. This function changes the copy: it adds the error codes
        and the types of a facet's term.
    """
    code_property = by_hand["ErrorObject"]["properties"]["code"]
    code_property["description"] += ", ".join(f"`{code}`" for code in errors.CATALOGUE)
    term: Document = by_hand["TermFacet"]["properties"]["terms"]["items"]["properties"]["term"]
    term["type"] = sorted({field.kind.json_type for field in RESOURCE.values()})
    # Resource has the fields of ObjectType inside objectTypeProperty. FlatResource (a result of the list) and
    # Projection (a result of a search) have these fields on the first level, beside id, version, key and times.
    fields: Document = made["ObjectType"]["properties"]
    properties: Document = by_hand["Resource"]["properties"]
    common = {name: properties[name] for name in ("id", "version", "key", "createdAt", "lastModifiedAt")}
    required = [name for name in common if name != "key"]
    # The echo endpoints (interface 4.9 and 4.13) store nothing, so their answers may contain texts with U+0000, which
    # PostgreSQL cannot store. The schema TEXT allows them; ObjectType has STORABLE_TEXT, which does not.
    echoed_texts = {"arrayOfStringExample": {"type": "array", "items": dict(TEXT)}}
    of_projections = {
        "hasStagedChanges": {"type": "boolean", "description": "true: the two projections differ"},
        "someProperty": properties["someProperty"],
    }
    schemas = {
        **made,
        **by_hand,
        "EchoedObjectType": {**made["ObjectType"], "properties": {**fields, **echoed_texts}},
        "FlatResource": {"type": "object", "required": required, "properties": {**common, **fields}},
        "Projection": {
            "type": "object",
            "required": [*required, "hasStagedChanges"],
            "properties": {**common, **fields, **of_projections},
        },
    }
    # flask-smorest adds two schemas of its own. PaginationMetadata is removed, because no operation uses it. Error was
    # replaced above by the Error of parts.json: ``by_hand`` comes after ``made``.
    schemas.pop("PaginationMetadata", None)
    return dict(sorted(schemas.items()))


def _servers(settings: Settings) -> list[Document]:
    """The servers of the OpenAPI document. The first is the URL of the service.

    With ``BASE_DOMAIN``, the service also has a host for each region and cloud provider. All these hosts are the second
    server: one URL with the variables ``region`` and ``cloudProvider``. Without ``BASE_DOMAIN`` there is no second
    server, and the description of the first one says that ``BASE_DOMAIN`` would add these hosts.
    """
    own: Document = {"url": settings.base_url, "description": "this server"}
    if settings.base_domain is None:
        own["description"] += "; if BASE_DOMAIN is set, it also has a host for each region and cloud provider"
        return [own]
    parts = urlsplit(settings.base_url)
    port = "" if parts.port is None else f":{parts.port}"
    url = f"{parts.scheme}://api.{{region}}.{{cloudProvider}}.{settings.base_domain}{port}{parts.path}"
    return [own, {"url": url, **PARTS["serverOfRegion"]}]


def _describe_actions(schemas: Document, converter: Any) -> None:
    """Add a schema for each update action, and the schema ``UpdateAction``: one of these actions, told apart by the
    member ``action``. Describe ``Update.actions`` as an array of ``UpdateAction``. flask-smorest cannot describe this
    field, because it has no nested marshmallow schema: a check function loads its items."""
    names = {action: f"{action[0].upper()}{action[1:]}Action" for action in ACTION_SCHEMAS}
    for action, name in names.items():
        schemas[name] = converter.schema2jsonschema(ACTION_SCHEMAS[action])
        schemas[name]["description"] = REGISTRY[action].__doc__
        schemas[name]["properties"]["action"] = {"type": "string", "const": action}
    schemas["UpdateAction"] = {
        "oneOf": [_reference(name) for name in names.values()],
        "discriminator": {
            "propertyName": "action",
            "mapping": {action: f"#/components/schemas/{name}" for action, name in names.items()},
        },
    }
    schemas["Update"]["properties"]["actions"] = {
        "type": "array",
        "maxItems": ACTIONS_AT_MOST,
        "items": _reference("UpdateAction"),
    }


_METHODS = ("POST", "GET", "HEAD", "PUT", "PATCH", "DELETE")
"""The order of operations of a path. It lets the examples succeed if they are tried from top to bottom: delete comes
last. No endpoint class has a method for OPTIONS."""


def _paths(app: Flask, generated: Document) -> Document:
    """The paths of all views that ``@operation`` marks, in the order in which the application registers the views. The
    operations of a path are in the order of ``_METHODS``.

    :param generated: the paths that flask-smorest has described. Its keys name variables as the code does, as in
        ``/{project_key}/resource``. The keys of the result have the public names, as in ``/{projectKey}/resource``.
    """
    paths: Document = {}
    for rule in app.url_map.iter_rules():
        view_class = getattr(app.view_functions[rule.endpoint], "view_class", None)
        for name in sorted(getattr(view_class, "methods", None) or (), key=_METHODS.index):
            method = name.lower()
            view = getattr(view_class, method)
            declared = operation_of(view)
            if declared is not None:
                operation = generated[route_template(rule.rule)][method]
                paths.setdefault(path_template(rule.rule), {})[method] = _operation(view, declared, operation, rule)
    return paths


def path_template(rule: str) -> str:
    """The path of a URL rule with the public names of its variables, such as ``/{projectKey}/resource``."""
    parameters = PARTS["pathParameters"]
    return re.sub("{([a-z_]+)}", lambda variable: f"{{{parameters[variable[1]]['name']}}}", route_template(rule))


def _operation(view: Any, declared: Operation, generated: Document, rule: Rule) -> Document:
    """The operation object of the OpenAPI document for one method of a path.

    :param view: the method of the endpoint class.
    :param declared: the mark of the view (:mod:`app.openapi.marks`).
    :param generated: the operation object that flask-smorest has made: summary and description from the docstring of
        the view, query parameters and request body from the marshmallow schemas of the view's arguments.
    :param rule: the URL rule of the path. The path parameters follow from its variables, the tag from its blueprint.
    """
    body: Document | None = generated.get("requestBody")
    query: list[Document] = generated.get("parameters", [])
    if body is not None and FORM in body["content"]:
        # The search by form (interface 4.14). flask-smorest describes its fields as a required form body. But each
        # field may be in the query string instead, so all are also described as query parameters here, and the body
        # becomes optional.
        fields = {field.data_key or name: field for name, field in SearchFormSchema().fields.items()}
        query = [_query_parameter(name, field) for name, field in fields.items()]
        exploded = [name for name, field in fields.items() if cast("Parameter", field).repeatable]
        body["content"][FORM]["encoding"] = {name: {"style": "form", "explode": True} for name in exploded}
        body["required"] = False
    result: Document = {
        "operationId": declared.id,
        "summary": generated["summary"].rstrip("."),
        "description": _unwrapped(generated.get("description", "")),
        "tags": [PARTS["tags"][rule.endpoint.partition(".")[0]]["name"]],  # by the name of the blueprint
        "parameters": [
            *(PARTS["pathParameters"][name] for name in sorted(rule.arguments)),
            *query,
            *(PARTS["requestHeaders"][name] for name in (*declared.headers, "X-Correlation-ID")),
        ],
    }
    if body is not None:
        result["requestBody"] = body
    elif declared.form is not None:  # a form that no marshmallow schema loads: that of an OAuth endpoint
        result["requestBody"] = {"required": True, "content": {FORM: {"schema": _reference(declared.form)}}}
    for media in result.get("requestBody", {}).get("content", {}).values():
        schema_name = media["schema"]["$ref"].rpartition("/")[2]
        media["example"] = BODY_EXAMPLES.get(declared.id) or BODY_EXAMPLES[schema_name]
    scopes = accepted_scopes(view) or ()
    # In OpenAPI the entries of "security" are alternatives: a token with any one of the accepted scopes is enough, by
    # either scheme. A public view has no entries, so it needs no token.
    result["security"] = [
        {scheme: [f"{scope}:{{projectKey}}"]} for scheme in ("clientCredentials", "bearer") for scope in scopes
    ]
    if "invalid_client" in declared.error_codes:
        # An OAuth endpoint: the client sends its credentials by HTTP Basic, or as fields of the form. OpenAPI has no
        # scheme for fields of a form, so the second alternative is {}, which demands nothing.
        result["security"] = [{"client": []}, {}]
    codes = _codes(view, declared, body, is_of_a_project="project_key" in rule.arguments)
    # An answer replaces an error with the same status: the HEAD that checks whether resources exist declares 404 ("no
    # resource matches") as an answer.
    result["responses"] = _errors(codes) | {str(answer.status): _answer(answer) for answer in declared.answers}
    if view.__name__ == "head":  # its answers have no body
        for response in result["responses"].values():
            response.pop("content", None)
    return result


def _reference(schema: str) -> Document:
    """A reference to a schema."""
    return {"$ref": f"#/components/schemas/{schema}"}


def _query_parameter(name: str, field: Any) -> Document:
    """Describe a query parameter of the search by form. A client may send it as a field of the form instead.

    The description keeps documentation pages from filling in this parameter. On such a page, for example that of
    Swagger UI, a reader can try a request, and the page fills the fields of the form with examples. If the page also
    filled in the query parameters, the request would have each value twice. The service refuses this unless the
    parameter is repeatable.

    Pages fill in a query parameter that has an ``example``. So the parameter has none, and its example is only in the
    list ``examples`` of its schema. Swagger UI fills in an object from this list, too, unless the parameter has an
    ``example``. So a parameter that is an object gets an empty ``example``.
    """
    made: Document = {
        "name": name,
        "in": "query",
        "required": False,
        "schema": {**field.schema, "examples": [field.example]},
        "description": field.meaning,
    }
    return made | _style_of(field) | ({"example": {}} if field.schema["type"] == "object" else {})


# A line break that is not beside an empty line, nor before a numbered item, a dash or a heading.
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n|[0-9]+[.] |[-#])\s*")


def _unwrapped(text: str) -> str:
    """Remove the line breaks inside paragraphs and list items of Markdown, because some documentation pages would show
    each of these line breaks. The text must not contain tables, code blocks or nested lists."""
    return _LINE_BREAK.sub(" ", text.strip())


def _answer(answer: Answer) -> Document:
    """The description of a response whose body, if it has one, is not an error. :func:`_error` describes the others."""
    made: Document = {"description": answer.description, "headers": _header_references(answer.headers)}
    if answer.schema is not None:
        schema = _reference(answer.schema)
        made["content"] = {media_type: {"schema": schema} for media_type in answer.media_types}
        # If the example of a schema is missing, the document lacks it, and one test fails and names the schema. A
        # KeyError here would fail all tests.
        if JSON in made["content"] and answer.schema in ANSWER_EXAMPLES:
            made["content"][JSON]["example"] = ANSWER_EXAMPLES[answer.schema]
    if answer.links:
        made["links"] = {name: {"$ref": f"#/components/links/{name}"} for name in answer.links}
    return made


def _header_references(names: Sequence[str]) -> Document:
    """References to the headers of a response: these, and the correlation id, which every response has."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (*names, "X-Correlation-ID")}


_ERROR_HEADERS = {401: ("WWW-Authenticate",), 403: ("WWW-Authenticate",), 503: ("Retry-After",)}


def _codes(view: Any, declared: Operation, body: Document | None, *, is_of_a_project: bool) -> list[str]:
    """The codes of all errors with which a view's operation can be answered, for the OpenAPI document. 405 is left out,
    because it answers methods that an endpoint does not have.

    Every operation has three codes: General for a failure, InvalidInput for a refused host, and RequestRejected for
    headers that are too large. Every operation except ``isLive`` needs the database, so it also has OverCapacity.

    :param declared: the view's mark (:mod:`app.openapi.marks`). It has the codes that this function cannot derive.
    :param body: the description of the request body; None if no marshmallow schema loads a body for this view.
    :param is_of_a_project: whether the URL has a project key.
    """
    uses_database = [] if declared.id == "isLive" else ["OverCapacity"]
    codes = ["General", *uses_database, "InvalidInput", "RequestRejected", *declared.error_codes]
    if accepted_scopes(view):
        codes += ["invalid_token", "insufficient_scope"]
    if is_of_a_project:
        codes.append("ResourceNotFound")  # an invalid project key makes an unknown URL
    if body is not None or declared.form is not None:
        codes += ["ContentTooLarge", "UnsupportedMediaType"]
    if body is not None and JSON in body["content"]:
        codes += ["InvalidJsonInput", "InvalidField"]
    return list(dict.fromkeys(codes))


def _errors(codes: Sequence[str]) -> Document:
    """The responses for error codes: one for each status, with the meanings and examples of all its codes. A response
    414 is always added: gunicorn refuses a request target that is too long, whatever operation the request is for."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(errors.CATALOGUE[code].status, []).append(code)
    answers = {
        status: _error(status, "; ".join(errors.CATALOGUE[code].meaning for code in of_status), of_status)
        for status, of_status in by_status.items()
    }
    answers[414] = _error(414, "the request target is too long", [_TARGET_TOO_LONG])
    return {str(status): answers[status] for status in sorted(answers)}


_TARGET_TOO_LONG = "InvalidInput-414"
"""The name of the example for 414, the only error whose code also has another status."""


def _error(status: int, meaning: str, examples: Sequence[str]) -> Document:
    """The description of a response with the body of an error."""
    return {
        "description": meaning,
        "headers": _header_references(_ERROR_HEADERS.get(status, ())),
        "content": {
            JSON: {
                "schema": _reference("Error"),
                "examples": {name: {"$ref": f"#/components/examples/{name}"} for name in examples},
            }
        },
    }


# How apispec converts the fields of parameters


def describe_fields(api: Api) -> None:
    """Make flask-smorest describe each :class:`Parameter` by its schema, meaning, example and style. To be called
    before routes are registered."""
    converter = _converter_of(api)
    converter.add_attribute_function(_schema_of)
    converter.add_parameter_attribute_function(_parameter_of)


def _converter_of(api: Api) -> Any:
    """apispec's converter of marshmallow's fields, which flask-smorest's types do not show."""
    return cast("Any", api).ma_plugin.converter


def _schema_of(_converter: Any, field: Any, **_: Any) -> Document:
    """The schema of a parameter, for apispec; nothing for another field."""
    # apispec moves the description of a query parameter out of its schema; a field of a form keeps it.
    return {**field.schema, "description": field.meaning} if isinstance(field, Parameter) else {}


def _parameter_of(_converter: Any, field: Any, **_: Any) -> Document:
    """The members ``example`` and ``style`` of a field that is a :class:`Parameter`; none for another field. apispec
    adds them to the description of the field as a query parameter."""
    if not isinstance(field, Parameter):
        return {}
    made: Document = {} if field.example is None else {"example": field.example}
    return made | _style_of(field)


def _style_of(field: Parameter) -> Document:
    """How a repeatable parameter is sent: ``name=a&name=b``."""
    return {"style": "form", "explode": True} if field.repeatable else {}
