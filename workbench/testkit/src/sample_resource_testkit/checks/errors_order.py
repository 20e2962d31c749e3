"""Which of several faults an error reports (profile ``errors``)."""

from collections.abc import Callable
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import Caller
from sample_resource_testkit.checks.errors_shape import AS_JSON, refusal, too_long
from sample_resource_testkit.checks.names import LINKS, SEARCH, SORTED, UNKNOWN_ID, complex_path
from sample_resource_testkit.checks.refusals import errors_of
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

SEVERAL: dict[str, tuple[str, str, str, Any, int]] = {
    "two parameters": ("GET", "", "limit=x&offset=y", None, 2),
    "two values of a variable": ("GET", SORTED, "where=key%20in%20%3Aa&var.a=%00&var.a=%00", None, 2),
    "two faults of a predicate": ("GET", SORTED, "where=foo%20%3D%201%20and%20version%20%3D%20true", None, 2),
    "parameters of a search": ("GET", SEARCH, "fuzzy=x&staged=y&limit=z", None, 3),
    "two fields": ("POST", "", "", {"key": 5, "objectTypeProperty": {"arrayOfIntExample": 5}}, 2),
    "a structure and a value": ("POST", "", "", {"key": "a b", "objectTypeProperty": {"arrayOfIntExample": ["a"]}}, 2),
    "a parameter and a field": ("POST", LINKS, "queryParameterOne=x", {"createdBy": 5}, 2),
}


def send(caller: Caller, method: str, path: str, query: str, body: Any) -> Answer:
    """Send a request with or without a body."""
    return caller.send(method, path, query=query) if body is None else caller.send(method, path, body, query=query)


@check("E-13", cases=list(SEVERAL))
def all_faults_are_told(world: World, name: str) -> None:
    method, path, query, body, count = SEVERAL[name]
    answer = refusal(world, send(world, method, path, query, body))
    found = errors_of(answer)
    answer.expect(len(found) == count, f"{count} entries in errors", found)


UNKNOWN_PATHS = ["/{p}", "/{p}/resources", "/{p}/resource/a/b", "/foo"]

NOBODYS: dict[str, Callable[[World, str], Answer]] = {
    "a wrong method": lambda world, path: world.send("BREW", target=path),
    "no token": lambda world, path: world.nobody().get(target=path),
    "a wrong token": lambda world, path: world.bearer("a.b.c").get(target=path),
    "no JSON": lambda world, path: world.post(target=path, body="{", headers=AS_JSON),
    "another type of body": lambda world, path: world.post(target=path, body="a", headers={"Content-Type": "a/b"}),
    "a wrong parameter": lambda world, path: world.get(target=f"{path}?limit=x"),
}


@check(
    "E-15",
    cases={f"{path}, {name}": (path, ask) for path in UNKNOWN_PATHS for name, ask in NOBODYS.items()},
)
def an_unknown_url_comes_before_everything(world: World, path: str, ask: Callable[[World, str], Answer]) -> None:
    ask(world, path.replace("{p}", world.project)).expect_status(404)


WRONG_METHODS: dict[str, tuple[str, str]] = {
    "DELETE on the collection": ("DELETE", ""),
    "PUT on an id": ("PUT", f"/{UNKNOWN_ID}"),
    "POST on the sorted list": ("POST", SORTED),
    "GET on 4.9": ("GET", complex_path()),
}


@check("E-16", cases=WRONG_METHODS)
def a_wrong_method_comes_before_the_token(world: World, method: str, path: str) -> None:
    if (status := world.send(method, path).status) != 405:
        world.skip(f"needs a 405, and the request is {status} with a token")
    world.nobody().send(method, path).expect_status(405)
    world.bearer("a.b.c").send(method, path).expect_status(405)


FAULTS: dict[str, Callable[[Caller], Answer]] = {
    "a parameter": lambda caller: caller.get("?limit=x"),
    "a predicate": lambda caller: caller.get(SORTED, query={"where": "(("}),
    "no JSON": lambda caller: caller.post("", body="{", headers=AS_JSON),
    "another type of body": lambda caller: caller.post("", body="a", headers={"Content-Type": "text/plain"}),
    "a large body": lambda caller: too_long(caller),
}


@check("E-17", needs=["A-2"], cases=FAULTS)
def a_missing_token_comes_before_other_faults(world: World, ask: Callable[[Caller], Answer]) -> None:
    ask(world.nobody()).expect_status(401)


TYPE = {"Content-Type": "text/plain"}


@check("E-17", needs=["H-17"], cases={"a parameter": "?staged=x", "an undeclared one": "?foo=1", "no JSON": ""})
def a_wrong_type_of_body_comes_before_400(world: World, query: str) -> None:
    world.post(query, body="{", headers=TYPE).expect_status(415)


FAULTY_WRITES: dict[str, tuple[str, str, Any]] = {
    "no actions": ("POST", f"/{UNKNOWN_ID}", {"version": 1}),
    "an unknown action": ("POST", f"/{UNKNOWN_ID}", {"version": 1, "actions": [{"action": "foo"}]}),
    "an undeclared parameter": ("GET", f"/{UNKNOWN_ID}?foo=1", None),
    "a wrong version": ("DELETE", f"/{UNKNOWN_ID}?version=x", None),
    "POST with its id": ("POST", "", {"id": UNKNOWN_ID, "objectTypeProperty": 5}),
}


@check("E-17", cases=list(FAULTY_WRITES))
def faults_come_before_the_404_of_a_resource(world: World, name: str) -> None:
    method, path, body = FAULTY_WRITES[name]
    made = world.make()
    named = {**body, "id": made.id} if isinstance(body, dict) and "id" in body else body
    if (status := send(world, method, path.replace(UNKNOWN_ID, made.id), "", named).status) != 400:
        world.skip(f"needs a 400, and the request is {status} for a resource that is there")
    send(world, method, path, "", body).expect_status(400)
