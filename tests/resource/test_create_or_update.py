"""POST on the collection (interface 4.6): create a resource, or update fields of its ObjectType."""

from tests.support.api import EXAMPLE, UNKNOWN_ID, Api, codes, details, send_concurrently


def test_post_with_a_key_in_use_is_400_duplicate_field(api: Api) -> None:
    api.create(key="taken")
    other = api.create()
    answer = api.post(json={"id": other["id"], "key": "taken", "objectTypeProperty": {}})
    assert answer.status_code == 400
    assert answer.get_json()["errors"] == [
        {
            "code": "DuplicateField",
            "message": "A duplicate value '\"taken\"' exists for field 'key'.",
            "field": "key",
            "duplicateValue": "taken",
        }
    ]
    assert api.get(f"/{other['id']}").get_json() == other


def test_post_with_an_unknown_id_is_404_and_creates_nothing(api: Api) -> None:
    for unknown in (UNKNOWN_ID, "no-uuid", ""):
        answer = api.post(json={"id": unknown, "objectTypeProperty": {}})
        assert answer.status_code == 404
        assert codes(answer) == ["ResourceNotFound"]
        assert details(answer) == [f"The Resource with ID '{unknown}' was not found."]
    assert api.get().get_json()["total"] == 0


def test_concurrent_posts_with_one_key_lose_no_field(api: Api) -> None:
    names = ("arrayOfIntExample", "arrayOfUniqueIntExample", "arrayOfFloatExample", "arrayOfStringExample")
    parts = [{name: EXAMPLE[name]} for name in names]
    answers = send_concurrently(4, lambda number: api.post(json={"key": "a-key", "objectTypeProperty": parts[number]}))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 201]
    resource = api.get("/key=a-key").get_json()
    assert resource["objectTypeProperty"] == {name: EXAMPLE[name] for name in names}
    assert resource["version"] == 4
