"""Names of the interface that checks of several themes use: paths below the resources, fields of an ObjectType."""

from typing import Any

SORTED = "/sorted-query-parameters"

SEARCH = "/searchApiPattern"

FORM_SEARCH = "/product-projection-search"

LINKS = "/description-with-urn-links"


def complex_path(one: str = "one", two: str = "two") -> str:
    """The path of 4.9 with its two parameters, which are already percent-encoded."""
    return f"/artificially-complex/path/uri-parameter-one={one}/{two}"


INTEGERS, UNIQUE, PAIR = "arrayOfIntExample", "arrayOfUniqueIntExample", "arrayOfTwonumbersExample"
FLOATS, NUMBERS, TEXTS = "arrayOfFloatExample", "arrayOfNumberNoDefaultsExample", "arrayOfStringExample"
OBJECTS = "arrayOfObjectType"

ALL_FIELDS: dict[str, Any] = {
    INTEGERS: [3, 1, 3],
    UNIQUE: [2, 1],
    PAIR: [0.5, 7],
    FLOATS: [0.25, 1.5],
    NUMBERS: [1, 2.5],
    TEXTS: ["b", "a", "b"],
    OBJECTS: [{"integerExample": 1, "integerExampleInt32": 2}, {}],
}
"""A value of each field of an ObjectType."""

ANY = {"objectTypeProperty": {}}
"""The shortest body of a write on the collection."""

UNKNOWN_ID = "6f9619ff-8b86-4011-b42d-00c04fc964ff"
"""A UUID of version 4, which no server is likely to have made."""
