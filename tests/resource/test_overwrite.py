"""PATCH on the collection (interface 4.7): overwrite a resource that exists."""

from typing import Any

import pytest

from tests.support.api import EXAMPLE, Api, codes, details

NEW: dict[str, Any] = {"arrayOfIntExample": [5], "arrayOfStringExample": []}


def test_patch_without_id_and_key_is_400_if_the_project_has_several_resources(api: Api) -> None:
    resources = [api.create(), api.create()]
    answer = api.patch({"version": 1, "objectTypeProperty": NEW})
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]
    assert "id" in answer.get_json()["message"]
    assert "key" in answer.get_json()["message"]
    for resource in resources:
        assert api.get(f"/{resource['id']}").get_json() == resource


def test_patch_without_a_version_is_400(api: Api) -> None:
    for _ in range(2):
        answer = api.patch({"objectTypeProperty": NEW})
        assert answer.status_code == 400
        assert codes(answer) == ["InvalidJsonInput"]
        assert details(answer) == ["version: Missing required value"]
        api.create()


@pytest.mark.parametrize("version", [2, 0, -1, 1.5, 0.999, 10**30, 1e300, -(2**70), 2**63])
def test_patch_with_another_version_is_409(api: Api, version: float) -> None:
    created = api.create()
    answer = api.patch({"version": version, "objectTypeProperty": NEW})
    assert answer.status_code == 409
    assert codes(answer) == ["ConcurrentModification"]
    assert answer.get_json()["errors"][0]["currentVersion"] == 1
    assert answer.get_json()["message"].startswith(f"Object {created['id']} has a different version than expected.")
    assert api.get(f"/{created['id']}").get_json() == created


@pytest.mark.parametrize("literal", ['"1"', "true", "null", "[1]", "{}", "NaN", "1e400"])
def test_patch_with_a_version_that_is_not_a_number_is_400(api: Api, literal: str) -> None:
    api.create()
    body = f'{{"version": {literal}, "objectTypeProperty": {{}}}}'
    assert api.patch(data=body, content_type="application/json").status_code == 400


def test_patch_with_a_stale_version_is_409_also_without_a_change(api: Api) -> None:
    api.create()
    assert api.patch({"version": 2, "objectTypeProperty": EXAMPLE}).status_code == 409
