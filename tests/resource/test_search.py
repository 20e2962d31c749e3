"""Search over HTTP (interface 4.4 and 4.14): parameters, forms, order, projections, what its answers look like."""

import json
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask

from tests.conftest import TokenFor
from tests.support.api import EXAMPLE, Api, codes

QUERY = "/searchApiPattern"
FORM = "/product-projection-search"
FORM_TYPE = "application/x-www-form-urlencoded"


@pytest.fixture
def api(app: Flask, project: str, token_for: TokenFor) -> Api:
    """A client that may do everything."""
    return Api(app, project, token_for(f"manage_test:{project}", f"view_products:{project}"))


HIGHER = "{} is higher than {}, the default for the longest word."


def found(api: Api, **query: Any) -> list[str]:
    """The keys of the results in their order; a name's double underscore is a dot."""
    return [result["key"] for result in page(api, **query)["results"]]


def page(api: Api, **query: Any) -> dict[str, Any]:
    named = {name.replace("__", "."): value for name, value in query.items()}
    by_query = api.get(QUERY, query_string=named)
    by_form = api.post(FORM, data=named)
    assert by_query.status_code == by_form.status_code == 200, by_query.text
    assert by_query.get_data() == by_form.get_data()
    return by_query.get_json()


def messages(answer: Any, name: str) -> list[str]:
    assert set(codes(answer)) <= {"InvalidInput", "SearchFacetPathNotFound"}
    return [error["message"].removeprefix(f"Malformed parameter: {name}: ") for error in answer.get_json()["errors"]]


# Answers


@pytest.mark.clause("4.4-4", "4.4-5", "4.14-2", "4.14-3")
def test_a_result_is_a_flat_projection(api: Api) -> None:
    created = api.create(key="a-key")
    result = {name: created[name] for name in ("id", "version", "key", "createdAt", "lastModifiedAt")}
    assert page(api) == {
        "limit": 20,
        "offset": 0,
        "count": 1,
        "total": 1,
        "results": [{**result, "hasStagedChanges": False, **EXAMPLE}],
    }
    changed = api.update(created, {"action": "changeSomeProperty", "someProperty": 'a "text"'})
    (shown,) = page(api)["results"]
    assert (shown["someProperty"], shown["version"]) == (changed["someProperty"], 2)


@pytest.mark.clause("3-4", "3-5", "4.4-5")
def test_each_projection_shows_its_own_values(api: Api) -> None:
    resource = api.create({"arrayOfStringExample": ["old"]}, key="a-key")
    staged = {"key": "a-key", "objectTypeProperty": {"arrayOfIntExample": [1]}}
    assert api.put(json=staged, query_string={"staged": "true"}).status_code == 200
    resource["version"] = 2
    api.update(resource, {"action": "changeSomeProperty", "someProperty": "new", "staged": True})
    (current,) = page(api)["results"]
    (staged_view,) = page(api, staged="true")["results"]
    assert (current["hasStagedChanges"], staged_view["hasStagedChanges"]) == (True, True)
    assert (current["arrayOfStringExample"], staged_view["arrayOfIntExample"]) == (["old"], [1])
    assert "arrayOfIntExample" not in current
    assert "arrayOfStringExample" not in staged_view
    assert "someProperty" not in current
    assert staged_view["someProperty"] == "new"
    resource["version"] = 3
    api.update(resource, {"action": "publish"})
    assert page(api)["results"] == page(api, staged="true")["results"]
    assert page(api)["results"][0]["hasStagedChanges"] is False


