"""Every reader of the journal survives every entry, whatever a client has sent, and no entry hides another."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journals import an_entry, replayed
from sample_resource_sandbox.analysis.findings import FINDINGS, Finding
from sample_resource_sandbox.analysis.look import Look
from sample_resource_sandbox.analysis.report import report
from sample_resource_sandbox.journal.entry import BODY_BYTES_KEPT, Entry, Message
from sample_resource_sandbox.journal.har import archive
from tester import Project

HOSTILE = (
    b"[" * 1200,
    b'{"version":' + b"[" * 800 + b"]" * 800 + b"}",
    b'{"version": 1' + b"0" * 5000 + b"}",
    b'{"version": 1e400, "objectTypeProperty": {"arrayOfObjectType": [{"\\ud800": "1"}]}}',
    b'{"errors": [[], {"code": []}]}',
    b'{"expires_in": {}}',
    b"\xff\xfe\x00{",
    b"\0" * 70_000,
    b"&=%" * 4000,
    "\u2028\n\r\x85".encode(),
)
TARGETS = (
    "/", "*", "http://[", "//[::1", "http://[::1/p/resource", "/p/resource?%=%&=&;&a", "/%ff%00%zz",
    "/p?" + "a=1&" * 900,
)  # fmt: skip

bodies = st.one_of(st.sampled_from(HOSTILE), st.binary(max_size=300))
names = st.sampled_from(["authorization", "content-type", "retry-after", "connection", "user-agent", "if-match"])
headers = st.lists(st.tuples(names | st.text(max_size=20), st.text(max_size=60)), max_size=6).map(tuple)
OPERATIONS = (
    None, "getToken", "createOrUpdateResource", "updateResourceById", "listResources", "listResourcesSorted",
    "searchResources", "getResourceByKey",
)  # fmt: skip


@st.composite
def messages(draw: st.DrawFn) -> Message:
    body = draw(bodies)[:BODY_BYTES_KEPT]
    return Message(draw(headers), body, draw(st.sampled_from([None, len(body), len(body) + 1, 2**70])))


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    status = draw(st.sampled_from([None, 100, 200, 201, 400, 401, 404, 409, 412, 429, 500, 503, 599, 999]))
    return an_entry(
        arrived_at=draw(st.floats(0, 3e9)),
        client_id=draw(st.sampled_from([None, "one", "two"])),
        operation=draw(st.sampled_from(OPERATIONS)),
        method=draw(st.sampled_from(["GET", "POST", "HEAD", "FOO"])),
        target=draw(st.one_of(st.sampled_from(TARGETS), st.text(st.characters(max_codepoint=255), max_size=80))),
        http_version=draw(st.sampled_from(["HTTP/1.1", "HTTP/1.0"])),
        request=draw(messages()),
        connection=draw(st.sampled_from([None, (1, 1), (1, 2)])),
        correlation_id=draw(st.text(max_size=5)),
        project_time=draw(st.sampled_from([None, 0.0, 4e9])),
        answered_s=draw(st.one_of(st.none(), st.floats(0, 1e6))),
        ended_s=draw(st.one_of(st.none(), st.floats(0, 1e6))),
        status=status,
        answer=None if status is None else draw(messages()),
        rule=draw(st.sampled_from([None, {"does": ["close"], "carriedOut": True, "replacedStatus": None, "did": "x"}])),
        client_gone=draw(st.booleans()),
    )


def read_everywhere(scene: list[Entry]) -> None:
    """What each reader makes of a journal; each shows as many requests as there are."""
    journal, tally = replayed(scene)
    listed = [json.loads(json.dumps(entry.described(journal.secrets))) for entry in journal.after(0)]
    assert [each["number"] for each in listed] == list(range(1, len(scene) + 1))
    saved = json.loads("".join(archive(listed, "http://localhost")))["log"]["entries"]
    assert [each["_number"] for each in saved] == [each["number"] for each in listed]
    made = report({"projectKey": "p"}, tally)
    assert sum(entry.ended_s is not None for entry in scene) <= made["requests"] <= len(scene)
    json.dumps(made).encode()


@settings(max_examples=25, deadline=None)
@given(st.lists(entries(), min_size=1, max_size=6))
def test_every_reader_survives_every_entry(noted: list[Entry]) -> None:
    for each in noted:
        look = Look(each)
        for finding in FINDINGS:
            if finding.check is not None:
                # By itself, since the observer would pass over an error.
                finding.check(look)
    read_everywhere(noted)


def test_a_finding_that_fails_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise ZeroDivisionError

    found = (Finding("x", "x", "x", (), fail), *FINDINGS)
    monkeypatch.setattr("sample_resource_sandbox.analysis.observer.FINDINGS", found)
    read_everywhere([an_entry(), an_entry()])


@pytest.mark.parametrize("raw", [HOSTILE[0], b"\0" * 70_000, b"\xff\xfe\x00{"])
def test_a_hostile_body_over_http(throwaway: Project, raw: bytes) -> None:
    """Whoever sends it: the first one has no token."""
    for head in ({}, {"Authorization": f"Bearer {throwaway.token}"}):
        headers = {"Content-Type": "application/json", **head}
        throwaway.service.send("POST", throwaway.resources, headers=headers, raw=raw)
    throwaway.send("GET", "?limit=0")
    assert [entry["number"] for entry in throwaway.entries()] == [3, 2, 1]
    size = len(raw) if len(raw) <= 65_536 else None
    assert throwaway.order("GET", "/requests/2").json["request"]["body"]["size"] == size
    assert len(throwaway.order("GET", "/requests.har").json["log"]["entries"]) == 3
    assert throwaway.order("GET", "/report").json["requests"] == 3
