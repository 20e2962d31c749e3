"""Faults in what is returned for answers of success."""

from typing import Any

from client_faults.planting import around, deep, deep_arrays, deep_objects, fault, numbers, results_changed, texts

TIMES = ("createdAt", "lastModifiedAt")


def scalars(change: Any) -> Any:
    return lambda adapter: results_changed(adapter, lambda result: deep(change, result))


def objects(change: Any) -> Any:
    return lambda adapter: results_changed(adapter, lambda result: deep_objects(change, result))


def arrays(change: Any) -> Any:
    return lambda adapter: results_changed(adapter, lambda result: deep_arrays(change, result))


def without(*names: str) -> Any:
    return objects(lambda value: {name: item for name, item in value.items() if name not in names})


def responses(check: Any) -> Any:
    """Refuse answers for which a condition holds."""

    def plant(adapter: Any) -> None:
        def changed(former: Any, method: str, response: Any) -> Any:
            if check(response):
                raise adapter.Failure("decoding", message="refused")
            return former(method, response)

        around(adapter, "result_of", changed)

    return plant


# Numbers

fault("integers are returned in 32 bits", "C-ans-25..27 C-ans-31 C-ans-34 C-ans-35 C-ans-53 C-ans-74")(
    scalars(numbers(lambda value: (value + 2**31) % 2**32 - 2**31 if isinstance(value, int) else value))
)
fault("numbers with an exponent are no integers", "C-ans-54")(
    responses(
        lambda response: (
            b"e"
            in response.content.replace(b'"', b"")
            .partition(b"arrayOfNumberNoDefaultsExample: [")[2]
            .partition(b"]")[0]
            .lower()
        )
    )
)

# Times

fault("a time without a zone gets one", "C-ans-32")(
    objects(lambda value: {name: f"{item}Z" if name == "dateTimeOnlyExample" else item for name, item in value.items()})
)

# Texts

fault("long texts are cut off", "C-ans-47")(scalars(texts(lambda value: value[:65_535])))

# Arrays and objects

fault("a page has a hundred results at most", "C-ans-48")(
    objects(lambda value: {**value, "results": value["results"][:100]} if "results" in value else value)
)
fault("expanded references are not returned", "C-ans-13")(without("obj"))
fault("hasStagedChanges is always false", "C-ans-14")(
    objects(lambda value: {**value, "hasStagedChanges": False} if "hasStagedChanges" in value else value)
)


# What nobody knows


def known_only(names: set[str]) -> Any:
    def check(adapter: Any) -> None:
        def seen(result: Any) -> Any:
            found: set[str] = set()
            deep_objects(lambda value: found.update(value) or value, result)
            if found & names:
                raise adapter.Failure("decoding", message="unknown members")
            return result

        results_changed(adapter, seen)

    return check


fault("unknown members of ObjectTypes are refused", "C-ans-65")(known_only({"arrayOfTomorrow"}))


def enumerated(member: str, *allowed: str) -> Any:
    def plant(adapter: Any) -> None:
        def check(value: dict[str, Any]) -> Any:
            if isinstance(value.get(member), str) and value[member] not in allowed:
                raise adapter.Failure("decoding", message=f"unknown {member}")
            return value

        results_changed(adapter, lambda result: deep_objects(check, result))

    return plant


# Statuses and heads


def statuses(adapter: Any, refused: tuple[int, ...]) -> None:
    around(adapter, "is_success", lambda former, operation, status: status not in refused and former(operation, status))


fault("201 is an error", "C-ans-4 C-ans-5 C-ans-26 C-ans-29 C-ans-73 C-err-46 C-do-12 C-do-20 C-do-50")(
    lambda adapter: statuses(adapter, (201,))
)


@fault("the existence check is always true", "C-ans-23")
def _(adapter: Any) -> None:
    around(adapter, "result_of", lambda former, method, response: method == "HEAD" or former(method, response))


def of_forms(change: Any) -> Any:
    def plant(adapter: Any) -> None:
        def changed(former: Any, method: str, response: Any) -> Any:
            result = former(method, response)
            return change(response, result) if adapter.media_type(response) == adapter.FORM else result

        around(adapter, "result_of", changed)

    return plant


fault("the charset may not be in quotation marks", "C-ans-61")(
    responses(lambda response: '"' in response.headers.get("Content-Type", ""))
)


@fault(
    "a location is shown that the answer does not have",
    "C-ans-4 C-ans-5 C-ans-23 C-ans-24 C-ans-26 C-ans-27 C-ans-29 C-ans-30 C-ans-32 C-do-12 C-do-20",
)
def _(adapter: Any) -> None:
    around(adapter, "meta_of", lambda former, response: {**former(response), "status": 200})
