"""Generated ObjectTypes: valid ones are returned exactly, invalid ones are refused with the path of the fault."""

import json
import math
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask
from hypothesis import given, settings
from hypothesis import strategies as st

from app.query.object_fields import DOUBLE, INT32, INT64, NUMBER, TEXT
from tests.support.api import UNKNOWN_ID, Api
from tests.support.fixtures import TokenFor
from tests.support.generated import examples
from tests.support.object_types import object_types

INTEGERS = st.integers(-(2**63), 2**63 - 1)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.one_of(
    INTEGERS,
    DOUBLES,
    st.sampled_from([-0.0, 0.1, 1e-300, 5e-324, 1.7976931348623157e308, 2**53 + 1, 1e22, 1e15, -1e-7]),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
OBJECT_TYPES = object_types(
    {INT64: INTEGERS, INT32: st.integers(-(2**31), 2**31 - 1), NUMBER: NUMBERS, DOUBLE: NUMBERS, TEXT: TEXTS}
)

generated = settings(max_examples=examples(40), deadline=None, derandomize=True, database=None)


def same(kept: Any, sent: Any) -> bool:
    """Whether a stored value equals the sent one: the same integer, the same double with its sign, the same text.

    A double without a fraction may be returned as an integer: 5.127386308352045e+16 as 51273863083520450.
    """
    match kept, sent:
        case dict(), dict():
            return kept.keys() == sent.keys() and all(same(kept[name], sent[name]) for name in kept)
        case list(), list():
            return len(kept) == len(sent) and all(map(same, kept, sent))
        case int() | float(), float():
            return float(kept) == sent and math.copysign(1, kept) == math.copysign(1, sent)
        case _:
            return type(kept) is type(sent) and kept == sent


@pytest.fixture(scope="session")
def fresh(app: Flask, token_for: TokenFor) -> Any:
    """Creates clients, each with an empty project."""

    def make() -> Api:
        project = f"p-{uuid4().hex}"
        return Api(app, project, token_for(f"manage_test:{project}"))

    return make


def stored(api: Api, resource: dict[str, Any]) -> Any:
    """The ObjectType of a resource, as GET returns it."""
    return api.get(f"/{resource['id']}").get_json()["objectTypeProperty"]


@generated
@given(OBJECT_TYPES)
def test_created_values_are_returned_exactly(fresh: Any, value: dict[str, Any]) -> None:
    api = fresh()
    created = api.create(value)
    assert same(created["objectTypeProperty"], value)
    assert same(stored(api, created), value)
    [listed] = api.get().get_json()["results"]
    assert same({name: listed[name] for name in value}, value)
    again = api.put({"objectTypeProperty": value})
    assert (again.status_code, again.get_json()) == (200, created)


@generated
@given(OBJECT_TYPES, OBJECT_TYPES)
def test_merged_values_are_returned_exactly(fresh: Any, first: dict[str, Any], second: dict[str, Any]) -> None:
    api = fresh()
    created = api.create(first, key="a-key")
    answer = api.post(json={"key": "a-key", "objectTypeProperty": second})
    assert answer.status_code == 200
    merged = answer.get_json()
    assert same(merged["objectTypeProperty"], first | second)
    assert same(stored(api, created), first | second)
    assert merged["version"] == (1 if same(first, first | second) else 2)


@generated
@given(TEXTS)
def test_any_text_is_stored_exactly_and_found_by_string_parameter(fresh: Any, text: str) -> None:
    api = fresh()
    created = api.create({"arrayOfStringExample": [text]})
    assert api.update(created, {"action": "changeSomeProperty", "someProperty": text})["someProperty"] == text
    if text:
        assert api.get(query_string={"stringParameter": text}).get_json()["total"] == 1


# Invalid values: a valid ObjectType with one invalid item in one of its arrays


FRACTIONS = DOUBLES.filter(lambda number: not number.is_integer())
OF_ANOTHER_TYPE = {
    "integer": st.one_of(TEXTS, st.none(), st.booleans(), FRACTIONS, st.just({}), st.just([])),
    "number": st.one_of(TEXTS, st.none(), st.booleans(), st.just({}), st.lists(INTEGERS)),
    "text": st.one_of(NUMBERS, st.none(), st.booleans(), st.just({}), st.lists(TEXTS)),
    "object": st.one_of(NUMBERS, TEXTS, st.none(), st.booleans(), st.lists(INTEGERS)),
}
BEYOND_INT64 = st.one_of(
    st.integers(2**63, 10**400), st.integers(-(10**400), -(2**63) - 1), st.floats(min_value=1e19, allow_infinity=False)
)
BEYOND_DOUBLE = st.one_of(st.integers(10**309, 10**320), st.integers(-(10**320), -(10**309)))
UNSTORABLE = st.builds(
    lambda before, bad, after: before + bad + after,
    TEXTS,
    st.one_of(st.just("\x00"), st.characters(categories=["Cs"])),
    TEXTS,
).filter(lambda text: text != text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") or "\x00" in text)

ARRAYS = {
    "arrayOfIntExample": ("integer", INTEGERS, BEYOND_INT64),
    "arrayOfFloatExample": ("number", NUMBERS, BEYOND_DOUBLE),
    "arrayOfNumberNoDefaultsExample": ("number", NUMBERS, BEYOND_DOUBLE),
    "arrayOfStringExample": ("text", TEXTS, UNSTORABLE),
}


ItemFault = tuple[str, list[Any], int]
"""The name of an array, its items, and the index of the invalid item."""


@st.composite
def array_with_a_fault(draw: st.DrawFn, *, of_value: bool) -> ItemFault:
    name = draw(st.sampled_from(sorted(ARRAYS)))
    kind, good, bad_value = ARRAYS[name]
    items = draw(st.lists(good, max_size=5))
    position = draw(st.integers(0, len(items)))
    items.insert(position, draw(bad_value if of_value else OF_ANOTHER_TYPE[kind]))
    return name, items, position


def refused_item(api: Api, value: dict[str, Any], fault: ItemFault) -> tuple[dict[str, Any], str]:
    """The error of an ObjectType with an invalid array item, and the item's place."""
    name, items, position = fault
    answer = api.post(json={"objectTypeProperty": value | {name: items}})
    assert (answer.status_code, api.head().status_code) == (400, 404)
    [error] = answer.get_json()["errors"]
    return error, f"objectTypeProperty -> {name} -> {position}"


@generated
@given(OBJECT_TYPES, array_with_a_fault(of_value=False))
def test_an_array_item_of_a_wrong_type_is_400_with_its_index(fresh: Any, value: Any, fault: ItemFault) -> None:
    error, place = refused_item(fresh(), value, fault)
    assert error["code"] == "InvalidJsonInput"
    assert error["detailedErrorMessage"].startswith(f"{place}: ")


@generated
@given(OBJECT_TYPES, array_with_a_fault(of_value=True))
def test_an_array_item_out_of_range_is_400_with_its_index(fresh: Any, value: Any, fault: ItemFault) -> None:
    error, place = refused_item(fresh(), value, fault)
    assert (error["code"], error["field"]) == ("InvalidField", place)
    assert "invalidValue" in error


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, BEYOND_DOUBLE, st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.one_of(
                st.text(),
                st.sampled_from(["objectTypeProperty", "key", "id", "version", "actions", "action", "arrayOfIntExample",
                                 "arrayOfObjectType", "arrayOfStringExample", "createdAt", "createdBy", "firstName"]),
            ),
            inner,
            max_size=5,
        ),
    ),
)  # fmt: skip


@settings(generated, max_examples=examples(20))  # fifteen requests each
@given(JSON)
def test_no_json_body_of_any_shape_is_a_server_error(fresh: Any, body: Any) -> None:
    api = fresh()
    data = json.dumps(body)
    posted = ("", f"/{UNKNOWN_ID}", "/description-with-urn-links")
    for method, path in (("PUT", ""), ("PATCH", ""), *(("POST", path) for path in posted)):
        for text in (data, f'{{"objectTypeProperty": {data}}}', f'{{"version": 1, "actions": [{data}]}}'):
            assert api.request(method, path, data=text, content_type="application/json").status_code < 500
