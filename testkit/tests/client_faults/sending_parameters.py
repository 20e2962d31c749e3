"""Faults in what is repeated, named by a pattern, left out or added in queries, forms and headers."""

import json
from typing import Any

from client_faults.planting import arguments_changed, around, fault, pairs_changed


def of_lists(change: Any) -> Any:
    return lambda adapter: arguments_changed(
        adapter, lambda _, value: change(value) if isinstance(value, list) else value
    )


fault("repeated values are joined by commas", "C-req-31 C-req-32 C-req-55 C-req-57")(
    of_lists(lambda value: ",".join(value) if value else None)
)
fault("only the last of repeated values is sent", "C-req-31 C-req-32 C-req-55 C-req-57")(
    of_lists(lambda value: value[-1:])
)
fault("repeated values are sorted", "C-req-31 C-req-32 C-req-55 C-req-57")(of_lists(sorted))
fault("repeated values are sent in reverse", "C-req-31 C-req-32 C-req-55 C-req-57")(of_lists(lambda value: value[::-1]))


fault("values are divided at their commas", "C-req-34 C-ans-17 C-ans-18")(
    of_lists(lambda value: [part for item in value for part in item.split(",")])
)
fault("an empty list is an empty value", "C-req-36")(of_lists(lambda value: value or [""]))


def of_name(name: str, change: Any) -> Any:
    """Change an argument, if it is there."""
    return lambda adapter: arguments_changed(
        adapter, lambda each, value: change(value) if each == name and value else value
    )


fault("several predicates are sent as one", "C-req-31")(of_name("where", lambda value: [" and ".join(value)]))
fault("only the first field of sort is sent", "C-req-32 C-req-122 C-req-123 C-req-127 C-req-131 C-req-132")(
    of_name("sort", lambda value: value[:1])
)