@pytest.mark.clause("3-4", "4.14-3", "S-46")
def test_staged_filters_facets_and_sorting_look_at_the_staged_projection(api: Api) -> None:
    for key, some, staged_some in (("aa", "1", "3"), ("bb", "2", "2"), ("cc", "3", "1")):
        resource = api.create({}, key=key)
        resource = api.update(resource, {"action": "changeSomeProperty", "someProperty": some})
        api.update(resource, {"action": "changeSomeProperty", "someProperty": staged_some, "staged": True})
    assert found(api, sort="someProperty") == ["aa", "bb", "cc"]
    assert found(api, sort="someProperty", staged="true") == ["cc", "bb", "aa"]
    assert found(api, filter='someProperty:"3"', staged="true") == ["aa"]
    assert found(api, text__en="3", staged="true") == ["aa"]
    facet = page(api, facet='someProperty:"1","2"', filter__query='key:"cc"', staged="true")["facets"]
    assert facet == {"someProperty": {"type": "filter", "count": 1}}


@pytest.mark.clause("S-28", "S-29")
def test_an_answer_has_facets_only_if_the_search_has(api: Api) -> None:
    assert "facets" not in page(api)
    assert page(api, facet="key")["facets"] == {
        "key": {"type": "terms", "dataType": "text", "missing": 0, "total": 0, "other": 0, "terms": []}
    }
    assert list(page(api, facet=["version as b", "key", "version as a"])["facets"]) == ["b", "key", "a"]


@pytest.mark.clause("S-27")
def test_without_a_match_there_are_no_results_and_facets_count_nothing(api: Api) -> None:
    api.create(key="a-key")
    for query in ({"text.en": "nowhere"}, {"text.en": "the"}, {"filter.query": 'key:"x"'}):
        answered = page(api, **query, facet=["key", "version:1 as one", "version:range(0 to *) as some"])
        assert (answered["results"], answered["total"]) == ([], 0)
        assert answered["facets"]["key"] == {
            "type": "terms", "dataType": "text", "missing": 0, "total": 0, "other": 0, "terms": [],
        }  # fmt: skip
        assert answered["facets"]["one"]["count"] == answered["facets"]["some"]["ranges"][0]["count"] == 0


# Order and paging


@pytest.mark.clause("S-45", "S-46")
def test_results_are_sorted_by_relevance_and_then_by_id(api: Api) -> None:
    api.create({"arrayOfStringExample": ["a cat and a mouse and a bird and a house"]}, key="once")
    api.create({"arrayOfStringExample": ["cat", "cats", "a cat"]}, key="thrice")
    api.create({"arrayOfStringExample": ["a cat and a mouse and a bird and a house"]}, key="again")
    assert found(api, text__en="cat") == ["thrice", "once", "again"]
    assert found(api, text__en="cat", staged="true") == ["thrice", "once", "again"]
    assert found(api, text__en="cat", sort="key desc") == ["thrice", "once", "again"]
    assert found(api, text__en="cat", sort="createdAt") == ["once", "thrice", "again"]
    assert found(api, text__en="cat", limit="1", offset="1") == ["once"]


@pytest.mark.clause("S-44")
def test_exact_hits_stand_above_stems_and_these_above_similar_words(api: Api) -> None:
    for key, *texts in (
        ("similar-often", "hourses", "hourses hourses", "hourses"),
        ("similar", "hourse"),
        ("stem-often", "horse", "horse", "horse"),
        ("stem", "horse"),
        ("exact-far", "horses"),
        ("exact-often", "horses", "horses horses"),
    ):
        api.create({"arrayOfStringExample": texts}, key=key)
    fuzzy = {"text__en": "horses", "fuzzy": "true"}
    expected = ["exact-often", "exact-far", "stem-often", "stem", "similar-often", "similar"]
    assert found(api, **fuzzy) == expected
    assert found(api, **fuzzy, staged="true") == expected
    assert found(api, text__en="horses") == expected[:4]
    assert found(api, text__xx="horses") == expected[:2]
    assert found(api, **fuzzy, limit="2", offset="1") == expected[1:3]
    assert found(api, **fuzzy, sort="key") == sorted(expected)


