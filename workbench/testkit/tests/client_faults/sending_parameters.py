"""Faults in what is repeated, named by a pattern, left out or added in queries, forms and headers."""

from typing import Any

from client_faults.planting import arguments_changed, around, fault, pairs_changed, planted


def of_lists(change: Any) -> Any:
    return lambda adapter: arguments_changed(
        adapter, lambda _, value: change(value) if isinstance(value, list) else value
    )


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


# Headers


def of_header(name: str, change: Any) -> Any:
    def changed(former: Any, arguments: Any) -> Any:
        made = former(arguments)
        return (
            {key: value for key, value in {**made, name: change(made[name])}.items() if value} if name in made else made
        )

    return lambda adapter: around(adapter, "headers_of", changed)


@fault("X-Correlation-ID is not sent beside other parameters", "C-req-101..114")
def _(adapter: Any) -> None:
    in_paths = {"id", "key", "uriParameterOne", "uriParameterTwo"}

    def changed(former: Any, arguments: Any) -> Any:
        is_alone = len(arguments.keys() - in_paths) == 1
        return {name: value for name, value in former(arguments).items() if is_alone or name != "X-Correlation-ID"}

    around(adapter, "headers_of", changed)


@fault(
    "headers that are absent have no value, which the HTTP client refuses",
    "C-req-1..14 C-err-61 C-err-63 C-err-65 C-err-67 C-err-68 C-do-1",
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


# Parts of a path and lists of one


def of_list(name: str, change: Any) -> Any:
    """Change the values of one repeated parameter."""

    def plant(adapter: Any) -> None:
        def pairs(former: Any, arguments: Any) -> Any:
            given = arguments.get(name)
            return former({**arguments, name: change(given)} if isinstance(given, list) else arguments)

        around(adapter, "pairs", pairs)

    return plant


planted(
    ("C-req-31", "repeated values are joined by commas",
     of_lists(lambda value: ",".join(value) if value else None)),
    ("C-req-36 C-req-60", "an empty list is an empty value",
     of_lists(lambda value: value or [""])),
    ("C-req-91", "of several entity tags only the first is sent",
     of_header("If-Match", lambda value: value.split(",")[0])),
    ("C-req-93", "Prefer is not sent",
     of_header("Prefer", lambda _: None)),
    ("C-req-15 C-do-1 C-do-56", "the token is not sent",
     authorized(lambda _: {})),
    ("C-req-31 C-req-37 C-req-54 C-req-58 C-req-102 C-req-103 C-req-107 C-req-111 C-req-112", "a list of one value is left out",
     of_lists(lambda value: [] if len(value) == 1 else value)),
    ("C-req-21 C-req-37", "the empty text is left out of a query",
     lambda adapter: pairs_changed(adapter, lambda found: [(name, value) for name, value in found if value])),
    ("C-req-33 C-req-38", "a text that is repeated is sent once",
     of_lists(lambda value: list(dict.fromkeys(value)))),
    ("C-req-34", "commas in repeated values become semicolons",
     of_list("arrayOfString", lambda value: [item.replace(",", ";") for item in value])),
    ("C-req-40 C-req-55", "lists of variables and languages are the other way round",
     of_families(lambda value: {name: given[::-1] if isinstance(given, list) else given for name, given in value.items()})),
)  # fmt: skip