@fault("repeated parameters get brackets", "C-req-31 C-req-32 C-req-55 C-req-57")
def _(adapter: Any) -> None:
    def changed(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
        names = [name for name, _ in found]
        return [(f"{name}[]" if names.count(name) > 1 else name, value) for name, value in found]

    pairs_changed(adapter, changed)


@fault("repeated parameters get positions", "C-req-31 C-req-32 C-req-55 C-req-57")
def _(adapter: Any) -> None:
    def changed(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
        names = [name for name, _ in found]
        return [
            (f"{name}[{names[:place].count(name)}]" if names.count(name) > 1 else name, value)
            for place, (name, value) in enumerate(found)
        ]

    pairs_changed(adapter, changed)


def renamed(**prefixes: str) -> Any:
    def changed(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
        made = []
        for name, value in found:
            head, dot, rest = name.partition(".")
            made.append((prefixes[head].format(rest) if dot and head in prefixes else name, value))
        return made

    return lambda adapter: pairs_changed(adapter, changed)


fault("variables lose their prefix", "C-req-37 C-req-102 C-req-103 C-req-107 C-do-48")(renamed(var="{}"))
fault("variables are written with brackets", "C-req-37 C-req-102 C-req-103 C-req-107 C-do-48")(renamed(var="var[{}]"))
fault("languages are written with an underscore", "C-req-40 C-req-54 C-req-111 C-req-112")(renamed(text="text_{}"))


def of_families(change: Any) -> Any:
    """Change the objects of var and text as a whole."""

    def plant(adapter: Any) -> None:
        def changed(former: Any, arguments: Any) -> Any:
            return former(
                {
                    name: change(value) if isinstance(value, dict) and name in ("var", "text") else value
                    for name, value in arguments.items()
                }
            )

        around(adapter, "pairs", changed)

    return plant


def _one_of_each(value: Any) -> Any:
    return {name: given[0] if isinstance(given, list) else given for name, given in value.items()}


def _joined(value: Any) -> Any:
    return {name: " ".join(given) if isinstance(given, list) else given for name, given in value.items()}


fault("only the first value of a variable or a language is sent", "C-req-38 C-req-41 C-req-57")(
    of_families(_one_of_each)
)
fault("several texts of a language are sent as one", "C-req-41 C-req-57 C-req-131 C-req-132")(
    of_families(lambda value: _joined(value) if "en" in value else value)
)
fault(
    "variables and texts are sent as JSON",
    "C-req-37 C-req-40 C-req-54 C-req-102 C-req-103 C-req-107 C-req-111 C-req-112 C-ans-14 C-ans-21 C-do-48 C-do-50",
)(
    lambda adapter: around(
        adapter,
        "pairs",
        lambda former, arguments: former(
            {
                f"{name}_": json.dumps(value) if name in ("var", "text") and value else value
                for name, value in arguments.items()
            }
            if any(name in ("var", "text") for name in arguments)
            else arguments
        ),
    )
)
fault("only the first name of a family is sent", "C-req-37 C-req-40 C-req-56 C-req-57")(
    of_families(lambda value: dict(list(value.items())[:1]))
)


def dropped(*names: str) -> Any:
    """Leave arguments out of query and form."""
    return lambda adapter: around(
        adapter,
        "pairs",
        lambda former, arguments: former({name: value for name, value in arguments.items() if name not in names}),
    )


fault("withTotal is not sent", "C-req-42")(dropped("withTotal"))
fault("expand is not sent", "C-req-107")(dropped("expand"))
fault("sort is not sent", "C-req-32 C-req-35 C-req-54 C-req-102 C-req-103 C-req-107 C-req-111 C-req-112 C-do-49")(
    dropped("sort")
)
fault("offset is not sent", "C-req-43 C-req-54 C-req-102 C-req-103 C-req-107 C-req-111 C-req-112 C-err-12 C-do-49")(
    dropped("offset")
)


def forgotten(operation: str, name: str) -> Any:
    """Leave an argument of one operation out, wherever it stands."""

    def plant(adapter: Any) -> None:
        def call(former: Any, self: Any, called: str, arguments: Any, body: Any) -> Any:
            if called == operation:
                arguments = {each: value for each, value in arguments.items() if each != name}
            return former(self, called, arguments, body)

        around(adapter.Client, "call", call)

    return plant


for operation, name, scenarios in (
    ("createOrUpdateResource", "staged", "C-req-101"),
    ("listResources", "stringParameter", "C-req-16..22 C-req-95 C-req-102"),
    ("checkResources", "stringParameter", "C-req-103"),
    ("createOrOverwriteResource", "If-None-Match", "C-req-104"),
    ("overwriteResource", "staged", "C-req-105"),
    ("getResourceByKey", "If-None-Match", "C-req-106 C-ans-24"),
    ("updateResourceById", "If-Match", "C-req-108"),
    ("getResourceById", "secondOptionalQueryParameter", "C-req-21 C-req-109"),
    ("deleteResourceById", "version", "C-req-110"),
    ("searchResources", "fuzzyLevel", "C-req-111"),
    ("searchProductProjections", "X-Correlation-ID", "C-req-112"),
    ("postWithAllOptions", "queryParameterTwo", "C-req-113"),
    ("postDescriptionWithLinks", "queryParameterTwo", "C-req-114"),
):
    fault(f"{operation} forgets {name}", scenarios)(forgotten(operation, name))


@fault("a parameter is misspelt", "C-req-33 C-req-102 C-req-103")
def _(adapter: Any) -> None:
    pairs_changed(
        adapter,
        lambda found: [
            ("arrayOfStringsWithDescription" if name == "arrayOfStringWithDescription" else name, value)
            for name, value in found
        ],
    )


@fault("two parameters are exchanged", "C-req-21 C-req-109")
def _(adapter: Any) -> None:
    other = {
        "optionalQueryParameter": "secondOptionalQueryParameter",
        "secondOptionalQueryParameter": "optionalQueryParameter",
    }
    pairs_changed(adapter, lambda found: [(other.get(name, name), value) for name, value in found])


@fault("each query gets a number against caches", "C-req-1..14")
def _(adapter: Any) -> None:
    around(adapter, "target", lambda former, *args: (made := former(*args)) + ("&" if "?" in made else "?") + "_=1")


# Forms


@fault("the fields of a form are sent in the query", "C-req-54")
def _(adapter: Any) -> None:
    async def changed(former: Any, self: Any, method: str, path: str, headers: Any, operation: str, body: Any) -> Any:
        if operation == "searchProductProjections" and body:
            path += ("&" if "?" in path else "?") + adapter.encoded(adapter.pairs(body))
            body = {}
        return await former(self, method, path, headers, operation, body)

    former = adapter.Client.answer
    adapter.Client.answer = lambda self, *args: changed(former, self, *args)


@fault("parameters of a query are sent in the form", "C-req-58 C-req-112")
def _(adapter: Any) -> None:
    held: dict[str, Any] = {}

    def target(former: Any, operation: str, arguments: Any) -> str:
        if operation == "searchProductProjections" and "sort" in arguments and "fuzzy" not in arguments:
            held.update(arguments)
            return former(operation, {})
        return former(operation, arguments)

    def content(former: Any, operation: str, body: Any) -> Any:
        if operation == "searchProductProjections" and held and body:
            body = {**held, **body}
            held.clear()
        return former(operation, body)

    around(adapter, "target", target)
    around(adapter, "content", content)


# Headers


def of_header(name: str, change: Any) -> Any:
    def changed(former: Any, arguments: Any) -> Any:
        made = former(arguments)
        return (
            {key: value for key, value in {**made, name: change(made[name])}.items() if value} if name in made else made
        )

    return lambda adapter: around(adapter, "headers_of", changed)


fault("If-Match loses its quotes", "C-req-91 C-req-101 C-req-104..106 C-req-108..110 C-err-11 C-do-32 C-do-53")(
    of_header("If-Match", lambda value: value.replace('"', ""))
)
fault("of several entity tags only the first is sent", "C-req-91")(
    of_header("If-Match", lambda value: value.split(",")[0])
)
fault("an entity tag loses its mark of a weak one", "C-req-92")(
    of_header("If-None-Match", lambda value: value.removeprefix("W/"))
)


@fault("X-Correlation-ID is not sent beside other parameters", "C-req-121..134")
def _(adapter: Any) -> None:
    in_paths = {"id", "key", "uriParameterOne", "uriParameterTwo"}

    def changed(former: Any, arguments: Any) -> Any:
        is_alone = len(arguments.keys() - in_paths) == 1
        return {name: value for name, value in former(arguments).items() if is_alone or name != "X-Correlation-ID"}

    around(adapter, "headers_of", changed)


fault("Prefer is not sent", "C-req-93 C-req-113 C-req-114")(of_header("Prefer", lambda _: None))
fault("Accept is always JSON", "C-req-94 C-ans-28..30")(of_header("Accept", lambda _: "application/json"))
fault("X-Correlation-ID is not sent", "C-req-101..114")(of_header("X-Correlation-ID", lambda _: None))


def authorized(make: Any) -> Any:
    def plant(adapter: Any) -> None:
        adapter.Client.authorization = lambda _, token: make(token)

    return plant


fault("the token is not sent", "C-req-15")(authorized(lambda _: {}))
fault("the token is cut off", "C-req-15")(authorized(lambda token: {"Authorization": f"Bearer {token[:-1]}"}))


# Methods and paths


def operation_changed(name: str, method: str | None = None, path: str | None = None) -> Any:
    def plant(adapter: Any) -> None:
        former = adapter.OPERATIONS[name]
        adapter.OPERATIONS[name] = (method or former[0], former[1] if path is None else path)

    return plant


fault("PUT in place of POST", "C-req-1")(operation_changed("createOrUpdateResource", "PUT"))
fault("POST in place of PATCH", "C-req-5")(operation_changed("overwriteResource", "POST"))
fault("a key without key=", "C-req-6")(operation_changed("getResourceByKey", path="/{key}"))
fault("the two parameters of a path are exchanged", "C-req-13")(
    operation_changed(
        "postWithAllOptions", path="/artificially-complex/path/uri-parameter-one={uriParameterTwo}/{uriParameterOne}"
    )
)
fault("one search in place of the other", "C-req-11")(
    operation_changed("searchResources", path="/product-projection-search")
)
fault("the sorted list in place of the list", "C-req-2")(
    operation_changed("listResources", path="/sorted-query-parameters")
)
fault("GET in place of HEAD", "C-req-3")(operation_changed("checkResources", "GET"))
fault("POST in place of PUT", "C-req-4")(operation_changed("createOrOverwriteResource", "POST"))
fault("the list in place of the sorted list", "C-req-7")(operation_changed("listResourcesSorted", path=""))
fault("PATCH in place of POST", "C-req-8")(operation_changed("updateResourceById", "PATCH"))
fault("a path with a slash at its end", "C-req-9")(operation_changed("getResourceById", path="/{id}/"))
fault("a delete without its id", "C-req-10")(operation_changed("deleteResourceById", path="/"))
fault("PUT in place of the POST of a form", "C-req-12")(operation_changed("searchProductProjections", "PUT"))
fault("a word of a path is misspelt", "C-req-14")(
    operation_changed("postDescriptionWithLinks", path="/description-with-links")
)
