"""The variants of reads in the walk, by the names of its steps."""

from typing import Any
from uuid import UUID

CONDITIONS: dict[str, str] = {
    "all": "",
    "string_parameter": "?stringParameter=a",
    "float_parameter": "?floatParameter=1.5",
    "integer_parameter": "?integerParameter=1",
    "with_markdown_description": "?withMarkdownDescription=2",
    "object_parameter": '?objectParameter={"arrayOfIntExample":[1]}',
    "array_of_string": "?arrayOfString=a&arrayOfString=b",
    "array_of_string_with_description": "?arrayOfStringWithDescription=a&arrayOfStringWithDescription=b",
    "more_than_eight_alternatives": "?" + "&".join(f"arrayOfStringWithDescription={n}" for n in range(9)),
    "several_parameters": "?stringParameter=a&integerParameter=1",
    "where": '?where=key = "a"',
}
"""Query strings of the list and of the existence check, one for each condition."""

PAGES: dict[str, str] = {
    "without_total": "?withTotal=false",
    "condition_without_total": "?withTotal=false&stringParameter=a",
    "sorted": "?sort=createdAt desc&sort=key&limit=1&offset=1",
}
"""Query strings of the list, with the other parameters that change its statement."""

SORTED_PAGES: dict[str, str] = {
    "all": "",
    "without_total": "?withTotal=false&limit=0",
    "by_id_descending": "?sort=id desc",
    "by_key": "?sort=key",
    "by_version_descending": "?sort=version desc",
    "by_created_at": "?sort=createdAt",
    "by_last_modified_at_descending": "?sort=lastModifiedAt desc",
    "by_some_property_descending": "?sort=someProperty desc",
    "by_version_and_key": "?sort=version&sort=key",
    "by_several": "?sort=version&sort=someProperty&sort=createdAt desc",
    "expand_created_by": "?expand=createdBy",
    "expand_last_modified_by": "?expand=lastModifiedBy",
    "expand_both": "?expand=createdBy&expand=lastModifiedBy",
    "where_by_some_property": '?where=arrayOfStringExample = "a"&sort=someProperty',
    "where_in_order": '?where=createdAt >= "2020-01-01"&sort=createdAt desc',
    "where_in_another_order": '?where=createdAt >= "2020-01-01"&sort=version',
    "where_by_version_without_total": '?where=arrayOfStringExample = "a"&sort=version&withTotal=false',
}
"""Query strings of the sorted list, with orders, with expansions, and with a condition in addition."""

_ID = f'"{UUID(int=0)}"'

PREDICATES: dict[str, str] = {
    "id_equals": f"id = {_ID}",
    "id_greater": f"id > {_ID}",
    "id_equals_no_uuid": 'id = "x"',
    "id_less_than_no_uuid": 'id < "x"',
    "id_in": f"id in ({_ID}, {_ID})",
    "id_greater_than_no_uuid": 'id > "zzz"',
    "key_equals": 'key = "a"',
    "key_not_equals": 'key != "a"',
    "key_in": 'key in ("a", "b")',
    "key_not_in": 'key not in ("a", "b")',
    "key_is_defined": "key is defined",
    "key_is_not_defined": "key is not defined",
    "version_equals": "version = 999",
    "version_in": "version in (998, 999, 2.5)",
    "version_at_least": "version >= 2",
    "version_above_a_fraction": "version > 998.5",
    "version_and_unindexed": 'version = 1 and someProperty matches ignore case "x"',
    "two_ranges": 'version >= 1 and createdAt > "2040-01-01"',
    "some_property_equals": 'someProperty = "x"',
    "some_property_in": 'someProperty in ("x", "y")',
    "some_property_greater": 'someProperty > "zzz"',
    "created_at_before": 'createdAt <= "2030-01-01"',
    "created_by": 'createdBy(id = "a")',
    "some_property_matches_ignore_case": 'someProperty matches ignore case "x"',
    "array_equals": "arrayOfIntExample = 1",
    "array_not_equals": "arrayOfIntExample != 1",
    "array_greater": "arrayOfIntExample > 1",
    "array_contains_any": "arrayOfIntExample contains any (1, 2)",
    "array_contains_all": "arrayOfIntExample contains all (1, 2)",
    "array_is_empty": "arrayOfIntExample is empty",
    "array_is_not_empty": "arrayOfIntExample is not empty",
    "array_matches_ignore_case": 'arrayOfStringExample matches ignore case "x"',
    "element": "arrayOfObjectType(integerExample = 1)",
    "element_of_two_members": "arrayOfObjectType(integerExample > 700 and integerExampleInt32 = 1)",
    "element_greater": "arrayOfObjectType(integerExample > 700)",
    "element_negated": "not(arrayOfObjectType(integerExample = 1 and integerExampleInt32 < 2))",
    "element_impossible": "arrayOfObjectType(integerExample = 1 and integerExample = 2)",
    "and_or_not": 'key = "a" and (version = 1 or not(version > 2 and key is defined))',
}
"""Predicates with every operator, on each type of field that makes a difference."""