def test_of_several_words_each_counts_for_the_order(api: Api) -> None:
    for key, *texts in (
        ("both-similar", "gardin chairr"),
        ("one-exact", "garden chairr"),
        ("exact-and-stem", "garden chair"),
        ("both-exact-apart", "garden", *["x"] * 20, "chairs"),
        ("both-exact", "garden chairs"),
    ):
        api.create({"arrayOfStringExample": texts}, key=key)
    expected = ["both-exact", "both-exact-apart", "exact-and-stem", "one-exact", "both-similar"]
    assert found(api, text__en="garden chairs", fuzzy="true") == expected


@pytest.mark.clause("4.4-7", "S-45")
def test_every_sort_and_page(api: Api) -> None:
    for number in range(4):
        api.create({"arrayOfIntExample": [number]}, key=f"key-{number}")
    keys = [f"key-{number}" for number in range(4)]
    for field in ("id", "key", "createdAt", "lastModifiedAt"):
        assert found(api, sort=field) == keys
        assert found(api, sort=f"{field} DESC") == keys[::-1]
    assert found(api, sort=["version", "key desc"]) == keys[::-1]
    assert found(api) == keys
    answered = page(api, limit="2.0", offset="1")
    assert [result["key"] for result in answered["results"]] == keys[1:3]
    assert (answered["limit"], answered["offset"], answered["count"], answered["total"]) == (2, 1, 2, 4)
    assert "total" not in page(api, withTotal="false")
    assert page(api, limit="0", facet="key")["facets"]["key"]["total"] == 4


# Parameters


@pytest.mark.clause("4.4-2", "4.4-3")
@pytest.mark.parametrize("name", ["text.en", "text.en-GB", "text.zz", "textXen", "text-de", "text\nen"])
def test_the_name_of_a_text_matches_the_whole_pattern(api: Api, name: str) -> None:
    api.create(key="a-key")
    assert api.get(QUERY, query_string={name: "dog"}).get_json()["total"] == 1


@pytest.mark.clause("4.4-3")
@pytest.mark.parametrize(
    "name", ["text.eng", "text.EN", "text.en-gb", "text.en-", "texten", "text", "xtext.en", "text.en-GBR"]
)
def test_names_that_do_not_match_are_refused(api: Api, name: str) -> None:
    answer = api.get(QUERY, query_string={name: "dog"})
    assert answer.status_code == 400
    assert messages(answer, name)[0].startswith("Unknown parameter.")


@pytest.mark.clause("S-8")
def test_blank_texts_are_refused(api: Api) -> None:
    answer = api.get(QUERY, query_string="text.en=&text.de=%20%09&text.fr=chat&text.fr=")
    assert [error["message"] for error in answer.get_json()["errors"]] == [
        "Malformed parameter: text.en: The value is empty.",
        "Malformed parameter: text.de: The value is blank.",
        "Malformed parameter: text.fr: The value is empty.",
    ]


@pytest.mark.clause("S-2", "S-3", "S-4")
def test_all_texts_must_be_found(api: Api) -> None:
    api.create({"arrayOfStringExample": ["red apples", "Äpfel"]}, key="both")
    api.create({"arrayOfStringExample": ["red"]}, key="one")
    assert found(api, text__en="apple red") == ["both"]
    assert found(api, text__en=["red", "apple"]) == ["both"]
    assert found(api, text__en="red", text__de="Apfel") == ["both"]
    assert found(api, text__en="red", text__de="the") == []
    assert found(api, text__en="RED") == ["both", "one"] or found(api, text__en="RED") == ["one", "both"]


