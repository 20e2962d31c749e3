"""The journal: what an entry has, what it never has, lists and the archive."""

import base64
import json

import pytest
from journals import an_entry
from sample_resource_sandbox.journal.entry import Message
from sample_resource_sandbox.journal.journal import Journal, Shelf
from sample_resource_sandbox.journal.redaction import Secrets
from steady_client import steady_client
from tester import Project, Service

from tests.support.secrecy import Secrecy


def test_an_entry_has_what_was_sent_and_answered(throwaway: Project) -> None:
    body = {"key": "kk", "objectTypeProperty": {"arrayOfStringExample": ["é"]}}
    headers = {"X-Correlation-ID": "my-app/12345", "uSer-aGent": " a  b "}
    answer = throwaway.send("POST", "?staged=false", body, headers)
    (entry,) = throwaway.entries()
    schemas = throwaway.service.send("GET", "/sandbox/openapi.json").json["components"]["schemas"]
    assert list(entry) == list(schemas["Entry"]["properties"]), "in the order of the document"
    assert entry["number"] == 1
    assert entry["clientId"] == throwaway.made["clientId"]
    assert entry["operationId"] == "createOrUpdateResource"
    sent, answered = entry["request"], entry["response"]
    line = (sent["method"], sent["target"], sent["httpVersion"])
    assert line == ("POST", f"{throwaway.resources}?staged=false", "HTTP/1.1")
    assert ["User-Agent", "a  b"] in sent["headers"]
    assert json.loads(sent["body"]["text"]) == body
    assert (answered["status"], answered["body"]["text"]) == (201, answer.text)
    assert ["Location", answer.headers["Location"]] in answered["headers"]
    assert ["X-Correlation-ID", "my-app/12345"] in answered["headers"]
    assert entry["correlationId"] == "my-app/12345"
    assert entry["durationMs"] > 0
    assert (entry["rule"], entry["projectTime"], entry["clientGone"]) == (None, None, False)


def test_the_connection_and_the_request_on_it(throwaway: Project) -> None:
    with steady_client(throwaway) as client:
        for _ in range(3):
            client.send("GET", "?limit=0")
    throwaway.send("GET", "?limit=0")
    found = [entry["connection"] for entry in reversed(throwaway.entries())]
    assert [each["request"] for each in found] == [1, 2, 3, 1]
    assert len({each["number"] for each in found[:3]}) == 1
    assert found[3]["number"] != found[0]["number"]


def test_refused_requests_and_unknown_urls_are_entries_too(sandbox: Service, throwaway: Project) -> None:
    sandbox.send("GET", throwaway.resources)
    sandbox.send("GET", throwaway.resources, headers={"Authorization": "Bearer nonsense"})
    sandbox.send("GET", f"/{throwaway.key}/nothing", headers={"Authorization": f"Bearer {throwaway.token}"})
    sandbox.send("PUT", f"{throwaway.resources}/searchApiPattern", {"a": 1})
    throwaway.grant()
    Project(sandbox, {**throwaway.made, "clientSecret": "wrong"}).grant()
    entries = list(reversed(throwaway.entries()))
    assert [entry["response"]["status"] for entry in entries] == [401, 401, 404, 405, 200, 401]
    operations = ["listResources"] * 2 + [None] * 2 + ["getToken"] * 2
    assert [entry["operationId"] for entry in entries] == operations
    assert [entry["clientId"] for entry in entries][4:] == [throwaway.made["clientId"]] * 2
    assert json.loads(entries[3]["request"]["body"]["text"]) == {"a": 1}


def test_a_body_that_is_no_text_or_too_long(throwaway: Project) -> None:
    raw = bytes(range(256))
    throwaway.send("POST", raw=raw)
    for _ in range(7):
        throwaway.create(objectTypeProperty={"arrayOfStringExample": ["é" * 5_000]})
    long = throwaway.send("GET").text
    newest, *_, oldest = throwaway.entries()
    assert base64.b64decode(oldest["request"]["body"]["base64"]) == raw
    assert oldest["request"]["body"]["size"] == 256
    body = newest["response"]["body"]
    assert body["size"] == len(long.encode())
    assert body["truncated"] is True
    assert long.startswith(body["text"])
    assert 65_000 < len(body["text"].encode()) <= 65_536


def test_lists_are_paged_and_narrowed(throwaway: Project) -> None:
    made = throwaway.create()
    for _ in range(3):
        throwaway.send("GET", "?limit=0")
    throwaway.send("GET", f"/{made['id']}")
    throwaway.send("GET", "/nobody")
    page = throwaway.order("GET", "/requests?limit=2&offset=1").json
    assert (page["limit"], page["offset"], page["count"], page["total"]) == (2, 1, 2, 6)
    assert [entry["number"] for entry in page["results"]] == [5, 4]
    for query, numbers in (
        ("?status=404", [6]),
        ("?operationId=listResources", [4, 3, 2]),
        ("?method=post", [1]),
        ("?method=GET&status=200&operationId=getResourceById", [5]),
    ):
        assert [entry["number"] for entry in throwaway.entries(query)] == numbers, query
    assert throwaway.order("GET", "/requests/5").json["request"]["target"].endswith(made["id"])
    assert throwaway.order("GET", "/requests/7").status == 404
    assert throwaway.order("GET", "/requests/99999999999999999999").status == 404
    for query in ("?limit=501", "?limit=x", "?status=1", "?method=X", "?limit=1&limit=2", "?staus=200", "?offset=-1"):
        assert throwaway.order("GET", f"/requests{query}").status == 400, query


