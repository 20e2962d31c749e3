"""Helpers for tests of the query language: requests with predicates, and their results or error messages."""

from typing import Any

from tests.support.api import Api, codes

SORTED = "/sorted-query-parameters"


def ask(api: Api, *where: str, path: str = SORTED, **variables: str | list[str]) -> Any:
    """Send a request with predicates and variables; the names of variables lack ``var.``."""
    named = {f"var.{name}": value for name, value in variables.items()}
    return api.get(path, query_string={"where": list(where), "limit": "500", **named})


def found(api: Api, *where: str, path: str = SORTED, **variables: str | list[str]) -> list[str]:
    """The sorted keys of the resources that predicates find; a dash for a resource without a key."""
    answer = ask(api, *where, path=path, **variables)
    assert answer.status_code == 200, answer.text
    page = answer.get_json()
    assert page["count"] == page["total"] == len(page["results"])
    return sorted(result.get("key", "-") for result in page["results"])


def refusals(api: Api, *where: str, **variables: str | list[str]) -> list[str]:
    """The messages of a 400 answer, without their common beginning."""
    answer = ask(api, *where, path=SORTED, **variables)
    assert answer.status_code == 400, answer.text
    assert set(codes(answer)) == {"InvalidInput"}
    messages = [error["message"] for error in answer.get_json()["errors"]]
    assert all(message.startswith("Malformed parameter: where: ") for message in messages)
    return [message.removeprefix("Malformed parameter: where: ") for message in messages]