@pytest.mark.clause("4.4-6", "S-11", "S-12")
@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"fuzzyLevel": "3", "fuzzy": "true"}, HIGHER.format('"3"', 2)),
        ({"fuzzyLevel": "-1"}, '"-1" is negative, a number from 0 on is expected.'),
        ({"fuzzyLevel": "-0.5", "fuzzy": "true"}, '"-0.5" is negative, a number from 0 on is expected.'),
        ({"fuzzyLevel": "1", "text.en": "ab", "fuzzy": "true"}, HIGHER.format('"1"', 0)),
        ({"fuzzyLevel": "1.5", "text.en": "ab cd", "fuzzy": "true"}, HIGHER.format('"1.5"', 0)),
        ({"fuzzyLevel": "2.5", "text.en": "abcdef", "fuzzy": "true"}, HIGHER.format('"2.5"', 2)),
        ({"fuzzyLevel": "2", "text.en": "abcde", "fuzzy": "true"}, HIGHER.format('"2"', 1)),
        ({"fuzzyLevel": "2", "text.en": "ab", "text.de": "Äpfel", "fuzzy": "true"}, HIGHER.format('"2"', 1)),
        ({"fuzzyLevel": "two"}, '"two" is not a number.'),
        ({"fuzzyLevel": "1e400"}, '"1e400" is not a number that a double can hold.'),
    ],
)
def test_a_fuzzy_level_above_the_default_or_below_zero_is_refused(api: Api, query: dict[str, str], reason: str) -> None:
    for answer in (api.get(QUERY, query_string=query), api.post(FORM, data=query)):
        assert answer.status_code == 400
        assert messages(answer, "fuzzyLevel") == [reason]


@pytest.mark.clause("S-12")
def test_without_fuzzy_the_level_has_no_effect(api: Api) -> None:
    api.create({"arrayOfStringExample": ["ab"]}, key="a-key")
    for level in ("0", "1", "2.5", "3", "1e300"):
        for switched_off in ({}, {"fuzzy": "false"}):
            query = {"fuzzyLevel": level, "text.en": "ab", **switched_off}
            assert api.get(QUERY, query_string=query).get_json()["total"] == 1


@pytest.mark.clause("S-9", "S-11", "S-12")
def test_a_fuzzy_level_up_to_the_default_is_taken(api: Api) -> None:
    api.create({"arrayOfStringExample": ["elephants"]}, key="a-key")
    for query in (
        {"fuzzyLevel": "2", "fuzzy": "true"},
        {"fuzzyLevel": "2.0", "text.en": "elephants", "fuzzy": "true"},
        {"fuzzyLevel": "2", "text.en": "elephxnts", "fuzzy": "true"},
        {"fuzzyLevel": "1.9", "text.en": "elephxnts", "fuzzy": "true"},
        {"fuzzyLevel": "1", "text.en": "elephxnts", "fuzzy": "TRUE"},
    ):
        assert api.get(QUERY, query_string=query).get_json()["total"] == 1
    for level in ("0", "0.9", "-0.0"):
        assert page(api, fuzzyLevel=level, text__en="elephxnts", fuzzy="true")["total"] == 0
    assert page(api, fuzzyLevel="1.9", text__en="elxphxnts", fuzzy="true")["total"] == 0
    assert page(api, fuzzyLevel="2", text__en="elephxnts", fuzzy="false")["total"] == 0


@pytest.mark.clause("E-13")
def test_faults_of_all_parameters_are_answered_at_once(api: Api) -> None:
    query = "filter=x&facet=y&facet=key:&filter.query=key:1&staged=maybe&fuzzy=1&limit=501&sort=x&nope=1&text.en="
    answer = api.get(QUERY, query_string=query)
    assert answer.status_code == 400
    assert sorted(codes(answer)) == ["InvalidInput"] * 9 + ["SearchFacetPathNotFound"]
    texts = " ".join(error["message"] for error in answer.get_json()["errors"])
    for name in ("filter", "facet", "filter.query", "staged", "fuzzy", "limit", "sort", "nope", "text.en"):
        assert f"Malformed parameter: {name}: " in texts


@pytest.mark.clause("4.4-7")
def test_a_search_refuses_the_parameters_of_lists(api: Api) -> None:
    for name in ("where", "var.x", "expand", "stringParameter", "markMatchingVariants", "score"):
        assert api.get(QUERY, query_string={name: "1"}).status_code == 400