def test_it_is_emptied_and_its_numbers_begin_again(throwaway: Project) -> None:
    throwaway.send("GET", "?limit=0")
    assert throwaway.order("DELETE", "/requests").status == 204
    assert throwaway.entries() == []
    assert throwaway.order("GET", "/report").json["requests"] == 0
    throwaway.send("GET", "?limit=1")
    assert [each["number"] for each in throwaway.entries()] == [1]


def test_the_archive(throwaway: Project) -> None:
    throwaway.create(key="kk")
    throwaway.send("GET", "/sorted-query-parameters?where=key%3D%22kk%22&limit=1")
    throwaway.rules({"connection": "close"})
    throwaway.raw()
    answer = throwaway.order("GET", "/requests.har")
    assert f"{throwaway.key}.har" in answer.headers["Content-Disposition"]
    log = answer.json["log"]
    assert log["version"] == "1.2"
    first, second, third = log["entries"]
    assert first["request"]["method"] == "POST"
    assert first["request"]["postData"]["mimeType"] == "application/json"
    assert json.loads(first["request"]["postData"]["text"])["key"] == "kk"
    assert first["response"]["status"] == 201
    assert second["request"]["url"].endswith(
        f"{throwaway.resources}/sorted-query-parameters?where=key%3D%22kk%22&limit=1"
    )
    assert second["request"]["queryString"] == [{"name": "where", "value": 'key="kk"'}, {"name": "limit", "value": "1"}]
    assert json.loads(second["response"]["content"]["text"])["count"] == 1
    assert third["response"]["status"] == 0
    for entry in log["entries"]:
        assert {"startedDateTime", "time", "cache", "timings"} <= entry.keys()
        request = {"method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"}
        assert request <= entry["request"].keys()
        response = {"status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL"}
        assert response <= entry["response"].keys()
    assert len(throwaway.order("GET", "/requests.har?status=201").json["log"]["entries"]) == 1


# Secrets


def test_no_token_and_no_secret_is_kept(throwaway: Project, secrecy: Secrecy) -> None:
    token, secret = throwaway.token, throwaway.made["clientSecret"]
    basic = base64.b64encode(f"{throwaway.made['clientId']}:{secret}".encode()).decode()
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    send = throwaway.service.send
    granted = throwaway.grant().json["access_token"]
    for path, headers in (
        (f"?access_token={token}", {}),
        (f"/x{secret}x", {"X-Note": f"secret {secret}"}),
        ("?limit=0", {"Authorization": f"Basic {basic}", "Cookie": f"a={token}"}),
        ("?limit=0", {"Authorization": token}),
    ):
        throwaway.send("GET", path, headers=headers)
    throwaway.send("POST", "", {"key": secret, "client_secret": "anything", "listed": [token]})
    throwaway.send("POST", raw=b"\xff\xfe" + secret.encode() + token.encode())
    fields = f"grant_type=client_credentials&client_id={throwaway.made['clientId']}&client_secret={secret}"
    send("POST", "/oauth/token", headers=form, raw=fields.encode())
    send("POST", "/oauth/token", headers=form, raw=fields.replace(secret, "short").encode())
    kept = throwaway.order("GET", "/requests?limit=500").text + throwaway.order("GET", "/requests.har").text
    assert len(throwaway.entries()) == 9
    for each in (token, secret, granted):
        secrecy.add_secret(each)
        assert each.rpartition(".")[2] not in kept
    secrecy.add_text(kept)
    assert basic not in kept
    assert "client_secret=short" in kept, "nothing is guessed"
    assert '\\"client_secret\\": \\"anything' in kept
    assert f"Bearer \\u2026{token[-6:]}" in kept


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("Authorization", "Bearer abcdefghijklmnopqrstuvwxyz", "Bearer …uvwxyz"),
        ("authorization", "Basic abc", "Basic …"),
        ("Cookie", "session=1", "session=1"),
        ("X-Secret", "a known secret", "(secret)"),
    ],
)
def test_headers_with_credentials(name: str, value: str, kept: str) -> None:
    assert Secrets("a known secret").redacted_header(name, value) == kept


def test_all_journals_are_bounded_together_and_the_oldest_project_gives_first() -> None:
    shelf = Shelf(100_000)
    old, young = (shelf.begin(Secrets()) for _ in range(2))

    def add(journal: Journal) -> None:
        entry = an_entry(request=Message((), b"x" * 20_000, 20_000))
        journal.begin(entry)
        journal.end(entry)

    for _ in range(3):
        add(young)
    for _ in range(3):
        add(old)
    assert ([each.number for each in old.after(0)], [each.number for each in young.after(0)]) == ([3], [1, 2, 3])
    assert shelf.bytes <= shelf.bytes_at_most
    assert (old.total, old.get(2), old.page({})[1]) == (3, None, 1)
    shelf.end(young)
    assert shelf.bytes == sum(entry.bytes for entry in old.after(0))
