"""The command ``seed``: reproducible resources, all or none."""

import pytest
from click.testing import CliRunner, Result

from app.bulk import seed
from app.cli import main
from app.query.object_fields import OBJECT_FIELDS
from tests.support.api import Api


def run(database_url: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["seed", *arguments], env={"DATABASE_URL": database_url})


def test_seeded_resources_are_the_same_each_time() -> None:
    first, second = (list(seed.resources("p", 50, 7)) for _ in range(2))
    assert (first, list(seed.resources("p", 20, 7))) == (second, first[:20])
    assert list(seed.resources("p", 50, 8)) != first
    assert [resource.id for resource in first] == sorted(resource.id for resource in first)
    assert {resource.id.version for resource in first} == {7}


def test_each_field_has_random_items() -> None:
    assert list(seed.ITEMS) == [row.name for row in OBJECT_FIELDS], (
        "a new field needs a row of ITEMS in app/bulk/seed.py"
    )


def test_seeded_resources_are_those_of_the_generator(database_url: str, api: Api) -> None:
    result = run(database_url, "--project", api.project, "--count", "300")
    assert (result.exit_code, result.stderr) == (0, "Seeding: 300 of 300\n")
    page = api.get(query_string={"limit": 500, "sort": "id"}).get_json()
    expected = seed.resources(api.project, 300, 0)
    assert [(each["id"], each.get("key")) for each in page["results"]] == [(str(row.id), row.key) for row in expected]


def test_seeding_twice_loads_nothing_the_second_time(database_url: str, api: Api) -> None:
    assert run(database_url, "--project", api.project, "--count", "10", "--seed", "3").exit_code == 0
    again = run(database_url, "--project", api.project, "--count", "20", "--seed", "3")
    assert again.exit_code == 1
    assert "has resources of --seed 3 already" in again.stderr
    assert api.get().get_json()["total"] == 10


@pytest.mark.parametrize("key", ["a/b", "", "a" * 65])
def test_a_project_key_is_checked(database_url: str, key: str) -> None:
    result = run(database_url, "--project", key, "--count", "1")
    assert result.exit_code == 2
    assert f"{key!r} is no project key" in result.stderr
