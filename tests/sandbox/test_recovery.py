"""How a client dealt with faults, judged from the journal: each trouble with each outcome that it can have."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from app.sandbox.analysis.recovery import Outcome
from app.sandbox.journal.entries import TROUBLES
from tests.support.sandbox import Project
from tests.support.steady_client import LOST, SteadyClient, steady_client

Acts = Callable[[SteadyClient], None]

UPDATE: dict[str, Any] = {"actions": [{"action": "doSomeThing"}]}


def ordered(client: SteadyClient, **members: Any) -> None:
    client.project.rules({"times": {"first": 1}, **members})


def refused_version(client: SteadyClient) -> tuple[str, int]:
    """The path of a resource, and its version after an update with another one was 409."""
    made = client.project.create(key="one")
    path = f"/{made['id']}"
    assert client.send("POST", path, {"version": 7, **UPDATE}).status == 409
    return path, made["version"]


def new_token(client: SteadyClient) -> None:
    ordered(client, expireTokens=True)
    client.send("GET")
    client.grant()
    assert client.send("GET").status == 200


def no_new_token(client: SteadyClient) -> None:
    ordered(client, expireTokens=True)
    client.send("GET")


def same_token(client: SteadyClient) -> None:
    ordered(client, expireTokens=True)
    client.send("GET")
    assert client.send("GET").status == 401


def other_version(client: SteadyClient) -> None:
    path, version = refused_version(client)
    assert client.send("POST", path, {"version": version, **UPDATE}).status == 200


def no_other_version(client: SteadyClient) -> None:
    path, _ = refused_version(client)
    client.send("GET", path)


def same_version(client: SteadyClient) -> None:
    path, version = refused_version(client)
    client.send("POST", path, {"version": 7, **UPDATE})
    client.send("POST", path, {"version": version, **UPDATE})


def waited(client: SteadyClient) -> None:
    ordered(client, status=429, retryAfter=1)
    client.send("GET")
    time.sleep(1.05)
    client.send("GET")


def not_again(client: SteadyClient) -> None:
    ordered(client, status=429, retryAfter=1)
    client.send("GET")


def at_once(client: SteadyClient) -> None:
    ordered(client, status=429, retryAfter=60)
    client.send("GET")
    client.send("GET")


def some_times(client: SteadyClient) -> None:
    ordered(client, status=503, times={"first": 2})
    for _ in range(3):
        client.send("GET")


def in_vain(client: SteadyClient) -> None:
    ordered(client, status=503, times={"after": 0})
    for _ in range(3):
        client.send("GET")


def hammering(client: SteadyClient) -> None:
    ordered(client, status=503, times={"first": 60})
    for _ in range(61):  # so many that five of them fall into a second, however slow the machine is
        client.send("GET")


def repeated_with_key(client: SteadyClient) -> None:
    ordered(client, phase="after", connection="close")
    for _ in range(2):
        client.send("POST", "", {"key": "one", "objectTypeProperty": {}})


def looked(client: SteadyClient) -> None:
    ordered(client, phase="after", connection="close")
    assert client.send("POST", "", {"key": "one", "objectTypeProperty": {}}) is LOST
    assert client.send("GET", "/key=one").status == 200


def never_looked(client: SteadyClient) -> None:
    ordered(client, phase="after", connection="close")
    client.send("POST", "", {"key": "one", "objectTypeProperty": {}})
    client.send("GET", "/key=two")


def made_two(client: SteadyClient) -> None:
    ordered(client, phase="after", connection="close")
    for _ in range(2):
        client.send("POST", "", {"objectTypeProperty": {}})


CASES: tuple[tuple[str, Outcome, Acts], ...] = (
    ("401", Outcome.RECOVERED, new_token),
    ("401", Outcome.GAVE_UP, no_new_token),
    ("401", Outcome.MADE_WORSE, same_token),
    ("409", Outcome.RECOVERED, other_version),
    ("409", Outcome.GAVE_UP, no_other_version),
    ("409", Outcome.MADE_WORSE, same_version),
    ("429", Outcome.RECOVERED, waited),
    ("429", Outcome.GAVE_UP, not_again),
    ("429", Outcome.MADE_WORSE, at_once),
    ("503", Outcome.RECOVERED, some_times),
    ("503", Outcome.GAVE_UP, in_vain),
    ("503", Outcome.MADE_WORSE, hammering),
    ("lost", Outcome.RECOVERED, repeated_with_key),
    ("lost", Outcome.RECOVERED, looked),
    ("lost", Outcome.GAVE_UP, never_looked),
    ("lost", Outcome.MADE_WORSE, made_two),
)


def recovery_after(project: Project, acts: Acts) -> dict[str, Any]:
    with steady_client(project) as client:
        acts(client)
    return project.order("GET", "/report").json["recovery"]


def test_each_trouble_has_each_outcome() -> None:
    assert {(trouble, outcome) for trouble, outcome, _ in CASES} == {
        (trouble, outcome) for trouble in TROUBLES for outcome in Outcome
    }


@pytest.mark.parametrize(("trouble", "outcome", "acts"), CASES, ids=[case[2].__name__ for case in CASES])
def test_the_outcome(throwaway: Project, trouble: str, outcome: Outcome, acts: Acts) -> None:
    recovery = recovery_after(throwaway, acts)
    (episode,) = [(name, episode) for name in TROUBLES for episode in recovery[name]["episodes"]]
    assert episode[0] == trouble
    assert episode[1]["outcome"] == outcome
    assert episode[1]["reason"]
    assert {each: recovery[trouble][each] for each in Outcome} == {**dict.fromkeys(Outcome, 0), outcome: 1}


def test_an_episode_names_its_requests(throwaway: Project) -> None:
    recovery = recovery_after(throwaway, some_times)
    assert recovery["503"]["episodes"] == [
        {"requests": [1, 2, 3], "outcome": "recovered", "reason": "Sent again 2 times, it was 200."}
    ]


def test_requests_beside_a_failure_repeat_nothing(throwaway: Project) -> None:
    """Another request between them is no part of the episode, and no failure."""
    with steady_client(throwaway) as client:
        ordered(client, status=503)
        client.send("GET")
        client.send("GET", "?limit=1")
        client.send("GET")
    recovery = throwaway.order("GET", "/report").json["recovery"]
    assert [episode["requests"] for episode in recovery["503"]["episodes"]] == [[1, 3]]
