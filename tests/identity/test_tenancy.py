"""Isolation of projects: every endpoint with a token of project A against the data of project B.

A's token has to be refused on B's URLs. Requests to A's own URLs with ids and keys of B have to behave as if these did
not exist: in answers, counts, locks and effects.
"""

from typing import Any

import psycopg
import pytest
from flask import Flask

from tests.conftest import TokenFor
from tests.identity.test_scope_matrix import BODIES, COMPLEX, MATRIX, R, fill
from tests.support.api import EXAMPLE, Api
from tests.support.endpoints import endpoints_of_a_project

KEY = "the-key"


@pytest.fixture
def a(app: Flask, project: str, token_for: TokenFor) -> Api:
    """A client with all scopes of an empty project."""
    names = ("manage_test", "view_test", "view_products", "view_published_products")
    return Api(app, project, token_for(*(f"{name}:{project}" for name in names)))


@pytest.fixture
def b(app: Flask, project: str, token_for: TokenFor) -> Api:
    """A client of another project, with data."""
    other = f"{project}-b"
    filled = Api(app, other, token_for(f"manage_test:{other}"))
    filled.create(key=KEY)
    filled.create(key="another")
    return filled


def everything(api: Api) -> dict[str, Any]:
    return api.get("/sorted-query-parameters").get_json()


@pytest.mark.parametrize(("section", "endpoint"), MATRIX)
def test_a_token_of_a_is_refused_on_the_urls_of_b(a: Api, b: Api, section: str, endpoint: str) -> None:
    before = everything(b)
    resource = b.get(f"/key={KEY}").get_json()
    method, path = fill(endpoint, b.project, resource["id"])
    answer = a.request(method, path, **({"json": BODIES[section]} if section in BODIES else {}))
    assert answer.status_code == 403
    assert resource["id"] not in answer.text
    assert everything(b) == before


WRITE = {"objectTypeProperty": {"arrayOfIntExample": [99]}}
TOUCH = {"version": 1, "actions": [{"action": "doSomeThing"}]}

SEARCHES = (
    "",
    "?staged=true&facet=arrayOfStringExample&facet=id&facet=createdAt",
    "?text.en=dogs&text.de=Katze&fuzzy=true&facet=key",
    "?text.en=dogg&fuzzy=true&staged=true",
    '?filter.query=id:"{id}"&facet=createdBy.id',
    "?filter=version:range(0 to *)&facet=version:range(0 to *) as v&sort=createdAt desc",
    "?filter.facets=key:exists&facet=arrayOfObjectType.integerExample:777 as seven",
)

# What A sends to its own URLs with B's id ({id}) and key ({b}), and the status that an empty project answers.
PROBES: dict[str, list[tuple[str, dict[str, Any] | None, dict[str, str], int]]] = {
    f"GET {R}": [
        ("", None, {}, 200),
        ("?stringParameter=dog&arrayOfString=cat&integerParameter=1", None, {}, 200),
        ('?objectParameter={"arrayOfStringExample":["dog"]}', None, {}, 200),
        ("?sort=createdAt desc&limit=500&offset=0", None, {}, 200),
        ('?where=id = "{id}" or key is defined or not(key = "x")', None, {}, 200),
    ],
    f"HEAD {R}": [
        ("", None, {}, 404),
        ("?stringParameter=dog", None, {}, 404),
        ('?where=id = "{id}" or version > 0', None, {}, 404),
        ("?where=id in :ids&var.ids={id}", None, {}, 404),
    ],
    f"GET {R}/<resource_id:resource_id>": [
        ("/{id}", None, {}, 404),
        ("/{id}", None, {"If-None-Match": '"1"'}, 404),
        ("/{id}?optionalQueryParameter={b}", None, {}, 404),
    ],
    f"GET {R}/key=<segment:key>": [
        (f"/key={KEY}", None, {}, 404),
        (f"/key={{b}}%2F{KEY}", None, {}, 404),
    ],
    f"GET {R}/sorted-query-parameters": [
        ("/sorted-query-parameters", None, {}, 200),
        ("/sorted-query-parameters?withTotal=true&sort=id asc", None, {}, 200),
        ('/sorted-query-parameters?where=id = "{id}" or arrayOfIntExample > 0 or key != "x"', None, {}, 200),
        ("/sorted-query-parameters?where=id in :ids&var.ids={id}&expand=createdBy", None, {}, 200),
        ("/sorted-query-parameters?where=arrayOfObjectType(integerExample = 777)&expand=createdBy", None, {}, 200),
    ],
    f"GET {R}/searchApiPattern": [(f"/searchApiPattern{query}", None, {}, 200) for query in SEARCHES],
    f"POST {R}/product-projection-search": [
        (f"/product-projection-search{query}", None, {}, 200) for query in SEARCHES
    ],
    f"POST {R}": [
        ("", WRITE | {"id": "{id}"}, {}, 404),
        ("", WRITE | {"id": "{id}", "key": "new"}, {}, 404),
        ("?staged=true", WRITE | {"id": "{id}"}, {}, 404),
    ],
    f"PUT {R}": [
        ("", WRITE | {"id": "{id}"}, {}, 404),
        ("", WRITE | {"key": KEY}, {"If-Match": '"1"'}, 412),
    ],
    f"PATCH {R}": [
        ("", WRITE | {"id": "{id}", "version": 1}, {}, 404),
        ("", WRITE | {"key": KEY, "version": 1}, {}, 404),
        ("", WRITE | {"version": 1}, {}, 404),
    ],
    f"POST {R}/<resource_id:resource_id>": [
        ("/{id}", TOUCH, {}, 404),
        ("/{id}", TOUCH | {"version": 7}, {}, 404),
    ],
    f"DELETE {R}/<resource_id:resource_id>": [
        ("/{id}", None, {}, 404),
        ("/{id}?version=1", None, {}, 404),
    ],
    # These two neither read nor store anything.
    f"POST {R}{COMPLEX}": [],
    f"POST {R}/description-with-urn-links": [],
}


