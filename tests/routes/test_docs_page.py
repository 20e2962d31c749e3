"""The documentation pages load only files that the service serves. ``-mcontract`` tests ``/docs`` in a browser."""

import re

import pytest

from app.config import Settings
from tests.support.api import Api

PAGES = ["//", "//docs", "//docs/specification"]

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize("path", PAGES)
def test_all_that_a_page_loads_and_links_to_is_served(api: Api, path: str) -> None:
    page = api.get(path, headers=BROWSER)
    assert page.content_type == "text/html; charset=utf-8"
    assert '<header class="site">' in page.text
    assert "{" not in re.sub(r"<code.*?</code>", "", page.text, flags=re.DOTALL), "a place that nothing was put into"
    loaded = {link.partition("#")[0] for link in re.findall(r'(?:src|href)="([^"]*)"', page.text)} - {""}
    assert {"/", "/docs", "/docs/specification", "/docs/site.css"} <= loaded
    for link in loaded:
        assert link.startswith("/")
        with api.get("/" + link, headers=BROWSER, follow_redirects=True) as answer:
            assert answer.status_code == 200, link
            assert answer.headers.get("Cache-Control", "no-cache") == "no-cache"


def test_the_text_for_language_models_links_to_what_is_served(api: Api, settings: Settings) -> None:
    answer = api.get("//llms.txt")
    assert (answer.status_code, answer.mimetype) == (200, "text/plain")
    assert answer.text.startswith("# sample-resource\n\n> ")
    links = re.findall(rf"\]\({re.escape(settings.base_url)}(/[^)]+)\)", answer.text)
    assert links == re.findall(r"\]\([^)/]*//[^)/]*(/[^)]+)\)", answer.text) != []
    for link in links:
        with api.get(f"/{link}") as served:
            assert served.status_code == 200


@pytest.mark.parametrize(
    ("method", "accept", "status"),
    [
        ("GET", "text/html", 200),
        ("GET", "*/*;q=0.8, text/html;q=0.1", 200),
        ("HEAD", "text/html", 200),
        ("GET", None, 404),
        ("GET", "*/*", 404),
        ("GET", "text/*", 404),
        ("GET", "application/json", 404),
        ("GET", "text/html;q=0, */*", 404),
        ("HEAD", "*/*", 404),
        ("POST", "text/html", 404),
        ("OPTIONS", "text/html", 404),
    ],
)
def test_the_root_is_a_page_for_browsers_and_unknown_to_all_others(
    api: Api, method: str, accept: str | None, status: int
) -> None:
    answer = api.request(method, "//", headers={} if accept is None else {"Accept": accept})
    assert (answer.status_code, answer.headers["Vary"]) == (status, "Accept")
    if status == 404 and method != "HEAD":
        assert answer.get_json()["message"] == "URI not found: /"
    if status == 200:
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")


@pytest.mark.parametrize("path", PAGES)
def test_the_policy_of_a_page_allows_only_own_scripts_in_files(api: Api, path: str) -> None:
    page = api.get(path, headers=BROWSER)
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]*src=)|\sstyle=|\son\w+=", page.text)
    assert page.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", PAGES)
def test_all_links_of_a_page_below_a_path_prefix_have_that_prefix(api: Api, path: str) -> None:
    page = api.get(path, headers=BROWSER, base_url="http://localhost/pre&fix/")
    links = re.findall(r'(?:src|href)="(/[^"]*)"', page.text)
    assert links
    assert [link for link in links if not link.startswith("/pre&amp;fix/")] == []
