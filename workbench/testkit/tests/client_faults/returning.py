"""Faults in what is returned for answers of success."""

import json
from typing import Any

from client_faults.planting import around, deep, deep_arrays, deep_objects, fault, numbers, planted, results_changed

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


# Times


# Texts


# Arrays and objects


@fault(
    "a page is returned as its results",
    "C-ans-9..21 C-ans-48 C-ans-49 C-ans-66 C-ans-68..72 C-ans-75 C-ans-76 C-do-48 C-do-49",
)
def _(adapter: Any) -> None:
    results_changed(
        adapter, lambda result: result["results"] if isinstance(result, dict) and "results" in result else result
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


def enumerated(member: str, *allowed: str) -> Any:
    def plant(adapter: Any) -> None:
        def check(value: dict[str, Any]) -> Any:
            if isinstance(value.get(member), str) and value[member] not in allowed:
                raise adapter.Failure("decoding", message=f"unknown {member}")
            return value

        results_changed(adapter, lambda result: deep_objects(check, result))

    return plant


# Operations that return nothing


def nothing(when: Any) -> Any:
    """Return null for some answers."""
    return lambda adapter: around(
        adapter,
        "result_of",
        lambda former, method, response: None if when(response.request) else former(method, response),
    )


# Statuses and heads


def statuses(adapter: Any, refused: tuple[int, ...]) -> None:
    around(adapter, "is_success", lambda former, operation, status: status not in refused and former(operation, status))


@fault("the existence check is always false", "C-ans-22 C-ans-49")
def _(adapter: Any) -> None:
    around(adapter, "result_of", lambda former, method, response: method != "HEAD" and former(method, response))


def of_forms(change: Any) -> Any:
    def plant(adapter: Any) -> None:
        def changed(former: Any, method: str, response: Any) -> Any:
            result = former(method, response)
            return change(response, result) if adapter.media_type(response) == adapter.FORM else result

        around(adapter, "result_of", changed)

    return plant


@fault(
    "each answer is shown with the status 200",
    "C-ans-4 C-ans-5 C-ans-23 C-ans-24 C-ans-26 C-ans-27 C-ans-29 C-ans-30 C-ans-32 C-do-12 C-do-20",
)
def _(adapter: Any) -> None:
    around(adapter, "meta_of", lambda former, response: {**former(response), "status": 200})


planted(
    ("C-ans-35 C-ans-74", "large integers are returned as texts",
     scalars(numbers(lambda value: str(value) if isinstance(value, int) and abs(value) >= 2**53 else value))),
    ("C-ans-37 C-ans-38", "fractions are returned with single precision",
     scalars(numbers(lambda value: float(f"{value:.7g}") if isinstance(value, float) else value))),
    ("C-ans-54", "numbers with an exponent are no integers",
     responses(lambda response: (b"e" in response.content.replace(b'"', b"") .partition(b"arrayOfNumberNoDefaultsExample: [")[2] .partition(b"]")[0] .lower()))),
    ("C-ans-36", "integers beyond 2^62 are returned as fractions",
     scalars(numbers(lambda value: float(value) if isinstance(value, int) and abs(value) > 2**62 else value))),
    ("C-ans-53", "a version is returned in 32 bits",
     objects(lambda value: {name: (item + 2**31) % 2**32 - 2**31 if name == "version" and isinstance(item, int) else item for name, item in value.items()})),
    ("C-ans-1..9 C-ans-11..21 C-ans-33..35 C-ans-37..48 C-ans-50..67 C-ans-71 C-ans-73 C-ans-75 C-ans-76 C-err-35 C-err-59 C-err-60 C-do-12 C-do-20 C-do-39 C-do-42 C-do-45 C-do-46 C-do-59 C-do-60", "milliseconds are lost",
     objects(lambda value: {name: item[:19] + "Z" if name in TIMES else item for name, item in value.items()})),
    ("C-ans-7 C-ans-25..27 C-ans-39 C-ans-40 C-ans-57 C-ans-58 C-ans-61 C-err-37..39 C-err-42..46 C-err-64", "texts are read in Latin-1",
     lambda adapter: around(adapter, "result_of", lambda former, method, response: (former(method, response) if method == "HEAD" or adapter.media_type(response) != adapter.JSON else json.loads(response.content.decode("latin-1"))))),
    ("C-ans-42 C-ans-48", "empty arrays are not returned",
     objects(lambda value: {name: item for name, item in value.items() if item != [] or not name.startswith("arrayOf")})),
    ("C-ans-1 C-ans-3 C-ans-4 C-ans-7..9 C-ans-11 C-ans-15..20 C-ans-43 C-ans-48 C-ans-50..53 C-ans-55..65 C-ans-67 C-ans-73 C-do-45 C-do-46", "arrays lose their duplicates",
     arrays(lambda value: [item for place, item in enumerate(value) if len(value) > 600 or item not in value[:place]])),
    ("C-ans-1..8 C-ans-11..13 C-ans-33..35 C-ans-37..48 C-ans-50..65 C-ans-67 C-ans-73 C-ans-75 C-ans-76 C-err-35 C-err-59 C-err-60 C-do-12 C-do-20 C-do-39 C-do-42 C-do-45 C-do-46 C-do-59 C-do-60", "objectTypeProperty is returned without its wrapper",
     objects(lambda value: {**{name: item for name, item in value.items() if name != "objectTypeProperty"}, **value.get("objectTypeProperty", {})})),
    ("C-ans-13", "expanded references are not returned", without("obj")),
    ("C-ans-71", "totalCapped is not returned", without("totalCapped")),
    ("C-ans-14", "hasStagedChanges is always false",
     objects(lambda value: {**value, "hasStagedChanges": False} if "hasStagedChanges" in value else value)),
    ("C-ans-16 C-ans-21 C-ans-72", "terms of facets are returned as texts",
     objects(lambda value: {**value, "term": str(value["term"])} if "term" in value else value)),
    ("C-ans-18 C-ans-20", "facets of filters are not returned",
     objects(lambda value: {name: item for name, item in value.items() if not (isinstance(item, dict) and item.get("type") == "filter")})),
    ("C-ans-12", "a page without a total gets one", objects(lambda value: {"total": value["count"], **value} if "results" in value else value)),
    ("C-ans-64", "unknown members of resources are refused", known_only({"sandboxOfTomorrow"})),
    ("C-ans-69", "unknown kinds of facets are refused", enumerated("type", "terms", "range", "filter")),
    ("C-ans-8 C-do-59", "a delete returns nothing", nothing(lambda request: request.method == "DELETE")),
    ("C-ans-4 C-ans-5 C-ans-26 C-ans-29 C-ans-73 C-err-46 C-do-12 C-do-20", "201 is an error", lambda adapter: statuses(adapter, (201,))),
    ("C-ans-24", "304 is an error", lambda adapter: statuses(adapter, (304,))),
    ("C-ans-28..30", "a form is returned as a text", of_forms(lambda response, _: response.text)),
    ("C-ans-63", "compressed answers are refused", responses(lambda response: "Content-Encoding" in response.headers)),
    ("C-ans-57", "answers in chunks are refused", responses(lambda response: "Transfer-Encoding" in response.headers)),
    ("C-ans-25..27 C-ans-31 C-ans-34 C-ans-35 C-ans-53 C-ans-74", "integers are returned in 32 bits",
     scalars(numbers(lambda value: (value + 2**31) % 2**32 - 2**31 if isinstance(value, int) else value))),
)  # fmt: skip
