"""Coverage of the specification: each condition can be fulfilled, by what a check of the testkit sends."""

from itertools import groupby

import pytest

from app.sandbox.analysis.coverage import CONDITIONS, NOT_OBSERVABLE
from app.sandbox.clauses.conditions import When, head, method, op, par, status
from app.sandbox.journal.entries import Entry
from tests.support.kit import exercised_by_checks, made_by
from tests.support.sandbox import Project, Service


def test_each_clause_without_a_condition_has_a_reason() -> None:
    """That each has one of both is asked for in ``testkit/tests/test_places.py``."""
    assert not CONDITIONS.keys() & NOT_OBSERVABLE.keys()
    assert all(NOT_OBSERVABLE.values())


def test_the_checks_of_the_kit_fulfil_every_condition(sandbox: Service) -> None:
    """So each condition fits what clients send and what the service answers.

    One case is enough for most; those that it leaves get all cases of their checks. A theme has projects of its own,
    since a journal keeps the last 16 MiB only.
    """
    themes = groupby(CONDITIONS, key=lambda number: number.rpartition("-")[0])
    exercised = set[str]().union(*(exercised_by_checks(sandbox, list(numbers), once=True) for _, numbers in themes))
    exercised |= exercised_by_checks(sandbox, CONDITIONS.keys() - exercised, once=False)
    assert sorted(CONDITIONS.keys() - exercised) == []
    assert exercised <= CONDITIONS.keys()


def test_a_report_counts_what_was_exercised_and_what_no_journal_shows(throwaway: Project) -> None:
    throwaway.create(key="one")
    specification = throwaway.order("GET", "/report").json["specification"]
    assert specification["exercised"] == sum(map(bool, made_by(throwaway).values())) > 0
    assert specification["observable"] == len(CONDITIONS)
    assert specification["notObservable"] == len(NOT_OBSERVABLE)
    assert specification["percent"] < 100


def test_one_read_exercises_what_is_said_of_it_and_no_more(throwaway: Project) -> None:
    made = throwaway.create(key="one")
    throwaway.order("POST", "/reset")
    throwaway.send("GET", f"/{made['id']}", headers={"X-Correlation-ID": "my-app-0123"})
    assert {number for number, requests in made_by(throwaway).items() if requests} == {
        "4.2-3", "E-1", "E-3", "E-27", "E-28", "E-29", "E-30", "H-22",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("method_", "path", "exercised", "untouched"),
    [
        ("GET", "?limit=1", {"4.1-1", "4.1-17", "4-9", "A-9"}, {"4.1-6", "4.12-1", "4.12-4", "Q-1"}),
        ("GET", "/sorted-query-parameters?where=version%3E1", {"4.12-1", "Q-1", "Q-3"}, {"4.1-1", "Q-4", "Q-39"}),
        ("GET", "/sorted-query-parameters?where=version", {"4.12-1", "Q-39", "Q-40"}, {"Q-1", "Q-41", "4.12-2"}),
        ("GET", "/key=one", {"4.3-2", "2.1-9"}, {"4.3-1", "4.3-3", "2.1-7"}),
        ("GET", "/searchApiPattern?text.en=dogs", {"S-1", "S-5", "4.4-2"}, {"S-3", "S-8", "S-30", "4.14-2"}),
        ("HEAD", "", {"4.5-2"}, {"4.5-1", "4.5-3", "H-14", "E-1"}),
        ("OPTIONS", "", {"H-15"}, {"4.1-1", "H-16"}),
    ],
)
def test_a_request_exercises_the_clauses_on_it(
    throwaway: Project, method_: str, path: str, exercised: set[str], untouched: set[str]
) -> None:
    throwaway.send(method_, path)
    found = {number for number, requests in made_by(throwaway).items() if requests == [1]}
    assert exercised <= found
    assert not untouched & found


def entry(target: str, **headers: str) -> Entry:
    request = {"method": "GET", "target": target, "headers": list(headers.items()), "body": None}
    return Entry({"number": 1, "operationId": "listResources", "request": request, "response": None})


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (op("listResources"), True),
        (op("getToken"), False),
        (method("GET") & ~status(200), True),
        (status(200) | par("limit", "^2$"), True),
        (par("limit", "^3$"), False),
        (par("lim"), False),
        (head("accept", "JSON"), True),
        (head("prefer"), False),
    ],
)
def test_conditions_are_made_of_small_ones(condition: When, holds: bool) -> None:
    assert condition.holds(entry("/p/resource?limit=2", Accept="application/json")) is holds
