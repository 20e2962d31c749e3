"""Hints for names of parameters that an endpoint does not have: each names one that can be sent, and that helps."""

import pytest

from tests.support.api import Api

LIST, SORTED, SEARCH = "", "/sorted-query-parameters", "/searchApiPattern"


@pytest.mark.parametrize(
    ("path", "name", "hint"),
    [
        (
            LIST,
            "objectParameter[arrayOfIntExample]",
            " 'objectParameter' is one JSON object, such as objectParameter={}.",
        ),
        (
            LIST,
            "objectParameter[arrayOfIntExample][0]",
            " 'objectParameter' is one JSON object, such as objectParameter={}.",
        ),
        (LIST, "arrayOfString[]", " 'arrayOfString' is repeated for several values."),
        (LIST, "integerParameter[0]", " Did you mean 'integerParameter'?"),
        (LIST, "integerParametre", " Did you mean 'integerParameter'?"),
        (SORTED, "var.ids[0]", " Did you mean 'var.ids'? It is repeated for several values."),
        (SORTED, "var[ids][0]", " Did you mean 'var.ids'? It is repeated for several values."),
        (SORTED, "var[x][0]", " Did you mean 'var.x'? It is repeated for several values."),
        (SORTED, "var[ids]", " Did you mean 'var.ids'? It is repeated for several values."),
        (SORTED, "varids", " Did you mean 'var.ids'?"),
        (SORTED, "var_ids", " Did you mean 'var.ids'?"),
        (SORTED, "var.", ""),
        (SORTED, "where[]", " 'where' is repeated for several values."),
        (SEARCH, "filter[x]", " 'filter' is repeated for several values."),
        (SEARCH, "text[en]", " Did you mean 'text.en'? It is repeated for several values."),
        (SEARCH, "text.EN", " Did you mean 'text.en'?"),
        (SEARCH, "text.english", " Did you mean 'text.en'?"),
        (SORTED, "var.a-b", " Did you mean 'var.ab'?"),
        (SEARCH, "text.en_US", " Did you mean 'text.en-US'?"),
        (SORTED, "vars.ids", " Did you mean 'var.ids'?"),
        (SEARCH, "texten-us", " Did you mean 'text.en-US'?"),
        (SEARCH, "text.en-us", " Did you mean 'text.en-US'?"),
        (SEARCH, "nothing", ""),
        (SEARCH, "next[cursor]", ""),
        (SORTED, "page", ""),
        (SORTED, "filter", ""),
        (LIST, "fields", ""),
        (LIST, "", ""),
    ],
)
def test_a_hint_names_what_can_be_sent(api: Api, path: str, name: str, hint: str) -> None:
    answer = api.get(path, query_string={name: "1"})
    assert answer.status_code == 400
    assert answer.get_json()["message"] == f"Malformed parameter: {name}: Unknown parameter.{hint}"
