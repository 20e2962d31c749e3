"""Requests: the content of JSON bodies."""

from typing import Any

from sample_resource_testkit.client.operations import ANY_VALUE, Call
from sample_resource_testkit.client.registry import scenario
from sample_resource_testkit.client.scenarios.requests_values import BIG, LEAST, MOST, QUOTES, UNICODE
from sample_resource_testkit.client.scenarios.sending import (
    KEY,
    creating,
    drawn,
    drawn_number,
    drawn_text,
    recording,
    sends,
    updating,
)
from sample_resource_testkit.client.stage import Stage

OBJECT_TYPE: dict[str, Any] = {
    "arrayOfIntExample": [1, 2, 1],
    "arrayOfUniqueIntExample": [3, 1],
    "arrayOfTwonumbersExample": [1.5, 2],
    "arrayOfFloatExample": [0.25, -0.5],
    "arrayOfNumberNoDefaultsExample": [7, 7.5],
    "arrayOfStringExample": ["dog", "cat"],
    "arrayOfObjectType": [{"integerExample": 1, "integerExampleInt32": 2}],
}
"""An ObjectType with all fields."""

PERSON = {"firstName": "Jo", "lastName": "Doe"}

RECORD: dict[str, Any] = {
    **{name: f"{name} as text" for name in ANY_VALUE},
    "createdAt": "2015-02-28T16:41:41.090Z",
    "lastModifiedAt": "2016-02-28T16:41:41.999Z",
    "createdBy": PERSON,
    "lastModifiedBy": {"firstName": "Ann", "lastName": "O'Neil"},
}
"""The record of 4.9 and 4.13 with all of its fields."""

CHANGE = {"action": "changeSomeProperty", "someProperty": "x"}


def writing(operation: str, body: Any) -> Call:
    return Call(operation, {}, body)


sends("C-req-62", *(creating({name: value}) for name, value in OBJECT_TYPE.items()))
sends(
    "C-req-63",
    creating(OBJECT_TYPE, id="a", key=KEY, version=3),
    writing("createOrOverwriteResource", {"id": "a", "key": KEY, "version": 3, "objectTypeProperty": OBJECT_TYPE}),
    writing("overwriteResource", {"id": "a", "key": KEY, "version": 3, "objectTypeProperty": OBJECT_TYPE}),
)
sends(
    "C-req-67",
    creating({"arrayOfIntExample": [BIG]}),
    creating({"arrayOfIntExample": [LEAST, MOST], "arrayOfNumberNoDefaultsExample": [MOST]}),
    creating({"arrayOfObjectType": [{"integerExample": LEAST}]}),
)
sends(
    "C-req-69",
    creating({"arrayOfFloatExample": [0.1, 0.30000000000000004, 1e-7], "arrayOfTwonumbersExample": [123456.789, -2.5]}),
    creating({"arrayOfIntExample": [0, -1, 2**31, -(2**53) + 1], "arrayOfFloatExample": [0, -0.5]}),
    creating({"arrayOfObjectType": [{"integerExample": 0, "integerExampleInt32": -2147483648}]}),
    creating({"arrayOfFloatExample": [1e21, 5e-324, 1.7976931348623157e308]}),
)
sends(
    "C-req-71",
    creating({"arrayOfStringExample": [UNICODE, QUOTES, "a\tb\nc\r\u0001\u007f\u2028", "\\u0041 \\n", "</script>"]}),
)
sends(
    "C-req-72", creating({"arrayOfStringExample": [""]}), updating({"action": "changeSomeProperty", "someProperty": ""})
)
sends(
    "C-req-73",
    creating({"arrayOfIntExample": [], "arrayOfStringExample": [], "arrayOfObjectType": []}),
    creating({"arrayOfIntExample": [3, 1, 2, 3, 3], "arrayOfStringExample": ["b", "a", "b"]}),
)


@scenario("C-req-74")
def sends_no_null(stage: Stage) -> None:
    stage.share()
    stage.each((creating({}), recording({})), lambda done: done.expect_request().expect_no_null())


sends("C-req-76", creating({"arrayOfObjectType": [{"integerExample": 1}, {"integerExampleInt32": 2}, {}]}))
sends(
    "C-req-77",
    *(recording({name: value}) for name, value in RECORD.items()),
    recording({"createdBy": {"firstName": "Jo"}, "lastModifiedBy": {"lastName": ""}}),
    recording({"createdBy": {}}),
    recording(RECORD),
    Call("postDescriptionWithLinks", {}, RECORD),
)
sends(
    "C-req-78",
    recording({"custom": {"a": [1, {"b": True}]}, "id": 7, "key": False, "version": 1.5, "ninthProperty": ["x", 0]}),
)
sends("C-req-80", recording({"createdAt": "2015-02-28T16:41:41.001Z", "lastModifiedAt": "2016-12-31T23:59:59.999Z"}))
sends(
    "C-req-82",
    updating({"action": "doSomeThing"}, CHANGE, {"action": "publish"}, {"action": "revertStagedChanges"}, CHANGE),
    updating(),
    updating(*({**CHANGE, "someProperty": str(count)} for count in range(100))),
)
sends("C-req-83", updating({**CHANGE, "staged": True}), updating({**CHANGE, "staged": False}), updating(CHANGE))
sends(
    "C-req-85", updating({"action": "doSomeThing"}, version=7), updating({"action": "doSomeThing"}, version=2**31 + 1)
)
drawn(
    "C-req-88",
    lambda stage: [
        creating(
            {
                "arrayOfFloatExample": [drawn_number(stage) for _ in range(50)],
                "arrayOfStringExample": [drawn_text(stage) for _ in range(20)],
            }
        ),
        creating({"arrayOfStringExample": ["abcdefg " * 2000], "arrayOfIntExample": list(range(3000))}),
    ],
)