SEARCHES: dict[str, dict[str, Any]] = {
    "all": {},
    "text": {"text.en": "one"},
    "text_of_unknown_words": {"text.en": "nowhere"},
    "fuzzy_texts": {"text.en": "one", "text.fr": "twos", "fuzzy": "true"},
    "text_sorted": {"text.en": "one", "sort": "someProperty desc"},
    "text_without_total": {"text.en": "one", "withTotal": "false"},
    "filter": {"filter": 'key:"a"'},
    "filter_of_array": {"filter": 'arrayOfStringExample:"a","b"'},
    "filter_of_member": {"filter": "arrayOfObjectType.integerExample:1"},
    "filter_of_number": {"filter": "version:range(998 to 999)"},
    "filter_exists": {"filter": "arrayOfStringExample:exists"},
    "filter_missing": {"filter": "key:missing"},
    "filter_range": {"filter": "version:range(1 to 2),(5 to *)"},
    "filter_range_of_array": {"filter": "arrayOfIntExample:range(1 to 2)"},
    "filter_query": {"filter.query": "version:exists", "facet": "id"},
    "filter_facets": {"filter.facets": ['key:"a"', "version:1"], "facet": ["key", "version"]},
    "all_filters": {
        "text.en": "one",
        "filter": 'key:"a"',
        "filter.query": "version:exists",
        "filter.facets": "version:range(1 to *)",
        "facet": "id",
    },
    "facet_of_text": {"facet": "key"},
    "facet_of_number": {"facet": "version"},
    "facet_of_time": {"facet": "createdAt"},
    "facet_of_texts": {"facet": "arrayOfStringExample"},
    "facet_of_numbers": {"facet": "arrayOfIntExample"},
    "facet_of_member": {"facet": "arrayOfObjectType.integerExample"},
    "facet_counting_products": {"facet": "key counting products"},
    "facet_of_values": {"facet": "version:1,2 as one"},
    "facet_of_ranges": {"facet": "version:range(* to 2),(2 to *)"},
    "facet_of_ranges_of_time": {"facet": 'createdAt:range("2020-01-01" to "2030-01-01")'},
    "facet_of_ranges_of_array": {"facet": "arrayOfIntExample:range(1 to 2) counting products"},
    "two_facets": {"facet": ["createdBy.id", "someProperty"]},
}
"""Parameters of a search."""

STAGED_SEARCHES: dict[str, dict[str, Any]] = {
    "all": {},
    "text": {"text.en": "one"},
    "by_some_property": {"sort": "someProperty"},
    "filters": {"filter": ['arrayOfStringExample:"a"', 'someProperty:"b"', "version:1"]},
    "facets": {"facet": ["someProperty", "arrayOfIntExample"]},
}
"""Parameters of a search in the staged projection."""
