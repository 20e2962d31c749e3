"""HEAD on the collection (interface 4.5): the existence check, with the parameters of the list."""

import pytest
from flask import Flask

from tests.conftest import TokenFor
from tests.support.api import Api


def status(api: Api, query: str = "") -> int:
    """The status of an existence check. Its answer has no body."""
    answer = api.head(f"?{query}" if query else "")
    assert answer.data == b""
    return answer.status_code


@pytest.mark.clause("4.5-1", "4.5-2")
def test_existence_check_is_404_for_an_empty_project_and_200_with_a_resource(api: Api) -> None:
    assert status(api) == 404
    api.create({})
    assert status(api) == 200


@pytest.mark.clause("4.5-1", "4.5-2", "4.5-3")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("stringParameter=cat", 200),
        ("stringParameter=cow", 404),
        ("stringParameter=", 404),
        ("floatParameter=0.82", 200),
        ("floatParameter=0.83", 404),
        ("integerParameter=7", 200),
        ("integerParameter=8", 404),
        ("withMarkdownDescription=10.0", 200),
        ("withMarkdownDescription=5", 404),
        ("objectParameter=%7B%22arrayOfTwonumbersExample%22%3A%5B5%5D%7D", 200),
        ("objectParameter=%7B%22arrayOfTwonumbersExample%22%3A%5B6%5D%7D", 404),
        ("arrayOfString=cat&arrayOfString=dog", 200),
        ("arrayOfString=cat&arrayOfString=cow", 404),
        ("arrayOfStringWithDescription=cat&arrayOfStringWithDescription=cow", 200),
        ("arrayOfStringWithDescription=ox&arrayOfStringWithDescription=cow", 404),
        ("stringParameter=cat&integerParameter=8", 404),
    ],
)
def test_existence_check_applies_the_parameters_of_the_list(api: Api, query: str, expected: int) -> None:
    api.create()
    assert status(api, query) == expected


@pytest.mark.clause("4.5-4")
@pytest.mark.parametrize("query", ["limit=0", "offset=10000", "sort=key%20desc", "withTotal=false", "limit=1&offset=1"])
def test_paging_parameters_do_not_change_the_existence_check(api: Api, query: str) -> None:
    assert status(api, query) == 404
    api.create()
    assert status(api, query) == 200


@pytest.mark.clause("4.5-4", "4.5-5")
@pytest.mark.parametrize(
    "query",
    [
        "limit=501",
        "offset=-1",
        "sort=unknown",
        "withTotal=1",
        "limit=1&limit=1",
        "floatParameter=x",
        "integerParameter=1.5",
        "objectParameter=%5B%5D",
        "stringParamter=a",
        "stringParameter=%FF",
        "stringParameter=%00",
    ],
)
def test_existence_check_with_a_malformed_query_is_400(api: Api, query: str) -> None:
    api.create()
    assert status(api, query) == 400


@pytest.mark.clause("2.1-4")
def test_existence_check_ignores_resources_of_other_projects(app: Flask, api: Api, token_for: TokenFor) -> None:
    api.create()
    other = Api(app, f"{api.project}-2", token_for(f"view_test:{api.project}-2"))
    assert status(other) == 404


@pytest.mark.clause("4.5-5", "A-9")
def test_existence_check_requires_scope_view_test_or_manage_test(app: Flask, api: Api, token_for: TokenFor) -> None:
    api.create()
    for scope, expected in (("view_test", 200), ("manage_test", 200), ("view_products", 403)):
        assert status(Api(app, api.project, token_for(f"{scope}:{api.project}"))) == expected
    assert status(Api(app, api.project, None)) == 401
