"""What each operator of the query language finds, one table of examples."""

from uuid import uuid4

import pytest
from flask import Flask

from tests.conftest import TokenFor
from tests.support.api import EXAMPLE, Api
from tests.support.predicates import found

ODD_TEXTS = ['quote " mark', "back\\slash", "line\nbreak", "100%", "%s", "%(where_0)s", "{}", "ünï🐍", "it's", ""]

EVERYTHING = "- bare empty full odd"


@pytest.fixture(scope="module")
def library(app: Flask, token_for: TokenFor) -> Api:
    """Five resources: all fields, none, none and no key, empty arrays, odd values."""
    project = f"p-{uuid4().hex[:20]}"
    api = Api(app, project, token_for(f"manage_test:{project}"))
    api.update(api.create(EXAMPLE, key="full"), {"action": "changeSomeProperty", "someProperty": "Äpfel & Birnen"})
    api.post(json={"key": "bare", "objectTypeProperty": {}})
    api.create({})
    api.create(
        {
            "arrayOfIntExample": [],
            "arrayOfUniqueIntExample": [],
            "arrayOfFloatExample": [],
            "arrayOfNumberNoDefaultsExample": [],
            "arrayOfStringExample": [],
            "arrayOfObjectType": [],
        },
        key="empty",
    )
    odd = api.create(
        {
            "arrayOfIntExample": [-5, 9007199254740993, 9223372036854775807],
            "arrayOfFloatExample": [1.5, 0.1, 1e300],
            "arrayOfTwonumbersExample": [-0.0, 5e-324],
            "arrayOfStringExample": ODD_TEXTS,
            "arrayOfObjectType": [
                {"integerExample": 777, "integerExampleInt32": 22},
                {"integerExample": 5},
                {"integerExampleInt32": 6},
                {},
            ],
        },
        key="odd",
    )
    api.update(odd, {"action": "changeSomeProperty", "someProperty": "äpfel & birnen"})
    return api


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        # equality
        ('key = "full"', "full"),
        ('key="full"', "full"),
        ('key = "FULL"', ""),
        ('key = "ful"', ""),
        ('key != "full"', "- bare empty odd"),
        ('key <> "full"', "- bare empty odd"),
        ('not(key = "full")', "- bare empty odd"),
        ('not(key != "full")', "full"),
        ("version = 2", "full odd"),
        ("version = 2.0", "full odd"),
        ("version = 20e-1", "full odd"),
        ("version = 2.5", ""),
        ("version != 2.5", EVERYTHING),
        ("version = 1e400", ""),
        ("version < 1e400", EVERYTHING),
        ("version > -1e400", EVERYTHING),
        ("version < 99999999999999999999999", EVERYTHING),
        ("version = 99999999999999999999999", ""),
        ("arrayOfIntExample = 3", "full"),
        ("arrayOfIntExample != 3", "- bare empty odd"),
        ("arrayOfIntExample = 9007199254740993", "odd"),
        ("arrayOfIntExample = 9007199254740992", ""),
        ("arrayOfIntExample = 1.5", ""),
        ("arrayOfFloatExample = 0.1", "odd"),
        ("arrayOfFloatExample = 1E300", "odd"),
        ("arrayOfFloatExample = 0.10000000000000001", "odd"),
        ("arrayOfTwonumbersExample = 0", "odd"),
        ("arrayOfTwonumbersExample = -0.0", "odd"),
        ("arrayOfTwonumbersExample = 5e-324", "odd"),
        ("arrayOfFloatExample = 1e400", ""),
        ("arrayOfFloatExample < 1e400", "full odd"),
        ("arrayOfFloatExample > 1e400", ""),
        ('arrayOfStringExample = "dog"', "full"),
        ('arrayOfStringExample = "Dog"', ""),
        ('arrayOfStringExample = ""', "odd"),
        # order
        ("version > 1", "full odd"),
        ("version >= 2", "full odd"),
        ("version < 2", "- bare empty"),
        ("version <= 1.9999", "- bare empty"),
        ('key < "empty"', "bare"),
        ('key <= "empty"', "bare empty"),
        ('key > "f"', "full odd"),
        ('key >= "odd"', "odd"),
        ('not(key >= "odd")', "- bare empty full"),
        ('someProperty < "a"', ""),
        ('someProperty > "z"', "full odd"),
        ("arrayOfIntExample > 3", "odd"),
        ("arrayOfIntExample >= 3", "full odd"),
        ("arrayOfIntExample < 0", "odd"),
        ("not(arrayOfIntExample < 0)", "- bare empty full"),
        ("arrayOfFloatExample <= 0.82", "full odd"),
        ("arrayOfTwonumbersExample > 0", "full odd"),
        ('arrayOfStringExample < "bird"', "odd"),
        ('arrayOfStringExample >= "dog"', "full odd"),
        # in
        ('key in ("full", "odd", "nobody")', "full odd"),
        ('key in("full")', "full"),
        ('key not in ("full", "odd")', "- bare empty"),
        ('not(key in ("full", "odd"))', "- bare empty"),
        ('not(key not in ("full", "odd"))', "full odd"),
        ("version in (2, 7, 1e400)", "full odd"),
        ("arrayOfIntExample in (3, -5)", "full odd"),
        ("arrayOfIntExample not in (3, 4)", "- bare empty odd"),
        # contains
        ('arrayOfStringExample contains any ("dog", "100%")', "full odd"),
        ('arrayOfStringExample contains all ("dog", "cat")', "full"),
        ('arrayOfStringExample contains all ("dog", "100%")', ""),
        ('not(arrayOfStringExample contains all ("dog", "cat"))', "- bare empty odd"),
        ("arrayOfIntExample contains all (1, 2, 3, 1)", "full"),
        ("arrayOfIntExample contains any (1e400, 3)", "full"),
        ("arrayOfIntExample contains all (1e400, 3)", ""),
        # is
        ("key is defined", "bare empty full odd"),
        ("key is not defined", "-"),
        ("not(key is defined)", "-"),
        ("not(key is not defined)", "bare empty full odd"),
        ("someProperty is defined", "full odd"),
        ("arrayOfIntExample is defined", "empty full odd"),
        ("arrayOfIntExample is not defined", "- bare"),
        ("arrayOfIntExample is empty", "- bare empty"),
        ("arrayOfIntExample is not empty", "full odd"),
        ("not(arrayOfIntExample is empty)", "full odd"),
        ("not(arrayOfIntExample is not empty)", "- bare empty"),
        ("arrayOfObjectType is empty", "- bare empty"),
        ("arrayOfObjectType is not empty", "full odd"),
        ("arrayOfObjectType is defined", "empty full odd"),
        ("objectTypeProperty is defined", EVERYTHING),
        ("createdBy is not defined", ""),
        # matches
        ('key matches ignore case "FULL"', "full"),
        ('not(key matches ignore case "FULL")', "- bare empty odd"),
        ('someProperty matches ignore case "ÄPFEL & bIRNEN"', "full odd"),
        ('arrayOfStringExample matches ignore case "DOG"', "full"),
        ('arrayOfStringExample matches ignore case "ÜNÏ🐍"', "odd"),
        ('arrayOfStringExample matches ignore case "100_"', ""),
        # times
        ('createdAt > "2020-01-01"', EVERYTHING),
        ('createdAt > "2020-01-01T00:00:00"', EVERYTHING),
        ('createdAt < "2020-01-01T00:00:00.000Z"', ""),
        ('createdAt < "9999-12-31T23:59:59.999+00:00"', EVERYTHING),
        ('createdAt != "2020-01-01"', EVERYTHING),
        ('createdAt > "0001-01-01"', EVERYTHING),
        ('createdAt < "9999-12-31T23:59:59.9999999Z"', EVERYTHING),
        ('lastModifiedAt in ("2020-01-01", "2021-01-01T01:00:00+01:00")', ""),
        # nested
        ("objectTypeProperty(arrayOfIntExample contains any (3))", "full"),
        ("objectTypeProperty(arrayOfIntExample = 3 and arrayOfIntExample = 2)", "full"),
        ("objectTypeProperty(not(arrayOfIntExample = 3))", "- bare empty odd"),
        ("objectTypeProperty(arrayOfObjectType(integerExample = 777))", "full odd"),
        ('createdBy(id = "test-client")', EVERYTHING),
        ('createdBy(id = "test-client" and typeId = "api-client")', EVERYTHING),
        ('lastModifiedBy(id != "test-client")', ""),
        ("arrayOfObjectType(integerExample = 777)", "full odd"),
        ("arrayOfObjectType(integerExample = 777 and integerExampleInt32 = 1)", "full"),
        ("arrayOfObjectType(integerExample = 777) and arrayOfObjectType(integerExampleInt32 = 22)", "full odd"),
        ("arrayOfObjectType(integerExample = 777 and integerExampleInt32 = 22)", "odd"),
        ("arrayOfObjectType(integerExample = 777 and integerExample = 5)", ""),
        ("arrayOfObjectType(integerExample = 777 or integerExample = 5)", "full odd"),
        ("arrayOfObjectType(integerExample > 700 and integerExampleInt32 = 1)", "full"),
        ("arrayOfObjectType(integerExample > 700 and integerExampleInt32 in (2, 22))", "full odd"),
        ("arrayOfObjectType(integerExample > 777 and integerExampleInt32 in (2, 22))", "full"),
        ("arrayOfObjectType(integerExample in (5, 6) and integerExampleInt32 is not defined)", "odd"),
        ("arrayOfObjectType(integerExample is not defined and integerExampleInt32 is defined)", "odd"),
        ("arrayOfObjectType(integerExample != 777)", "full odd"),
        ("arrayOfObjectType(not(integerExample < 30000 or integerExample > 30000))", "full odd"),
        ("arrayOfObjectType(not(integerExample < 30000 or integerExample is not defined))", "full"),
        ("arrayOfObjectType(integerExample < 1e400)", "full odd"),
        ("arrayOfObjectType(integerExample not in (777, 30000))", "odd"),
        ("not(arrayOfObjectType(integerExample = 5))", "- bare empty full"),
        ("not(arrayOfObjectType(integerExample > 700 and integerExampleInt32 = 22))", "- bare empty"),
        ("not(arrayOfObjectType(integerExample = 777 and integerExample = 5))", EVERYTHING),
        # precedence
        ('key = "full" or key = "odd" and version = 7', "full"),
        ('(key = "full" or key = "odd") and version = 7', ""),
        ('version = 7 and key = "odd" or key = "full"', "full"),
        ('not(key = "full") and key is defined or version = 7', "bare empty odd"),
        ('not(key = "full" and version = 2)', "- bare empty odd"),
        ('not(key = "full" or version = 2)', "- bare empty"),
        ('((((key = "full"))))', "full"),
        # writing
        ('key = "full" AND version = 2', "full"),
        ('key = "full" Or key IN ("odd")', "full odd"),
        ('NOT(key = "full") aNd key IS Not DEFINED', "-"),
        ('arrayOfStringExample CONTAINS ANY ("dog")', "full"),
        ('key MATCHES Ignore CASE "FULL"', "full"),
        ('key="full"or key="odd"and version=2', "full odd"),
        (' \n\tkey\r\n= "full"\n', "full"),
        ('`key` = "full"', "full"),
        ("`arrayOfObjectType`(`integerExample`=777)and`version`=2", "full odd"),
    ],
)
def test_what_a_predicate_finds(library: Api, where: str, expected: str) -> None:
    assert found(library, where) == expected.split()


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_any_text_can_be_found(library: Api, text: str) -> None:
    written = text.replace("\\", "\\\\").replace('"', '\\"')
    for operator in (f'= "{written}"', f'in ("{written}")', f'matches ignore case "{written}"'):
        assert found(library, f"arrayOfStringExample {operator}") == ["odd"]
    assert found(library, "arrayOfStringExample contains all (:it)", it=text) == ["odd"]
    assert found(library, f'key = "{written}" or someProperty = "{written}" or id = "{written}"') == []


