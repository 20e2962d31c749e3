"""Faults in what is returned for answers of success."""

from typing import Any

from client_faults.planting import around, deep, deep_objects, fault, numbers, planted, results_changed

TIMES = ("createdAt", "lastModifiedAt")


def scalars(change: Any) -> Any:
    return lambda adapter: results_changed(adapter, lambda result: deep(change, result))


def objects(change: Any) -> Any:
    return lambda adapter: results_changed(adapter, lambda result: deep_objects(change, result))


# Arrays and objects


@fault(
    "a page is returned as its results",
    "C-ans-9..15 C-ans-21 C-ans-48 C-ans-49 C-ans-66 C-ans-68 C-ans-71 C-ans-72",
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


# Statuses and heads


@fault("the existence check is always false", "C-ans-22 C-ans-49")
def _(adapter: Any) -> None:
    around(adapter, "result_of", lambda former, method, response: method != "HEAD" and former(method, response))


@fault(
    "each answer is shown with the status 200",
    "C-ans-4 C-ans-5 C-ans-23..25 C-ans-28 C-ans-32 C-do-12 C-do-20",
)
def _(adapter: Any) -> None:
    around(adapter, "meta_of", lambda former, response: {**former(response), "status": 200})


planted(
    ("C-ans-35 C-ans-74", "large integers are returned as texts",
     scalars(numbers(lambda value: str(value) if isinstance(value, int) and abs(value) >= 2**53 else value))),
    ("C-ans-37", "fractions are returned with single precision",
     scalars(numbers(lambda value: float(f"{value:.7g}") if isinstance(value, float) else value))),
    ("C-ans-1..9 C-ans-11..15 C-ans-21 C-ans-33 C-ans-35 C-ans-37 C-ans-39 C-ans-42 C-ans-46 C-ans-48 C-ans-50 C-ans-53..55 C-ans-57 C-ans-60 C-ans-63 C-ans-64 C-ans-66 C-ans-71 C-ans-73 C-err-35 C-err-60 C-do-12 C-do-20 C-do-42 C-do-45 C-do-46 C-do-60", "milliseconds are lost",
     objects(lambda value: {name: item[:19] + "Z" if name in TIMES else item for name, item in value.items()})),
    ("C-ans-64", "unknown members of resources are refused",
     known_only({"sandboxOfTomorrow"})),
    ("C-ans-25 C-ans-31 C-ans-33 C-ans-35 C-ans-53 C-ans-74", "integers are returned in 32 bits",
     scalars(numbers(lambda value: (value + 2**31) % 2**32 - 2**31 if isinstance(value, int) else value))),
)  # fmt: skip