# Forms


@pytest.mark.clause("4.14-4", "4.14-6", "S-26")
def test_a_form_and_the_query_string_are_combined(api: Api) -> None:
    for key in ("aa", "bb", "cc"):
        api.create({"arrayOfStringExample": [key]}, key=key)
    answer = api.post(f"{FORM}?filter=version:1&limit=1", data={"filter": ['key:"aa","bb"', 'key:"bb","cc"']})
    assert [result["key"] for result in answer.get_json()["results"]] == ["bb"]
    answer = api.post(f"{FORM}?text.en=aa", data={"text.en": "bb"})
    assert answer.get_json()["total"] == 0
    assert api.post(f"{FORM}?filter=key:exists").get_json()["total"] == 3
    assert api.post(FORM).get_json()["total"] == 3
    assert api.post(FORM, data="", content_type="application/json").get_json()["total"] == 3


@pytest.mark.clause("4.14-4")
@pytest.mark.parametrize("name", ["limit", "offset", "staged", "fuzzy", "fuzzyLevel", "withTotal"])
def test_a_single_parameter_in_form_and_query_string_is_refused(api: Api, name: str) -> None:
    value = "true" if name in ("staged", "fuzzy", "withTotal") else "1"
    answer = api.post(f"{FORM}?{name}={value}", data={name: value})
    assert answer.status_code == 400
    assert messages(answer, name) == ["The parameter can be given only once."]


@pytest.mark.clause("4.14-5")
def test_undeclared_fields_are_refused(api: Api) -> None:
    answer = api.post(FORM, data={"filtre": "x", "facet": "key"})
    assert answer.status_code == 400
    assert messages(answer, "filtre") == ["Unknown parameter. Did you mean 'filter'?"]


@pytest.mark.clause("4.14-8")
def test_other_bodies_are_refused(api: Api) -> None:
    for content_type in (
        "application/json",
        "text/plain",
        "multipart/form-data; boundary=x",
        f"{FORM_TYPE}; charset=latin-1",
    ):
        answer = api.post(FORM, data="facet=key", content_type=content_type)
        assert answer.status_code == 415
        assert answer.get_json()["message"] == f"The request body must have Content-Type {FORM_TYPE}."
    assert api.post(FORM, data="facet=key", content_type=f"{FORM_TYPE}; charset=UTF-8").status_code == 200


@pytest.mark.clause("4-13")
def test_a_form_that_is_not_utf_8_is_refused(api: Api) -> None:
    for body in (b"facet=k\xffy", b"facet=k%FFy"):
        answer = api.post(FORM, data=body, content_type=FORM_TYPE)
        assert answer.status_code == 400
        assert answer.get_json()["message"] == "Malformed parameter: facet: The value is not UTF-8."
    assert api.post(FORM, data="text.en=a%00b", content_type=FORM_TYPE).status_code == 400
    assert api.post(FORM, data="text.en=%F0%9F%90%8D", content_type=FORM_TYPE).status_code == 200


@pytest.mark.clause("S-54")
def test_forms_are_bounded(api: Api) -> None:
    answer = api.post(FORM, data="&".join(["facet=key"] * 1001), content_type=FORM_TYPE)
    assert answer.status_code == 400
    assert answer.get_json()["message"] == "Malformed form: it has more than 1000 fields."
    answer = api.post(FORM, data=b"facet=" + b"x" * (2 * 1024 * 1024), content_type=FORM_TYPE)
    assert answer.status_code == 413
    answer = api.post(FORM, data=b"filter=key:" + b"%22" * 100_000, content_type=FORM_TYPE)
    assert answer.status_code == 400


def test_a_form_can_be_longer_than_a_url(api: Api) -> None:
    api.create(key="a-key")
    values = ",".join(f'"key-{number:010}"' for number in range(499))
    answer = api.post(FORM, data={"filter": f'key:{values},"a-key"', "filter.query": f'key:{values},"a-key"'})
    assert answer.get_json()["total"] == 1


