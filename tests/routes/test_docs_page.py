"""The documentation pages load only files that the service serves. ``make contract`` tests ``/docs`` in a browser."""

import re

import pytest

from tests.specification.clauses import CLAUSES
from tests.support.api import Api


def test_all_files_of_the_docs_page_are_served(api: Api) -> None:
    page = api.get("//docs")
    assert page.content_type == "text/html; charset=utf-8"
    loaded = set(re.findall(r'(?:src|href)="([^"]*)"', page.text))
    assert {"/openapi.json", "/docs/page.js", "/docs/page.css", "/docs/swagger-ui-bundle.js"} < loaded
    assert "/docs/specification" in loaded
    for path in loaded:
        assert path.startswith("/")
        with api.get("/" + path) as answer:
            assert answer.status_code == 200, path


def test_the_specification_is_a_page_with_an_anchor_for_each_clause(api: Api) -> None:
    page = api.get("//docs/specification")
    assert page.content_type == "text/html; charset=utf-8"
    anchors = re.findall(r' id="([^"]*)"', page.text)
    assert len(anchors) == len(set(anchors))
    assert {clause.clause for clause in CLAUSES} < set(anchors)
    links = set(re.findall(r'(?:src|href)="([^"]*)"', page.text))
    assert {link[1:] for link in links if link.startswith("#")} <= set(anchors)
    for path in links:
        if not path.startswith("#"):
            with api.get("/" + path) as answer:
                assert answer.status_code == 200, path


def test_the_clauses_are_served_as_data(api: Api) -> None:
    with api.get("//docs/specification.json") as answer:
        assert answer.content_type == "application/json"
        assert [clause["clause"] for clause in answer.get_json()] == [clause.clause for clause in CLAUSES]


def test_the_specification_loads_no_script_and_nothing_from_elsewhere(api: Api) -> None:
    page = api.get("//docs/specification")
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'self';")
    assert "script" not in policy
    assert "<script" not in page.text
    assert "style=" not in page.text
    assert page.headers["X-Content-Type-Options"] == "nosniff"


def test_the_content_security_policy_of_the_docs_page_allows_only_own_scripts(api: Api) -> None:
    page = api.get("//docs")
    assert "script-src 'self';" in page.headers["Content-Security-Policy"]
    assert "<script>" not in page.text
    assert not re.search(r"\son\w+=", page.text)


def test_other_files_of_swagger_ui_are_404(api: Api) -> None:
    assert api.get("//docs/oauth2-redirect.html").status_code == 404
    assert api.get("//docs/index.html").status_code == 404


@pytest.mark.parametrize("path", ["//docs", "//docs/specification"])
def test_all_links_of_a_page_below_a_path_prefix_have_that_prefix(api: Api, path: str) -> None:
    page = api.get(path, base_url="http://localhost/pre&fix/")
    links = re.findall(r'(?:src|href)="(/[^"]*)"', page.text)
    assert links
    assert [link for link in links if not link.startswith("/pre&amp;fix/")] == []


def test_the_docs_page_below_a_path_prefix_uses_that_prefix(api: Api) -> None:
    page = api.get("//docs", base_url="http://localhost/pre&fix/")
    assert 'data-root="/pre&amp;fix"' in page.text
    assert 'src="/pre&amp;fix/docs/page.js"' in page.text
