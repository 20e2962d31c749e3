"""Requests: what stands in bodies of JSON."""

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
"""Each field of an ObjectType."""

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


sends(
    "C-req-62",
    "each field of an ObjectType is sent alone",
    "2.3-1 2.3-2",
    *(creating({name: value}) for name, value in OBJECT_TYPE.items()),
)
sends(
    "C-req-63",
    "POST sends all fields of its body",
    "4.6-8 2.3-1",
    creating(OBJECT_TYPE, id="a", key=KEY, version=3),
)
sends(
    "C-req-64",
    "PUT sends all fields of its body",
    "4.8-3 2.3-1",
    writing("createOrOverwriteResource", {"id": "a", "key": KEY, "version": 3, "objectTypeProperty": OBJECT_TYPE}),
)
sends(
    "C-req-65",
    "PATCH sends all fields of its body",
    "4.7-3 2.3-1",
    writing("overwriteResource", {"id": "a", "key": KEY, "version": 3, "objectTypeProperty": OBJECT_TYPE}),
)
sends(
    "C-req-66",
    "0 and negative numbers are sent in bodies, and not left out",
    "2.3-1",
    creating({"arrayOfIntExample": [0, -1, 2**31, -(2**53) + 1], "arrayOfFloatExample": [0, -0.5]}),
    creating({"arrayOfObjectType": [{"integerExample": 0, "integerExampleInt32": -2147483648}]}),
)
sends("C-req-67", "2^53 + 1 is exact in a body", "2.3-5", creating({"arrayOfIntExample": [BIG]}))
sends(
    "C-req-68",
    "the ends of int64 are exact in a body",
    "2.3-5",
    creating({"arrayOfIntExample": [LEAST, MOST], "arrayOfNumberNoDefaultsExample": [MOST]}),
    creating({"arrayOfObjectType": [{"integerExample": LEAST}]}),
)
sends(
    "C-req-69",
    "fractions keep all of their digits in bodies",
    "2.3-6",
    creating({"arrayOfFloatExample": [0.1, 0.30000000000000004, 1e-7], "arrayOfTwonumbersExample": [123456.789, -2.5]}),
)
sends(
    "C-req-70",
    "very large and very small numbers keep their value in bodies",
    "2.3-6 2.3-11",
    creating({"arrayOfFloatExample": [1e21, 5e-324, 1.7976931348623157e308]}),
)
sends(
    "C-req-71",
    "texts arrive in bodies as they are: quotes, controls, Unicode beyond the BMP",
    "2.3-16",
    creating({"arrayOfStringExample": [UNICODE, QUOTES, "a\tb\nc\r\u0001\u007f\u2028", "\\u0041 \\n", "</script>"]}),
)
sends(
    "C-req-72",
    "the empty text is sent in bodies",
    "2.3-16 2.6-7",
    creating({"arrayOfStringExample": [""]}),
    updating({"action": "changeSomeProperty", "someProperty": ""}),
)
sends(
    "C-req-73",
    "an empty array is sent, and not left out",
    "2.3-4",
    creating({"arrayOfIntExample": [], "arrayOfStringExample": [], "arrayOfObjectType": []}),
)


@scenario("C-req-74", "a field that the call does not have is absent, and not null", "2.3-4 4-17 4-18", level="should")
def sends_no_null(stage: Stage) -> None:
    stage.share()
    stage.each((creating({}), recording({})), lambda done: done.expect_request().expect_no_null())


sends(
    "C-req-75",
    "the order of an array and its duplicates are sent",
    "2.3-3",
    creating({"arrayOfIntExample": [3, 1, 2, 3, 3], "arrayOfStringExample": ["b", "a", "b"]}),
)
sends(
    "C-req-76",
    "objects in an array are sent with the members that they have",
    "2.3-18 2.3-20",
    creating({"arrayOfObjectType": [{"integerExample": 1}, {"integerExampleInt32": 2}, {}]}),
)
sends(
    "C-req-77",
    "each field of the record is sent alone",
    "2.4-1 2.4-4",
    *(recording({name: value}) for name, value in RECORD.items()),
)
sends(
    "C-req-78",
    "a field of the record takes any JSON value",
    "2.4-3",
    recording({"custom": {"a": [1, {"b": True}]}, "id": 7, "key": False, "version": 1.5, "ninthProperty": ["x", 0]}),
)
sends(
    "C-req-79",
    "persons are sent with the members that they have",
    "2.4-4",
    recording({"createdBy": {"firstName": "Jo"}, "lastModifiedBy": {"lastName": ""}}),
    recording({"createdBy": {}}),
)
sends(
    "C-req-80",
    "times are sent to the millisecond",
    "2.4-2",
    recording({"createdAt": "2015-02-28T16:41:41.001Z", "lastModifiedAt": "2016-12-31T23:59:59.999Z"}),
)
sends(
    "C-req-81",
    "4.9 and 4.13 send the whole record",
    "2.4-1 4.13-1",
    recording(RECORD),
    Call("postDescriptionWithLinks", {}, RECORD),
)
sends(
    "C-req-82",
    "update actions are sent in their order, each with its discriminator",
    "4.10-1 2.6-1",
    updating({"action": "doSomeThing"}, CHANGE, {"action": "publish"}, {"action": "revertStagedChanges"}, CHANGE),
)
sends(
    "C-req-83",
    "changeSomeProperty is sent with its text, and with staged as it is given",
    "2.6-3 3-8",
    updating({**CHANGE, "staged": True}),
    updating({**CHANGE, "staged": False}),
    updating(CHANGE),
)
sends("C-req-84", "an empty list of actions is sent", "4.10-7", updating())
sends(
    "C-req-85",
    "the version is sent as the number that it is",
    "9-9 9-11",
    updating({"action": "doSomeThing"}, version=7),
    updating({"action": "doSomeThing"}, version=2**31 + 1),
)
sends(
    "C-req-86",
    "a hundred actions are sent in one request",
    "4.10-10",
    updating(*({**CHANGE, "someProperty": str(count)} for count in range(100))),
)
sends(
    "C-req-87",
    "long texts and arrays are not cut off in a body",
    "2.3-19",
    creating({"arrayOfStringExample": ["abcdefg " * 2000], "arrayOfIntExample": list(range(3000))}),
)
drawn(
    "C-req-88",
    "drawn numbers and texts arrive in a body as they are",
    "2.3-6 2.3-16",
    lambda stage: [
        creating(
            {
                "arrayOfFloatExample": [drawn_number(stage) for _ in range(50)],
                "arrayOfStringExample": [drawn_text(stage) for _ in range(20)],
            }
        )
    ],
)