# Filters and facets


@pytest.mark.clause("S-18")
def test_quotes_and_special_characters_in_values_have_no_meaning(api: Api) -> None:
    nasty = ["'", '"', "\\", "'; DROP TABLE resource; --", "%s %(x)s", "{}", "$v0", "a\nb", "🐍", "?", ":x"]
    api.create({"arrayOfStringExample": nasty}, key="a-key")
    for text in nasty:
        quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        assert found(api, filter=f"arrayOfStringExample:{quoted}") == ["a-key"]
        assert page(api, facet=f"arrayOfStringExample:{quoted} as n")["facets"]["n"]["count"] == 1
    terms = page(api, facet="arrayOfStringExample")["facets"]["arrayOfStringExample"]["terms"]
    assert [term["term"] for term in terms] == sorted(nasty)


def test_numbers_are_exact(api: Api) -> None:
    api.create({"arrayOfIntExample": [2**53, 2**53 + 1, 2**63 - 1, -(2**63)]}, key="a-key")
    answer = api.get(QUERY, query_string={"facet": "arrayOfIntExample", "filter": f"arrayOfIntExample:{2**53 + 1}"})
    facet = json.loads(answer.get_data(), parse_float=Decimal)["facets"]["arrayOfIntExample"]
    assert [term["term"] for term in facet["terms"]] == [-(2**63), 2**53, 2**53 + 1, 2**63 - 1]
    assert found(api, filter=f"arrayOfIntExample:range({2**53 + 1} to {2**53 + 1})") == ["a-key"]
    assert found(api, filter=f"arrayOfIntExample:range({2**53 + 2} to {2**63 - 2})") == []


@pytest.mark.clause("S-17")
def test_one_element_is_within_both_bounds(api: Api) -> None:
    api.create({"arrayOfIntExample": [1, 9], "arrayOfStringExample": ["a", "z"]}, key="apart")
    api.create({"arrayOfIntExample": [5], "arrayOfStringExample": ["m"]}, key="between")
    assert found(api, filter="arrayOfIntExample:range(2 to 8)") == ["between"]
    assert found(api, filter='arrayOfStringExample:range("b" to "y")') == ["between"]
    api.create({"arrayOfObjectType": [{"integerExample": 1}, {"integerExample": 9}]}, key="objects-apart")
    assert found(api, filter="arrayOfObjectType.integerExample:range(2 to 8)") == []
    assert found(api, filter="arrayOfObjectType.integerExample:range(2 to 9)") == ["objects-apart"]


@pytest.mark.clause("S-31", "S-32", "S-56")
def test_at_most_200_terms_are_listed_and_the_others_counted(api: Api) -> None:
    api.create({"arrayOfIntExample": list(range(250))})
    api.create({"arrayOfIntExample": [249, 249, 248]})
    facet = page(api, facet="arrayOfIntExample")["facets"]["arrayOfIntExample"]
    assert (facet["total"], facet["other"], facet["missing"], len(facet["terms"])) == (252, 50, 0, 200)
    assert [term["term"] for term in facet["terms"]] == [248, 249, *range(198)]
    assert [term["count"] for term in facet["terms"]] == [2, 2] + [1] * 198


@pytest.mark.clause("S-22", "S-25", "S-26")
def test_filters_on_the_field_of_a_facet_do_not_narrow_it_whichever_path_they_use(api: Api) -> None:
    api.create({"arrayOfIntExample": [1]}, key="aa")
    api.create({"arrayOfIntExample": [2]}, key="bb")
    answered = page(
        api,
        facet=["arrayOfIntExample", "objectTypeProperty.arrayOfIntExample:1,2 as both", "key"],
        filter__facets=["objectTypeProperty.arrayOfIntExample:1", 'key:"aa","bb"'],
    )
    assert answered["total"] == 2
    assert answered["facets"]["arrayOfIntExample"]["total"] == 2
    assert answered["facets"]["both"]["count"] == 2
    assert [term["term"] for term in answered["facets"]["key"]["terms"]] == ["aa"]


