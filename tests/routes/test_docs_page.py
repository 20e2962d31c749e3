"""The documentation page loads only files that the service serves. ``make contract`` tests the page in a browser."""

import re

from tests.support.api import Api


def test_all_files_of_the_docs_page_are_served(api: Api) -> None:
    page = api.get("//docs")
    assert page.content_type == "text/html; charset=utf-8"
    loaded = set(re.findall(r'(?:src|href)="([^"]*)"', page.text))
    assert {"/openapi.json", "/docs/page.js", "/docs/page.css", "/docs/swagger-ui-bundle.js"} < loaded
    for path in loaded:
        assert path.startswith("/")
        with api.get("/" + path) as answer:
            assert answer.status_code == 200, path


def test_the_content_security_policy_of_the_docs_page_allows_only_own_scripts(api: Api) -> None:
    page = api.get("//docs")
    assert "script-src 'self';" in page.headers["Content-Security-Policy"]
    assert "<script>" not in page.text
    assert not re.search(r"\son\w+=", page.text)


def test_other_files_of_swagger_ui_are_404(api: Api) -> None:
    assert api.get("//docs/oauth2-redirect.html").status_code == 404
    assert api.get("//docs/index.html").status_code == 404


def test_the_docs_page_below_a_path_prefix_uses_that_prefix(api: Api) -> None:
    page = api.get("//docs", base_url="http://localhost/pre&fix/")
    assert 'data-root="/pre&amp;fix"' in page.text
    assert 'src="/pre&amp;fix/docs/page.js"' in page.text