def test_ids_compare_as_their_texts(library: Api) -> None:
    everything = library.get("/sorted-query-parameters?sort=id").get_json()["results"]
    ids = [resource["id"] for resource in everything]
    assert ids == sorted(ids)

    def positions(where: str, **variables: str) -> list[int]:
        answer = library.get(
            "/sorted-query-parameters",
            query_string={"where": where, "sort": "id", **{f"var.{name}": text for name, text in variables.items()}},
        )
        return [ids.index(resource["id"]) for resource in answer.get_json()["results"]]

    assert positions(f'id = "{ids[2]}"') == [2]
    assert positions("id = :id", id=ids[3]) == [3]
    assert positions(f'id = "{ids[2].upper()}"') == []
    assert positions(f'id != "{ids[2].upper()}"') == [0, 1, 2, 3, 4]
    assert positions('id = "x"') == []
    assert positions(f'id matches ignore case "{ids[2].upper()}"') == [2]
    assert positions(f'id matches ignore case "{ids[2]}"') == [2]
    assert positions(f'id > "{ids[2]}"') == [3, 4]
    assert positions(f'id <= "{ids[2]}"') == [0, 1, 2]
    assert positions(f'not(id > "{ids[2]}")') == [0, 1, 2]
    assert positions(f'id > "{ids[2]}0"') == [3, 4]
    assert positions(f'id > "{ids[2][:-1]}"')[0] <= 2
    assert positions('id > ""') == [0, 1, 2, 3, 4]
    assert positions('id < "g"') == [0, 1, 2, 3, 4]
    assert positions('id > "00000000-0000-0000-0000-00000000000"') == [0, 1, 2, 3, 4]
    assert positions(f'id in ("{ids[0]}", "x", "{ids[4]}")') == [0, 4]
    assert positions(f'id not in ("{ids[0]}", "x", "{ids[4]}")') == [1, 2, 3]
    assert positions('id not in ("x")') == [0, 1, 2, 3, 4]
    assert positions("id is defined") == [0, 1, 2, 3, 4]