def test_every_endpoint_is_probed(app: Flask) -> None:
    assert set(PROBES) == set(endpoints_of_a_project(app))


@pytest.mark.parametrize("endpoint", [name for name, probes in PROBES.items() if probes])
def test_what_b_has_does_not_exist_for_a(a: Api, b: Api, endpoint: str) -> None:
    of_b = b.get(f"/key={KEY}").get_json()
    before = everything(b)
    for path, body, headers, expected in PROBES[endpoint]:
        sent = (
            None if body is None else {name: of_b["id"] if value == "{id}" else value for name, value in body.items()}
        )
        target = path.replace("{id}", of_b["id"]).replace("{b}", b.project)
        answer = a.request(endpoint.partition(" ")[0], target, json=sent, headers=headers)
        assert answer.status_code == expected, answer.text
        if expected == 200:
            page = answer.get_json()
            assert (page["results"], page["count"], page["total"]) == ([], 0, 0)
            assert all(counted_nothing(facet) for facet in page.get("facets", {}).values())
        assert of_b["createdAt"] not in answer.text
    assert everything(b) == before
    assert everything(a)["total"] == 0


def counted_nothing(facet: dict[str, Any]) -> bool:
    if facet["type"] == "terms":
        return (facet["terms"], facet["total"], facet["missing"]) == ([], 0, 0)
    return all(counted["count"] == 0 for counted in facet.get("ranges", [facet]))


def test_a_key_or_a_sole_place_that_b_takes_is_free_for_a(a: Api, b: Api) -> None:
    of_b = everything(b)
    created = a.put(json=WRITE | {"key": KEY})
    assert created.status_code == 201
    assert created.get_json()["version"] == 1
    assert a.delete(f"/{created.get_json()['id']}").status_code == 200
    sole = a.put(json=WRITE)  # B has two, which would make this ambiguous
    assert sole.status_code == 201
    assert a.post(json=WRITE | {"id": sole.get_json()["id"], "key": KEY}).status_code == 200
    assert everything(b) == of_b


def test_totals_and_pages_count_only_the_own_project(a: Api, b: Api) -> None:
    for number in range(3):
        a.create({"arrayOfIntExample": [number]})
    own = everything(a)
    assert (own["total"], own["count"]) == (3, 3)
    assert a.get("?stringParameter=dog").get_json()["total"] == 0
    assert b.get("?stringParameter=dog").get_json()["total"] == 2
    ids = {result["id"] for result in own["results"]}
    assert ids.isdisjoint(result["id"] for result in everything(b)["results"])


def test_the_same_id_in_both_projects_is_two_resources(a: Api, b: Api, database_url: str) -> None:
    """The server generates ids, so this does not happen, but no statement may rely on that."""
    of_b = b.get(f"/key={KEY}").get_json()
    mine = a.create()
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "UPDATE resource SET id = %(id)s WHERE project_key = %(project_key)s",
            {"id": of_b["id"], "project_key": a.project},
        )
    action = {"version": 1, "actions": [{"action": "changeSomeProperty", "someProperty": "A's"}]}
    updated = a.post(f"/{of_b['id']}", json=action)
    assert updated.status_code == 200
    assert updated.get_json()["createdAt"] == mine["createdAt"]
    assert b.get(f"/{of_b['id']}").get_json() == of_b
    assert a.delete(f"/{of_b['id']}").status_code == 200
    assert b.get(f"/{of_b['id']}").get_json() == of_b
    assert of_b["objectTypeProperty"] == EXAMPLE


def test_a_locked_row_of_b_does_not_delay_a(a: Api, b: Api, database_url: str) -> None:
    mine = a.create(key=KEY)
    with psycopg.connect(database_url) as holder:
        holder.execute("SELECT FROM resource WHERE project_key = %s FOR UPDATE", (b.project,))
        assert a.update(mine, {"action": "doSomeThing"})["version"] == 2
        assert a.put(json=WRITE | {"key": KEY}).status_code == 200
        assert a.delete(f"/{mine['id']}").status_code == 200
        holder.rollback()


def test_names_that_look_like_other_projects(app: Flask, project: str, token_for: TokenFor) -> None:
    """Project keys are compared exactly: letter case counts, and neither prefixes nor patterns match."""
    victim = Api(app, f"{project}-Ab_c", token_for(f"manage_test:{project}-Ab_c"))
    victim.create(key=KEY)
    for name in (
        f"{project}-ab_c",
        f"{project}-AB_C",
        f"{project}-Abxc",
        f"{project}-A",
        f"{project}-Ab_c-",
        f"{project}-Ab_",
    ):
        stranger = Api(app, name, token_for(f"manage_test:{name}"))
        assert stranger.get().get_json()["total"] == 0
        assert stranger.get(f"/key={KEY}").status_code == 404
        assert Api(app, victim.project, stranger.token).get().status_code == 403
