"""What can be expected of an answer holds, or fails with what was expected."""

import re
from collections.abc import Callable

import pytest
from sample_resource_testkit.answers import Answer, same
from sample_resource_testkit.exchanges import Exchange
from sample_resource_testkit.outcomes import Failed
from sample_resource_testkit.wire import Origin, RawAnswer, Request

ERROR = '{"statusCode": 409, "message": "m", "errors": [{"code": "C", "message": "m", "currentVersion": 2}]}'


def answer(
    body: str | bytes = "", status: int = 200, headers: tuple[tuple[str, str], ...] = (), extra: bytes = b""
) -> Answer:
    data = body.encode() if isinstance(body, str) else body
    raw = RawAnswer(status, "OK", "1.1", headers, data, extra)
    return Answer(Exchange(Origin.of("http://a"), Request("GET", "/"), raw), raw, lambda: None)


PAGE = answer(
    '{"results": [{"key": "a", "version": 1}], "total": null}', headers=(("ETag", '"1"'), ("Vary", "a"), ("vary", "b"))
)

HOLDS: list[Callable[[], Answer]] = [
    lambda: PAGE.expect_status(201, 200).expect_success(),
    lambda: PAGE.expect_json("results", 0, "key", "a").expect_json("results", -1, "version", 1.0),
    lambda: PAGE.expect_json({"results": [{"version": 1, "key": "a"}], "total": None}),
    lambda: PAGE.expect_absent("results", 1).expect_absent("other").expect_absent("total", "x"),
    lambda: PAGE.expect_subset({"key": "a"}, "results", 0),
    lambda: PAGE.expect_header("etag").expect_header("ETag", '"1"').expect_header("Vary", "a, b"),
    lambda: PAGE.expect_header("ETag", re.compile('"[0-9]+"')).expect_no_header("Location"),
    lambda: answer().expect_empty(),
    lambda: answer(ERROR, 409).expect_error(409).expect_error(409, "C", currentVersion=2),
    lambda: PAGE.expect(True, "anything"),
]

FAILS: list[tuple[Callable[[], object], str, str]] = [
    (lambda: PAGE.expect_status(201, 404), "status 201 or 404", "status 200"),
    (lambda: answer(status=302).expect_success(), "a status of success (2xx)", "status 302"),
    (lambda: PAGE.expect_json("results", 0, "key", "b"), 'results[0].key to be "b"', 'results[0].key is "a"'),
    (
        lambda: PAGE.expect_json("results", 0, "version", True),
        "results[0].version to be true",
        "results[0].version is 1",
    ),
    (lambda: PAGE.expect_json("results", 5, 1), "results[5] to be 1", "there is none"),
    (lambda: PAGE.expect_json("results", "key", 1), "results.key to be 1", "there is none"),
    (lambda: PAGE.expect_absent("total"), "no total", "total is null"),
    (
        lambda: PAGE.expect_subset({"key": "b"}, "results", 0),
        'results[0] to contain {"key": "b"}',
        '{"key": "a", "version": 1}',
    ),
    (lambda: PAGE.expect_header("Location"), "the header Location", "no header Location"),
    (lambda: PAGE.expect_header("ETag", '"2"'), 'the header ETag: "2"', 'ETag: "1"'),
    (lambda: PAGE.expect_header("ETag", re.compile("1")), "the header ETag that matches 1", 'ETag: "1"'),
    (lambda: PAGE.expect_no_header("ETag"), "no header ETag", 'ETag: "1"'),
    (lambda: answer("x").expect_empty(), "no body", "x"),
    (lambda: answer(extra=b"y").expect_empty(), "no body", "y"),
    (lambda: PAGE.expect(False, "order", [1]), "order", "[1]"),
    (lambda: PAGE.at("nothing", 0), "a body with nothing[0]", PAGE.text),
    (lambda: answer("").json, "a JSON body", "an empty one (Expecting value: line 1 column 1 (char 0))"),
    (lambda: answer("NaN").json, "a JSON body", "NaN (NaN is no JSON)"),
    (lambda: answer(b"\xff").json, "a body in UTF-8", "b'\\xff'"),
]


@pytest.mark.parametrize("expectation", HOLDS)
def test_what_holds_returns_the_answer(expectation: Callable[[], Answer]) -> None:
    assert isinstance(expectation(), Answer)


@pytest.mark.parametrize(("expectation", "expected", "got"), FAILS)
def test_what_does_not_hold_is_told(expectation: Callable[[], object], expected: str, got: str) -> None:
    with pytest.raises(Failed) as failed:
        expectation()
    assert (failed.value.expected, failed.value.got) == (expected, got)
    assert failed.value.exchange is not None


@pytest.mark.parametrize(
    "body",
    [
        "[]",
        '"text"',
        ERROR.replace('"statusCode": 409', '"statusCode": 400'),
        ERROR.replace('"statusCode": 409, ', ""),
        ERROR.replace('"message": "m", "errors"', '"errors"'),
        ERROR.replace('"code": "C"', '"code": "D"'),
        ERROR.replace("2}", '"2"}'),
        ERROR.replace('"C", "message": "m"', '"C"'),
        '{"statusCode": 409, "message": "m", "errors": []}',
        '{"statusCode": 409, "message": "m", "errors": {"code": "C"}}',
        '{"statusCode": 409, "message": "m", "errors": ["C"]}',
    ],
)
def test_another_error_body_is_told(body: str) -> None:
    with pytest.raises(Failed, match="an error body with statusCode 409"):
        answer(body, 409).expect_error(409, "C", currentVersion=2)


def test_each_expectation_counts() -> None:
    counted: list[int] = []
    raw = RawAnswer(409, "X", "1.1", (), ERROR.encode())
    told = Answer(Exchange(Origin.of("http://a"), Request("GET", "/"), raw), raw, lambda: counted.append(1))
    told.expect_error(409, "C").expect_json("statusCode", 409)
    assert len(counted) == 3


@pytest.mark.parametrize(
    ("found", "wanted", "expected"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (0, False, False),
        ([1, {"a": [True]}], [1.0, {"a": [True]}], True),
        ([1], [1, 1], False),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ("1", 1, False),
        (None, None, True),
    ],
)
def test_values_are_the_same_as_json_has_them(found: object, wanted: object, expected: bool) -> None:
    assert same(found, wanted) is expected
