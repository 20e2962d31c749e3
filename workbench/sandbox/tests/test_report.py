"""The report: its three forms, what it counts, and the command."""

import re
from html.parser import HTMLParser
from typing import Any

from steady_client import steady_client
from tester import Answer, Project


def reported(project: Project) -> dict[str, Any]:
    answer = project.order("GET", "/report")
    assert answer.status == 200, answer.text
    return answer.json


def met(project: Project, kind: str) -> dict[str, int]:
    return {each["name"]: each["times"] for each in reported(project)["exercised"][kind]["met"]}


def test_what_was_exercised_is_counted(throwaway: Project) -> None:
    throwaway.create(key="one")
    throwaway.send("GET", "?limit=0&var.a=1")
    throwaway.send("GET", "/key=nobody", headers={"If-Match": '"1"'})
    throwaway.service.send("GET", f"/{throwaway.key}/nothing", headers={"Authorization": f"Bearer {throwaway.token}"})
    report = reported(throwaway)
    assert report["projectKey"] == throwaway.key
    assert report["requests"] == {"total": 4}
    assert met(throwaway, "operations") == {"createOrUpdateResource": 1, "getResourceByKey": 1, "listResources": 1}
    assert met(throwaway, "statuses") == {"200": 1, "201": 1, "404": 2}
    assert met(throwaway, "errors") == {"ResourceNotFound": 2}
    assert met(throwaway, "parameters") == {
        "listResources.limit": 1, "listResources.var.<name>": 1, "getResourceByKey.If-Match": 1,
    }  # fmt: skip
    assert "deleteResourceById" in report["exercised"]["operations"]["notMet"]
    for each in report["exercised"].values():
        assert each["percent"] == len(each["met"]) * 100 // (len(each["met"]) + len(each["notMet"]))
    known = sum(len(each["met"]) + len(each["notMet"]) for each in report["exercised"].values())
    assert report["percent"] == sum(len(each["met"]) for each in report["exercised"].values()) * 100 // known


def test_what_was_not_carried_out_exercises_no_operation(throwaway: Project) -> None:
    """A bad token, a refusal and an answer on order; what was found not to be there, or lost after the commit, does."""
    for headers in ({"Authorization": "Bearer nonsense"}, {"Prefer": "code=404"}):
        throwaway.send("GET", "/sorted-query-parameters?limit=1", headers=headers)
    throwaway.send("GET", "/searchApiPattern?limit=-1")
    assert (met(throwaway, "operations"), met(throwaway, "parameters")) == ({}, {})
    assert (met(throwaway, "statuses"), met(throwaway, "errors")) == (
        {"400": 1, "401": 1},
        {"InvalidInput": 1, "invalid_token": 1},
    )
    throwaway.send("GET", "/key=one")
    throwaway.rules({"phase": "after", "connection": "close"})
    with steady_client(throwaway) as client:
        client.send("POST", "", {"objectTypeProperty": {}})
    assert set(met(throwaway, "operations")) == {"getResourceByKey", "createOrUpdateResource"}
    assert set(met(throwaway, "statuses")) == {"400", "401", "404"}


def test_faults_are_met_when_the_client_has_recovered(throwaway: Project) -> None:
    throwaway.rules({"times": {"first": 1}, "status": 503}, {"times": {"first": 1}, "status": 429})
    with steady_client(throwaway) as client:
        assert [client.send("GET", "?limit=0").status for _ in range(2)] == [503, 429]
        # What is only delayed on order is the service's own answer.
        assert client.send("GET", "?limit=0", None, Prefer="delay=1").status == 200
    assert met(throwaway, "recoveries") == {"recovered:429": 1, "recovered:503": 1}


def test_what_counts_may_be_named_with_commas_or_in_further_parameters(throwaway: Project) -> None:
    throwaway.send("GET", "?limit=0")
    for of in ("of=listResources,listResources.limit", "of=listResources&of=%20listResources.limit"):
        gate = throwaway.order("GET", f"/report?min=100&{of}").json["gate"]
        assert gate == {"passed": True, "told": ""}
    assert throwaway.order("GET", "/report?min=1&of=listResources,serch").status == 400


def test_it_survives_a_reset_that_keeps_the_requests(throwaway: Project) -> None:
    throwaway.send("GET", "?limit=0")
    before = reported(throwaway)
    assert throwaway.order("POST", "/reset", {"keep": ["requests"]}).status == 204
    assert reported(throwaway) == before
    assert throwaway.order("POST", "/reset").status == 204
    assert reported(throwaway)["requests"] == {"total": 0}


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


def test_the_page_has_contents_links_to_clauses_and_folds_what_was_not_met(throwaway: Project) -> None:
    throwaway.send("GET", "/sorted-query-parameters?withTotal=True")
    text = page(throwaway).text
    anchors = set(re.findall(r' id="([^"]*)"', text))
    inside = set(re.findall(r'href="#([^"]*)"', text))
    assert {"findings", "recovery", "exercised"} <= inside <= anchors
    specification = f"http://127.0.0.1:{throwaway.service.port}/docs/specification"
    assert set(re.findall(rf'href="{specification}#([^"]*)"', text)) == {"4-7", "4-8"}
    visible = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert "deleteResourceById" in text
    assert "deleteResourceById" not in visible


def test_the_page_escapes_what_clients_have_sent(throwaway: Project) -> None:
    throwaway.send("GET", "?arrayOfString=<script>")
    assert "&#34;&lt;&#34; has to be percent-encoded" in page(throwaway).text.replace("&quot;", "&#34;")
    assert "<script" not in page(throwaway).text