@pytest.mark.clause("S-54")
def test_the_number_of_facets_ranges_and_values_is_bounded(api: Api) -> None:
    def refused(**query: Any) -> list[str]:
        ((name, value),) = query.items()
        return messages(api.post(FORM, data={name.replace("__", "."): value}), name.replace("__", "."))

    assert api.post(FORM, data={"facet": [f"key as k{n}" for n in range(50)]}).status_code == 200
    assert refused(facet=[f"key as k{n}" for n in range(51)]) == ["There are 51 facets, 50 are accepted."]
    ranges = ",".join(f"({n} to {n + 1})" for n in range(100))
    api.create({"arrayOfIntExample": [50]})
    answer = api.post(FORM, data={"facet": f"arrayOfIntExample:range{ranges}"})
    counts = [counted["count"] for counted in answer.get_json()["facets"]["arrayOfIntExample"]["ranges"]]
    assert counts == [0] * 50 + [1] + [0] * 49
    assert refused(facet=f"arrayOfIntExample:range{ranges},(1 to 2)") == [
        "There are 101 ranges, 100 are accepted. (line 1, column 1)"
    ]
    values = ",".join("1" * 500)
    assert api.post(FORM, data={"filter": f"version:{values}", "filter.query": f"version:{values}"}).status_code == 200
    assert refused(filter__facets=[f"version:{values}", "version:1"]) == ["There are more than 500 values and ranges."]
    assert refused(filter="key:" + '"' + "x" * 20_000 + '"') == [
        "The expression has 20006 characters, 16384 are accepted."
    ]


@pytest.mark.clause("S-48", "S-51", "S-53")
@pytest.mark.parametrize(
    ("facet", "message"),
    [
        (
            "createdBy",
            "The field 'createdBy' does not support this expression. It takes no facet; its members are"
            " 'createdBy.typeId', 'createdBy.id'. (line 1, column 1)",
        ),
        (
            "arrayOfObjectType",
            "The field 'arrayOfObjectType' does not support this expression. It takes no facet; its members are"
            " 'arrayOfObjectType.integerExample', 'arrayOfObjectType.integerExampleInt32'. (line 1, column 1)",
        ),
        (
            "key as",
            "Syntax error while parsing 'key as'. Unexpected end of input, expected alias (line 1, column 7):\n"
            "key as\n      ^",
        ),
        (
            "key:exists",
            "Syntax error while parsing 'key:exists'. Invalid input 'e', expected primitive value, 'range' or 'subtree'"
            " (line 1, column 5):\nkey:exists\n    ^",
        ),
        (
            "key counting product",
            "Syntax error while parsing 'key counting product'. Unexpected end of input, expected 's'"
            " (line 1, column 21):\nkey counting product\n                    ^",
        ),
        ("version:true", "The field 'version' takes a number, not the boolean true. (line 1, column 9)"),
    ],
)
def test_an_invalid_facet_is_refused(api: Api, facet: str, message: str) -> None:
    answer = api.post(FORM, data={"facet": facet})
    assert answer.status_code == 400
    assert messages(answer, "facet") == [message]


def test_forms_arrive_as_clients_encode_them(api: Api) -> None:
    """Spaces as plus signs, everything else percent-encoded, and a field as often as it has values."""
    api.create({"arrayOfStringExample": ["a b", "c+d"]}, key="a-key")
    body = urlencode([("filter", 'arrayOfStringExample:"a b"'), ("filter", 'arrayOfStringExample:"c+d"')])
    assert "+" in body
    assert "%2B" in body
    assert api.post(FORM, data=body, content_type=FORM_TYPE).get_json()["total"] == 1
