"""Numbers in query strings that are hard to read, and errors about long parameters."""

import pytest

from tests.support.api import Api, codes, details


@pytest.mark.parametrize(
    "text", ["2e1.0", "--1", "%C2%B2", "-Infinity", "nan", "-1e400", "[20]", "%00", f"{5000 * '9'}"]
)
def test_what_is_no_number_of_json_is_400(api: Api, text: str) -> None:
    for name in ("limit", "floatParameter", "integerParameter"):
        answer = api.get(f"?{name}={text}")
        assert codes(answer) == ["InvalidInput"]
        assert details(answer)[0].startswith(f"Malformed parameter: {name}: ")


@pytest.mark.parametrize(
    "exponent", ["1e-400", "1e-99999999999999999999", "0e99999999999999999999", "-0e-99999999999999999999"]
)
def test_number_parameters_accept_exponents_of_any_size(api: Api, exponent: str) -> None:
    api.create({"arrayOfFloatExample": [0]})
    assert api.get(f"?floatParameter={exponent}").get_json()["total"] == 1


@pytest.mark.parametrize(("text", "status"), [(f"{sign}922337203685477580{last}", status) for sign, last, status in (
    ("-", "8", 200), ("-", "9", 400), ("-", "8.5", 400), ("", "7", 200), ("", "7.0", 200), ("", "8", 400),
)])  # fmt: skip
def test_an_integer_parameter_is_exactly_within_int64(api: Api, text: str, status: int) -> None:
    assert api.get(f"?integerParameter={text}").status_code == status


def test_an_error_about_a_long_parameter_is_short(api: Api) -> None:
    for query in (
        f"limit={100_000 * 'x'}",
        f"{100_000 * 'x'}=1",
        f"sort={100_000 * 'x'}",
        f"withTotal={100_000 * 'x'}",
    ):
        assert len(api.get(f"?{query}").data) < 10_000


def test_any_one_character_may_stand_for_the_dot_of_the_pattern(api: Api) -> None:
    """The interface's pattern is ``text.[a-z]{2}(-[A-Z]{2})?``, and a line feed is a character too."""
    assert api.get("/searchApiPattern?text%0Aen=dog").status_code == 200
    assert codes(api.get("/searchApiPattern?texten=dog")) == ["InvalidInput"]
