"""How the lane of a read follows from its conditions and its order; ``tests/sql/test_plans.py`` counts what is read."""

from urllib.parse import parse_qsl

import pytest
from werkzeug.datastructures import MultiDict

from app.database.admission import Lane
from app.query.predicate import resolver
from app.resource.params import FilteredListSchema, SearchSchema, SortedListSchema
from app.resource.reading import reads
from app.resource.reading.listing import NEAR_OFFSET_AT_MOST, lane_of_existence, lane_of_page
from app.resource.resource_json import FLAT_JSON
from app.resource.searching.searches import page_of_search

LISTS = {
    "": Lane.FAST,
    "limit=500&withTotal=true": Lane.FAST,
    "sort=lastModifiedAt desc": Lane.FAST,
    "sort=createdAt&sort=id": Lane.FAST,
    "sort=version": Lane.SLOW,
    "sort=version&sort=id": Lane.SLOW,
    "sort=id desc&sort=key": Lane.FAST,  # no two have the same id
    "sort=lastModifiedAt desc&sort=key": Lane.SLOW,
    "sort=createdAt&sort=key": Lane.SLOW,
    'sort=createdAt&sort=key&where=key = "a"': Lane.SLOW,
    f"offset={NEAR_OFFSET_AT_MOST}": Lane.FAST,
    f"offset={NEAR_OFFSET_AT_MOST + 1}": Lane.SLOW,
    'where=key = "a"': Lane.FAST,
    "where=version > 3": Lane.SLOW,
    "where=version = 3": Lane.SLOW,
    "where=version > 3&sort=version": Lane.SLOW,
    'where=createdAt > "2030-01-01"': Lane.SLOW,
    'where=createdAt > "2030-01-01"&sort=createdAt': Lane.FAST,
    'where=createdAt > "2030-01-01"&sort=createdAt desc': Lane.FAST,
    'where=createdAt > "2030-01-01"&sort=lastModifiedAt': Lane.SLOW,
    'where=createdAt > "2030-01-01" and createdAt <= "2031-01-01"&sort=createdAt': Lane.FAST,
    'where=createdAt = "2030-01-01"&sort=createdAt': Lane.FAST,
    'where=createdAt in ("2030-01-01")&sort=createdAt': Lane.FAST,
    'where=createdAt in ("2030-01-01", "2031-01-01")&sort=createdAt': Lane.SLOW,
    'where=lastModifiedAt > "2030-01-01" and createdAt > "2030-01-01"&sort=createdAt': Lane.SLOW,
    'where=lastModifiedAt > "2030-01-01" or createdAt > "2030-01-01"': Lane.SLOW,
    'where=createdAt = "2030-01-01" and someProperty matches ignore case "x"': Lane.SLOW,
    'where=key = "a" and someProperty matches ignore case "x"': Lane.FAST,
    'where=id > "zzz"': Lane.SLOW,
    'where=id = "zzz"': Lane.SLOW,
    'where=id > "01890000-0000-7000-8000-000000000000"': Lane.FAST,
    f'where=someProperty = "{"x" * 399}"': Lane.FAST,
    f'where=someProperty = "{"x" * 400}"': Lane.SLOW,
    f'where=someProperty > "{"x" * 400}"&sort=someProperty': Lane.SLOW,
    'where=key = "a" or arrayOfIntExample = 4': Lane.FAST,
    'where=someProperty is not defined and key = "a"': Lane.FAST,
    'where=someProperty is not defined or key = "a"': Lane.SLOW,
    "where=arrayOfIntExample > 3&where=arrayOfIntExample = 4": Lane.FAST,
    "where=arrayOfObjectType(integerExample = 1 and integerExampleInt32 > 2)": Lane.FAST,
    "where=arrayOfObjectType(integerExample > 1)": Lane.SLOW,
    "where=not(arrayOfObjectType(integerExample = 1))": Lane.SLOW,
}

