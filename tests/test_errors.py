"""The error catalogue: the status and the body of every error code."""

import pytest

from app import errors
from app.errors import CATALOGUE, ApiError
from app.openapi.examples import ERROR_EXAMPLES


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_error_code_has_its_status_and_body(code: str) -> None:
    error = ERROR_EXAMPLES[code]
    body = error.payload()
    assert error.status == body["statusCode"] == CATALOGUE[code].status
    assert [entry["code"] for entry in body["errors"]] == [code]
    assert body["message"] == body["errors"][0]["message"]
    expects_oauth_fields = code[0].islower()
    assert ("error" in body, "error_description" in body) == (expects_oauth_fields, expects_oauth_fields)
    assert error.body().isascii()


def test_every_error_code_has_an_example() -> None:
    assert list(ERROR_EXAMPLES) == list(CATALOGUE)


def test_error_messages_are_those_of_the_platform() -> None:
    def only(error: ApiError) -> dict[str, object]:
        return error.payload()["errors"][0]

    assert only(errors.concurrent_modification("abc", 1, 2)) == {
        "code": "ConcurrentModification",
        "message": "Object abc has a different version than expected. Expected: 1 - Actual: 2.",
        "currentVersion": 2,
    }
    assert only(errors.ApiError([errors.value_fault("key", "a b", "Keys may not hold blanks.")])) == {
        "code": "InvalidField",
        "message": "The value '\"a b\"' is not valid for field 'key'. Keys may not hold blanks.",
        "field": "key",
        "invalidValue": "a b",
    }
    assert str(only(ERROR_EXAMPLES["InvalidJsonInput"])["message"]).startswith(
        "Request body does not contain valid JSON. objectTypeProperty -> "
    )
    scopes = errors.insufficient_scope("p", ("manage_test", "view_test"), {"view_test:other", "manage_test:other"})
    assert only(scopes)["message"] == (
        "Insufficient scope. One of the following scopes is missing: manage_test, view_test."
    )
    assert scopes.payload()["error_description"] == (
        "The access token needs manage_test:p or view_test:p for the project 'p'."
        " It has: manage_test:other view_test:other."
    )
    assert scopes.headers["WWW-Authenticate"] == (
        'Bearer realm="p", error="insufficient_scope", scope="manage_test:p view_test:p"'
    )


def test_long_invalid_values_are_truncated_in_errors() -> None:
    fault = errors.value_fault("key", "x" * 5000, "Too long.")
    assert len(fault.message) < 400
    assert len(fault.extra["invalidValue"]) == 1000
