"""Lists of entity tags as If-Match and If-None-Match have them (RFC 9110, section 13.1)."""

import pytest

from app.errors import ApiError
from app.resource.preconditions import matches, parse

LISTS = ['"2"', "*", " * ", '"1", "2"', '"2","3"', 'W/"1", "2"', '"other", "2"', ' "2" ', '"1",, "2" ,', ', "2"']

OTHERS = ['"1"', 'W/"2"', '"1", W/"2"', '"02"', '"2.0"', '""', '"x"', '"9223372036854775808"', f'"{30 * "9"}"']

MALFORMED = ["2", 'w/"2"', '"2', '2"', '"1" "2"', '"1"; "2"', "'2'", '"2", *', '"2", 3', "W/2", '" 2"', ",", ""]


@pytest.mark.parametrize(("listed", "holds"), [*((one, True) for one in LISTS), *((one, False) for one in OTHERS)])
def test_a_list_holds_the_versions_of_its_strong_tags(listed: str, holds: bool) -> None:
    tags = parse(listed, None).if_match
    assert tags is not None
    assert matches(tags, 2) is holds


def test_if_none_match_holds_the_versions_of_weak_tags_too() -> None:
    tags = parse(None, '"1", W/"2"').if_none_match
    assert tags is not None
    assert [matches(tags, version) for version in (1, 2, 3)] == [True, True, False]


@pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
def test_what_is_no_list_of_tags_is_refused(header: str) -> None:
    for text in (*MALFORMED, "*\x85"):
        with pytest.raises(ApiError, match=f"Malformed parameter: {header}: ") as refused:
            parse(text, None) if header == "If-Match" else parse(None, text)
        assert refused.value.status == 400, text
