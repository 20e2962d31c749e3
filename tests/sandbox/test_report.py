"""The report: its three forms, what it counts, and the command."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from app.sandbox.analysis.notations import NOTATIONS
from tests.support.sandbox import Answer, Project, Service
from tests.support.steady_client import steady_client


def reported(project: Project) -> dict[str, Any]:
    answer = project.order("GET", "/report")
    assert answer.status == 200, answer.text
    return answer.json


def counts(report: dict[str, Any], part: str, name: str) -> dict[str, int]:
    return {each[name]: each["count"] for each in report[part]}


def test_operations_and_statuses_are_counted(throwaway: Project) -> None:
    throwaway.create(key="one")
    throwaway.send("GET", "?limit=0")
    throwaway.send("GET", "/key=nobody")
    throwaway.service.send("GET", f"/{throwaway.key}/nothing", headers={"Authorization": f"Bearer {throwaway.token}"})
    report = reported(throwaway)
    assert report["projectKey"] == throwaway.key
    assert report["requests"] == {"total": 4, "kept": 4, "underWay": 0}
    assert counts(report, "operations", "operationId") == {
        "createOrUpdateResource": 1,
        "getResourceByKey": 1,
        "listResources": 1,
        "none": 1,
    }
    assert counts(report, "statuses", "status") == {"200": 1, "201": 1, "404": 2}


@pytest.mark.parametrize(
    ("notation", "method", "path", "headers"),
    [
        ("equalSign", "GET", "/key=one", {}),
        ("encodedSlash", "GET", "/a%2Fb", {}),
        ("variables", "GET", "/sorted-query-parameters?where=key%3D%3Ak&var.k=one", {}),
        ("texts", "GET", "/searchApiPattern?text.en-GB=one", {}),
        ("repetition", "GET", "?arrayOfString=a&arrayOfString=b", {}),
        ("prefer", "GET", "", {"Prefer": "code=404"}),
        ("ifMatch", "GET", "/a", {"If-None-Match": '"1"'}),
    ],
)
def test_notations_are_met(throwaway: Project, notation: str, method: str, path: str, headers: dict[str, str]) -> None:
    throwaway.send(method, path, headers=headers)
    met = [each["id"] for each in reported(throwaway)["notations"] if each["count"]]
    assert met == [notation]


def test_a_form_is_met(throwaway: Project) -> None:
    with steady_client(throwaway) as client:
        client.grant()  # a form too, but none of the interface
        client.form("/product-projection-search", "staged=false")
    assert [each["id"] for each in reported(throwaway)["notations"] if each["count"]] == ["form"]
    assert {each["id"] for each in reported(throwaway)["notations"]} == {notation.id for notation in NOTATIONS}


def test_findings_are_gathered(throwaway: Project) -> None:
    for _ in range(2):
        throwaway.send("GET", "/sorted-query-parameters?withTotal=True")
    (finding,) = reported(throwaway)["findings"]
    assert (finding["id"], finding["count"], finding["requests"]) == ("booleanInOtherCase", 2, [1, 2])
    assert finding["detail"] == "withTotal=True"


def test_it_survives_a_reset_that_keeps_the_requests(throwaway: Project) -> None:
    throwaway.send("GET", "?limit=0")
    before = reported(throwaway)
    assert throwaway.order("POST", "/reset", {"keep": ["requests"]}).status == 204
    assert reported(throwaway) == before
    assert throwaway.order("POST", "/reset").status == 204
    assert reported(throwaway)["requests"] == {"total": 0, "kept": 0, "underWay": 0}


def test_of_many_requests_the_last_are_kept(throwaway: Project) -> None:
    with steady_client(throwaway) as client:
        for _ in range(1003):
            client.send("HEAD")
    assert reported(throwaway)["requests"] == {"total": 1003, "kept": 1000, "underWay": 0}
    assert "From the last 1000 of 1003 requests" in page(throwaway).text


# The page


def page(project: Project) -> Answer:
    return project.order("GET", "/report", headers={"Accept": "text/html,*/*;q=0.8"})


class Elements(HTMLParser):
    """The names of all elements, and all attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}


def test_the_page_stands_alone(throwaway: Project) -> None:
    throwaway.send("GET", "/sorted-query-parameters?withTotal=True")
    answer = page(throwaway)
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    elements = Elements(answer.text)
    assert not {"script", "link", "img", "iframe"} & set(elements.names)
    assert not {"src", "style", "onclick"} & elements.attributes
    assert "A boolean spelt as in Python" in answer.text


def test_the_page_has_contents_links_to_clauses_and_folds_them(throwaway: Project) -> None:
    throwaway.send("GET", "/sorted-query-parameters?withTotal=True")
    text = page(throwaway).text
    anchors = set(re.findall(r' id="([^"]*)"', text))
    inside = set(re.findall(r'href="#([^"]*)"', text))
    assert {"findings", "recovery", "specification", "notations", "operations", "statuses", "4-7"} <= inside <= anchors
    clauses = {each["number"] for each in reported(throwaway)["specification"]["clauses"]}
    assert clauses <= anchors
    specification = f"http://127.0.0.1:{throwaway.service.port}/docs/specification"
    assert set(re.findall(rf'href="{specification}#([^"]*)"', text)) == clauses
    visible = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert not re.search(r'<li id="', visible)


def test_the_page_escapes_what_clients_have_sent(throwaway: Project) -> None:
    throwaway.send("GET", "?arrayOfString=<script>")
    assert "&#34;&lt;&#34; has to be percent-encoded" in page(throwaway).text.replace("&quot;", "&#34;")
    assert "<script" not in page(throwaway).text


def test_of_another_project_it_is_404(sandbox: Service) -> None:
    assert sandbox.send("GET", "/sandbox/projects/nobody/report").status == 404
