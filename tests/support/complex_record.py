"""The record that tests of the two echo endpoints send: all options (interface 4.9) and description (4.13)."""

from typing import Any

RECORD: dict[str, Any] = {
    "eigthProperty": "the 8th",
    "createdBy": {"firstName": "John", "lastName": "Doe"},
    "ninthProperty": "the 9th",
    "key": "the 3rd",
    "tenthProperty": "the 10th",
    "custom": "the 4th",
    "eleventhPropery": "the 11th",
    "id": "the 1st",
    "twelthProperty": "the 12th",
    "lastModifiedBy": {"lastName": "Roe", "firstName": "Jane"},
    "thirteenthProperty": "the 13th",
    "lastModifiedAt": "2016-02-28T16:41:41.090Z",
    "fourteenthProperty": "the 14th",
    "fifteenthProperty": "the 15th",
    "createdAt": "2015-02-28T16:41:41.090Z",
    "version": "the 2nd",
}
"""A ComplexRecord with every field, in another order than the interface has them."""

TEXTS = [
    "the 1st",
    "the 2nd",
    "the 3rd",
    "the 4th",
    *(f"the {number}th" for number in range(8, 16)),
    "John",
    "Doe",
    "Jane",
    "Roe",
]
"""The texts of :data:`RECORD` in the order of the interface."""
