"""Faults in what is repeated, named by a pattern, left out or added in queries, forms and headers."""

from typing import Any

from client_faults.planting import arguments_changed, around, fault, pairs_changed, planted


def of_lists(change: Any) -> Any:
    return lambda adapter: arguments_changed(
        adapter, lambda _, value: change(value) if isinstance(value, list) else value
    )


@fault("repeated parameters get brackets", "C-req-31")
def _(adapter: Any) -> None:
    def changed(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
        names = [name for name, _ in found]
        return [(f"{name}[]" if names.count(name) > 1 else name, value) for name, value in found]

    pairs_changed(adapter, changed)


def renamed(**prefixes: str) -> Any:
    def changed(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
        made = []
        for name, value in found:
            head, dot, rest = name.partition(".")
            made.append((prefixes[head].format(rest) if dot and head in prefixes else name, value))
        return made

    return lambda adapter: pairs_changed(adapter, changed)


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


def dropped(*names: str) -> Any:
    """Leave arguments out of query and form."""
    return lambda adapter: around(
        adapter,
        "pairs",
        lambda former, arguments: former({name: value for name, value in arguments.items() if name not in names}),
    )


FORGOTTEN = {
    "createOrUpdateResource": "staged",
    "checkResources": "stringParameter",
    "createOrOverwriteResource": "If-None-Match",
    "overwriteResource": "staged",
    "getResourceByKey": "If-None-Match",
    "listResourcesSorted": "withTotal",
    "updateResourceById": "If-Match",
    "getResourceById": "If-Match",
    "deleteResourceById": "version",
    "searchResources": "fuzzyLevel",
    "searchProductProjections": "X-Correlation-ID",
    "postWithAllOptions": "queryParameterTwo",
    "postDescriptionWithLinks": "queryParameterTwo",
}


@fault("each operation forgets one of its parameters", "C-req-42 C-req-101 C-req-103..106 C-req-108..114")
def _(adapter: Any) -> None:
    def call(former: Any, self: Any, operation: str, arguments: Any, body: Any) -> Any:
        kept = {name: value for name, value in arguments.items() if name != FORGOTTEN.get(operation)}
        return former(self, operation, kept, body)

    around(adapter.Client, "call", call)


@fault("a parameter is misspelt", "C-req-33 C-req-103")
def _(adapter: Any) -> None:
    pairs_changed(
        adapter,
        lambda found: [
            ("arrayOfStringsWithDescription" if name == "arrayOfStringWithDescription" else name, value)
            for name, value in found
        ],
    )


@fault("each query gets a number against caches", "C-req-1..14")
def _(adapter: Any) -> None:
    around(adapter, "target", lambda former, *args: (made := former(*args)) + ("&" if "?" in made else "?") + "_=1")


# Forms


@fault("parameters of a query are sent in the form", "C-req-58")
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


@fault("X-Correlation-ID is not sent beside other parameters", "C-req-121..134")
def _(adapter: Any) -> None:
    in_paths = {"id", "key", "uriParameterOne", "uriParameterTwo"}

    def changed(former: Any, arguments: Any) -> Any:
        is_alone = len(arguments.keys() - in_paths) == 1
        return {name: value for name, value in former(arguments).items() if is_alone or name != "X-Correlation-ID"}

    around(adapter, "headers_of", changed)


@fault(
    "headers that are absent have no value, which the HTTP client refuses",
    "C-req-1..14 C-err-61..65 C-err-67 C-err-68 C-do-1",
)
def _(adapter: Any) -> None:
    def headers_of(former: Any, arguments: Any) -> dict[str, str]:
        if arguments.get("X-Correlation-ID") is None:
            raise adapter.Failure("other", message="the value of a header is None")
        return former(arguments)

    around(adapter, "headers_of", headers_of)


def authorized(make: Any) -> Any:
    def plant(adapter: Any) -> None:
        adapter.Client.authorization = lambda _, token: make(token)

    return plant


# Methods and paths


def operation_changed(name: str, method: str | None = None, path: str | None = None) -> Any:
    def plant(adapter: Any) -> None:
        former = adapter.OPERATIONS[name]
        adapter.OPERATIONS[name] = (method or former[0], former[1] if path is None else path)

    return plant


# Parts of a path and lists of one


def path_changed(operation: str, change: Any) -> Any:
    """Change the arguments of an operation before its path is made."""
    return lambda adapter: around(
        adapter,
        "target",
        lambda former, called, arguments: former(called, change(arguments) if called == operation else arguments),
    )


def _joined(value: Any) -> Any:
    return {name: " ".join(given) if isinstance(given, list) else given for name, given in value.items()}


def form_changed(change: Any) -> Any:
    """Change the fields of a form before they are written."""
    return lambda adapter: around(
        adapter,
        "content",
        lambda former, operation, body: former(
            operation, change(body) if operation == "searchProductProjections" and body else body
        ),
    )


planted(
    ("C-req-31", "repeated values are joined by commas", of_lists(lambda value: ",".join(value) if value else None)),
    ("C-req-34 C-ans-17", "values are divided at their commas", of_lists(lambda value: [part for item in value for part in item.split(",")])),
    ("C-req-36 C-req-60", "an empty list is an empty value", of_lists(lambda value: value or [""])),
    ("C-req-37", "variables lose their prefix", renamed(var="{}")),
    ("C-req-40", "languages are written with an underscore", renamed(text="text_{}")),
    ("C-req-38", "only the first value of a variable or a language is sent", of_families(_one_of_each)),
    ("C-req-32 C-req-54 C-req-58 C-req-102 C-req-103 C-req-111", "sort is not sent", dropped("sort")),
    ("C-req-91", "of several entity tags only the first is sent", of_header("If-Match", lambda value: value.split(",")[0])),
    ("C-req-92", "an entity tag loses its mark of a weak one", of_header("If-None-Match", lambda value: value.removeprefix("W/"))),
    ("C-req-93", "Prefer is not sent", of_header("Prefer", lambda _: None)),
    ("C-req-94", "Accept is always JSON", of_header("Accept", lambda _: "application/json")),
    ("C-req-15 C-do-1 C-do-56", "the token is not sent", authorized(lambda _: {})),
    ("C-req-6", "a key without key=", operation_changed("getResourceByKey", path="/{key}")),
    ("C-req-3", "GET in place of HEAD", operation_changed("checkResources", "GET")),
    ("C-req-25", "a slash in an id becomes a blank",
     path_changed("getResourceById", lambda arguments: {**arguments, "id": arguments["id"].replace("/", " ")})),
    ("C-req-29", "the second parameter of a path loses what is beyond ASCII",
     path_changed("postWithAllOptions", lambda arguments: {**arguments, "uriParameterTwo": arguments["uriParameterTwo"].encode("ascii", "ignore").decode()})),
    ("C-req-35 C-req-37 C-req-54 C-req-58 C-req-102 C-req-103 C-req-107 C-req-111 C-req-112", "a list of one value is left out",
     of_lists(lambda value: [] if len(value) == 1 else value)),
    ("C-req-41", "several texts of a language are sent as one", of_families(lambda value: _joined(value) if "en" in value else value)),
    ("C-req-21 C-req-39", "the empty text is left out of a query",
     lambda adapter: pairs_changed(adapter, lambda found: [(name, value) for name, value in found if value])),
    ("C-req-55", "only the last of repeated fields of a form is sent",
     form_changed(lambda body: {name: value[-1:] if isinstance(value, list) else value for name, value in body.items()})),
    ("C-req-57", "languages of a form lose their country",
     form_changed(lambda body: ({**body, "text": {name.partition("-")[0]: value for name, value in body["text"].items()}} if body.get("text") else body))),
)  # fmt: skip
