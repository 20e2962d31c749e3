"""The page: what is served, and to whom. ``make test-slow ARGS=-mcontract`` uses it in a browser."""

import re

from tester import Project, Service, with_sandbox

from app.config import Settings
from tests.support.api import Api
from tests.support.applications import open_app

TOKEN = "a-token-of-the-sandbox"


def test_all_that_the_page_loads_is_served(sandbox: Service) -> None:
    page = sandbox.send("GET", "/sandbox")
    assert page.status == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    links = set(re.findall(r'<a [^>]*href="(/[^"]*)"', page.text))
    assert {"/", "/sandbox", "/docs", "/docs?document=sandbox", "/docs/specification"} == links
    assert all(sandbox.send("GET", link, headers={"Accept": "text/html"}).status == 200 for link in links)
    front = sandbox.send("GET", "/", headers={"Accept": "text/html"}).text
    assert 'href="/sandbox/openapi.json"' in front
    assert "SANDBOX=on" not in front
    paths = set(re.findall(r'(?:src|href)="(/[^"]*)"', page.text)) - links
    assert "/sandbox/page/main.js" in paths
    seen: set[str] = set()
    while paths:
        path = paths.pop()
        seen.add(path)
        answer = sandbox.send("GET", path)
        assert answer.status == 200, path
        assert answer.headers["Cache-Control"] == "no-cache"
        if path.endswith(".js"):
            assert answer.headers["Content-Type"].startswith("text/javascript")
            paths |= {f"/sandbox/page/{name}" for name in re.findall(r'from "\./([a-z.]+)"', answer.text)} - seen
    assert {f"/sandbox/page/{name}.js" for name in ("requests", "rules", "resources")} <= seen


def test_its_policy_allows_nothing_inline_and_nothing_from_elsewhere(sandbox: Service) -> None:
    page = sandbox.send("GET", "/sandbox")
    policy = dict(part.strip().split(" ", 1) for part in page.headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert {policy[name] for name in ("script-src", "style-src", "connect-src", "img-src")} == {"'self'"}
    assert "unsafe" not in str(policy)
    assert "<style" not in page.text
    assert not re.search(r"<script(?![^>]*src=)", page.text)
    assert not re.search(r"\son\w+=|\sstyle=", page.text)


def test_other_files_are_404(sandbox: Service) -> None:
    for name in ("index.html", "page.js", "..%2Fpage.js", "%2Fetc%2Fpasswd", ""):
        assert sandbox.send("GET", f"/sandbox/page/{name}").status == 404


def test_with_a_token_its_files_are_public_and_it_asks_for_the_token(settings: Settings) -> None:
    with open_app(with_sandbox(settings, TOKEN)) as app:
        client = app.test_client()
        page = client.get("/sandbox", headers={"Host": "sandbox.example.com"})
        assert page.status_code == 200
        assert 'data-needs-token="true"' in page.text
        assert TOKEN not in page.text
        with client.get("/sandbox/page/main.js") as answer:
            assert answer.status_code == 200
        assert client.get("/sandbox/projects").status_code == 401


def test_its_reads_of_resources_are_no_requests_of_the_client(throwaway: Project) -> None:
    throwaway.send("POST", "", {"key": "one", "objectTypeProperty": {}})
    throwaway.rules({"status": 503})
    answer = throwaway.order("GET", "/resources?where=key%20%3D%20%22one%22")
    assert [each["key"] for each in answer.json["results"]] == ["one"]
    refused = throwaway.order("GET", "/resources?where=version%20%3E%3E%201")
    assert refused.status == 400
    assert refused.json["message"].endswith("(line 1, column 10):\nversion >> 1\n         ^")
    assert [each["number"] for each in throwaway.entries()] == [1]


def test_while_it_is_off_no_page_links_to_it(api: Api) -> None:
    assert all("/sandbox" not in api.get(path, headers={"Accept": "text/html"}).text for path in ("//", "//docs"))
    assert "SANDBOX=on" in api.get("//", headers={"Accept": "text/html"}).text