def test_times_compare_as_moments_however_they_are_written(library: Api) -> None:
    moment: str = library.get("/key=full").get_json()["createdAt"]
    date, time = moment.removesuffix("Z").split("T")
    for same in (moment, moment.lower(), f"{date}T{time}", f"{date} {time}+00:00", f"{date}T{time}00000Z"):
        assert "full" in found(library, "createdAt = :t", t=same), same
        assert "full" not in found(library, "createdAt > :t or createdAt < :t", t=same)
    east = f"{date}T{time}-00:00"
    assert "full" in found(library, f'createdAt = "{east}"')
    # A moment within the same millisecond is later than the stored one.
    assert "full" in found(library, "createdAt < :t", t=f"{date}T{time}0000001Z")
    assert "full" not in found(library, "createdAt = :t", t=f"{date}T{time}0000001Z")
    assert "full" in found(library, "createdAt > :date", date=date) or time == "00:00:00.000"


def test_a_leap_second_is_the_first_of_the_next_minute(library: Api) -> None:
    assert found(library, 'createdAt > "2016-12-31T23:59:60Z"') == EVERYTHING.split()


def test_several_predicates_must_all_hold(library: Api) -> None:
    assert found(library, 'key = "full" or key = "odd"', "arrayOfIntExample = 3") == ["full"]
    assert found(library, "version = 2", "key is defined", 'key != "odd"') == ["full"]