FILTERED = {
    "": (Lane.FAST, Lane.FAST),
    "arrayOfString=a": (Lane.FAST, Lane.FAST),
    "integerParameter=1&offset=9999": (Lane.SLOW, Lane.FAST),
    'objectParameter={"arrayOfIntExample":[1]}': (Lane.FAST, Lane.FAST),
    # The index has no entry of empty arrays and objects.
    'objectParameter={"arrayOfIntExample":[]}': (Lane.SLOW, Lane.SLOW),
    'objectParameter={"arrayOfObjectType":[{}]}': (Lane.SLOW, Lane.SLOW),
}
"""The lanes of the list and of its existence check."""

EXISTENCE = {
    "version > 3": Lane.SLOW,
    'createdAt > "2030-01-01"': Lane.FAST,
    'createdAt > "2030-01-01" and createdAt <= "2031-01-01"': Lane.FAST,
    'createdAt > "2030-01-01" or createdAt = "2020-01-01"': Lane.SLOW,
    'not(createdAt > "2030-01-01")': Lane.SLOW,
    'lastModifiedAt > "2030-01-01" and createdAt > "2030-01-01"': Lane.SLOW,
    'createdAt > "2030-01-01" and key = "a"': Lane.FAST,
    'createdAt > "2030-01-01" and key > "a"': Lane.SLOW,
}

SEARCHES = {
    "": Lane.FAST,
    "facet=key": Lane.SLOW,
    'facet=key&filter.query=key:"a"': Lane.SLOW,
    'filter=arrayOfStringExample:"a"': Lane.FAST,
    'filter.query=arrayOfStringExample:"a"': Lane.FAST,
    "filter=arrayOfIntExample:range(1 to 2)": Lane.SLOW,
    'filter=arrayOfIntExample:range(1 to 2)&filter.query=arrayOfStringExample:"a"': Lane.FAST,
    "filter=someProperty:missing": Lane.SLOW,
    'filter=someProperty:"x"': Lane.FAST,
    'filter=someProperty:"x"&staged=true': Lane.SLOW,
    'filter=key:"x"&staged=true': Lane.FAST,
    "filter=version:range(1 to 2)&sort=version": Lane.SLOW,
    'filter=createdAt:range("2030-01-01" to *)': Lane.SLOW,
    'filter=createdAt:range("2030-01-01" to *)&sort=createdAt': Lane.FAST,
    'filter=createdAt:"2030-01-01"&sort=createdAt': Lane.FAST,
    'filter=createdAt:"2030-01-01","2031-01-01"&sort=createdAt': Lane.SLOW,
    'filter=createdAt:range(* to "2020-01-01"),("2030-01-01" to *)&sort=createdAt': Lane.SLOW,
    'filter=key:range("a" to *)&filter=createdAt:range("2030-01-01" to *)&sort=createdAt': Lane.SLOW,
    'filter=someProperty:range("a" to *)&sort=someProperty&staged=true': Lane.SLOW,
    "sort=someProperty": Lane.FAST,
    "staged=true&sort=someProperty": Lane.SLOW,
    "staged=true&sort=key": Lane.FAST,
    f"offset={NEAR_OFFSET_AT_MOST + 1}": Lane.SLOW,
}


def parameters(query: str) -> MultiDict[str, str]:
    return MultiDict(parse_qsl(query, keep_blank_values=True))


@pytest.mark.parametrize("query", LISTS)
def test_lane_of_a_sorted_list(query: str) -> None:
    asked = SortedListSchema().load(parameters(query))
    assert lane_of_page(reads.page("p", asked.condition, asked.paging)) is LISTS[query]


@pytest.mark.parametrize("query", FILTERED)
def test_lane_of_a_list_and_of_its_existence_check(query: str) -> None:
    asked = FilteredListSchema().load(parameters(query))
    page = lane_of_page(reads.page("p", asked.condition, asked.paging, FLAT_JSON))
    assert (page, lane_of_existence(reads.selected_by(asked.condition))) == FILTERED[query]


@pytest.mark.parametrize("where", EXISTENCE)
def test_lane_of_an_existence_check(where: str) -> None:
    assert lane_of_existence(reads.selected_by(resolver.read([where], {}))) is EXISTENCE[where]


@pytest.mark.parametrize("query", SEARCHES)
def test_lane_of_a_search(query: str) -> None:
    assert lane_of_page(page_of_search("p", SearchSchema().load(parameters(query)))) is SEARCHES[query]