def test_the_list_and_the_existence_check_take_predicates_too(library: Api) -> None:
    assert found(library, 'key = "full"', path="") == ["full"]
    assert found(library, "key in :keys", path="", keys=["full", "odd"]) == ["full", "odd"]
    combined = {"where": "version = 2", "stringParameter": "dog"}
    assert library.get(query_string=combined).get_json()["count"] == 1
    assert library.head(query_string=combined).status_code == 200
    assert library.head(query_string={"where": "key = :k", "var.k": "full"}).status_code == 200
    assert library.head(query_string={"where": "key = :k", "var.k": "nobody"}).status_code == 404
    assert library.head(query_string={"where": "version = 2", "stringParameter": "100 %"}).status_code == 404
    assert library.head(query_string={"where": "version = "}).status_code == 400


def test_pages_and_totals_contain_only_matches(library: Api) -> None:
    page = library.get(
        "/sorted-query-parameters", query_string={"where": "key is defined", "limit": 2, "offset": 1, "sort": "key"}
    ).get_json()
    assert (page["count"], page["total"]) == (2, 4)
    assert [resource["key"] for resource in page["results"]] == ["empty", "full"]


def test_a_predicate_finds_nothing_of_another_project(library: Api, api: Api) -> None:
    assert found(api, 'key = "full" or version > 0 or not(key = "x")') == []
