"""The command: options, exit codes, reports, and servers that lack nearly everything."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sample_resource_testkit import cli
from sample_resource_testkit.clauses import clauses
from sample_resource_testkit.registry import Case, Check
from sample_resource_testkit.world import World
from stub import Received, Stub, http

DRAWN: list[int] = []


def makes(world: World) -> None:
    world.post("", {"objectTypeProperty": {}}).expect_success()


def finds(world: World) -> None:
    made = world.make()
    world.get(f"/{made.id}").expect_status(200)


def misses(world: World) -> None:
    world.get("/unknown").expect_status(404)


def lists(world: World) -> None:
    DRAWN.append(world.random.randrange(1 << 30))
    world.get().expect_status(200)


CHECKS = (
    Check("4.1-1", "lists", (), False, (Case("", lists),)),
    Check("4.2-1", "finds", (), False, (Case("", finds),)),
    Check("4.2-3", "misses", (), False, (Case("a", misses), Case("b", misses))),
    Check("4.6-1", "makes", (), False, (Case("", makes),)),
    Check("9-5", "conflicts", ("4.2-1",), False, (Case("", finds), Case("again", finds))),
    Check("9-6", "changes nothing", ("9-5",), False, (Case("", finds),)),
    Check("9-14", "races", ("4.2-1",), True, (Case("", finds),)),
)
"""In place of those of the kit, so that these tests do not depend on them."""

SOME = "4.2-1,4.2-3,4.6-1,9-5,9-6,9-14"


@pytest.fixture(autouse=True)
def checks_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "load_checks", lambda: CHECKS)
    for name in ("TOKEN", "CLIENT_SECRET", "SANDBOX_TOKEN"):
        monkeypatch.delenv(name, raising=False)


class Run:
    """A run of the command, and what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        self.code = ended.value.code
        self.out, self.err = capsys.readouterr()


def only_get(request: Received) -> bytes:
    """A server that has only GET."""
    return http(200, '{"results": []}', "Content-Type: application/json") if request.method == "GET" else http(501)


def given(stub: Stub, *more: str) -> tuple[str, ...]:
    return ("--url", stub.url, "--token", "a-token-of-mine", "--project", "p", "--clause", SOME, *more)


def test_a_server_that_has_only_get_gets_a_useful_report(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    stub.answer = only_get
    run = Run(capsys, *given(stub))
    assert run.code == 1
    assert "FAIL 4.6-1 (must, core)" in run.out
    assert "expected  a status of success (2xx)\n  got       status 501\n  request   curl --include" in run.out
    assert '"Authorization: Bearer $TOKEN"' in run.out
    assert "a-token-of-mine" not in run.out + run.err
    assert "TOKEN=...  # the value of --token" in run.out
    assert "not reachable: no way to make a resource works (POST with a key: 501;" in run.out
    assert "not reachable: rests on 4.2-1, which is not reachable" in run.out
    assert re.search(r"^all +must +- +2 +- +4 +-$", run.out, re.MULTILINE)
    assert run.out.endswith("2 clauses fail.\n")
    assert "\x1b" not in run.out + run.err, "no colours and no progress without a terminal"


def test_a_server_that_drops_connections_is_reported(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    stub.answer = lambda request: (
        only_get(request) if request.target == "/p/resource" and request.method == "GET" else None
    )
    run = Run(capsys, *given(stub))
    assert run.code == 1
    assert "got       the server closed the connection without an answer" in run.out


@pytest.mark.parametrize("answer", [None, b"garbage\r\n\r\n"])
def test_a_server_that_answers_nothing_is_not_checked(
    stub: Stub, capsys: pytest.CaptureFixture[str], answer: bytes | None
) -> None:
    stub.answer = lambda _: answer
    run = Run(capsys, *given(stub))
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"sample-resource-conformance: {stub.url} cannot be checked: ")


def test_a_server_that_drops_the_first_connection_is_checked(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    stub.answer = lambda request: None if len(stub.received) == 1 else only_get(request)
    assert Run(capsys, *given(stub)).code == 1


def test_a_server_that_is_not_there_is_not_checked(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(capsys, "--url", "http://127.0.0.1:1", "--token", "t", "--project", "p")
    assert (run.code, run.out) == (2, "")
    assert "cannot be checked: no connection to http://127.0.0.1:1: " in run.err


def test_a_token_endpoint_that_refuses_is_told(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    stub.answer = lambda _: http(401, '{"error": "invalid_client"}')
    run = Run(capsys, "--url", stub.url, "--client-id", "c", "--client-secret", "s", "--project", "p")
    assert run.code == 2
    assert "no token: needs a token for " in run.err
    assert '401: {"error": "invalid_client"}' in run.err


def test_a_token_that_is_refused_is_warned_of(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    stub.answer = lambda _: http(401)
    run = Run(capsys, *given(stub))
    assert "warning: the server answers 401 to the token, so most clauses will fail" in run.err


def test_tokens_and_secrets_come_from_the_environment(
    stub: Stub, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.answer = lambda request: http(200, '{"access_token": "granted"}') if "oauth" in request.target else http(404)
    monkeypatch.setenv("CLIENT_SECRET", "of-the-environment")
    Run(capsys, "--url", stub.url, "--client-id", "c", "--project", "p", "--clause", "4.2-3")
    assert ("Authorization", "Bearer granted") in stub.received[-1].headers
    monkeypatch.setenv("TOKEN", "given")
    Run(capsys, "--url", stub.url, "--project", "p", "--clause", "4.2-3")
    assert ("Authorization", "Bearer given") in stub.received[-1].headers


def test_headers_and_rewritten_paths_are_those_of_all_requests(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    Run(
        capsys,
        *given(stub, "--header", "X-Debug: 1", "--header", "X-B:2", "--rewrite-path", "^/p/resource=/p/products"),
    )
    assert all({("X-Debug", "1"), ("X-B", "2")} <= set(request.headers) for request in stub.received)
    assert {request.target[:11] for request in stub.received} == {"/p/products"}


WRONG: list[tuple[tuple[str, ...], str]] = [
    ((), "the following arguments are required: --url"),
    (("--url", "foo"), "'foo' is no URL with http:// or https:// and a host"),
    (("--url", "http://a"), "one of --sandbox, --client-id with --client-secret, and --token is needed"),
    (("--url", "http://a", "--sandbox", "--token", "t"), "--sandbox, --client-id and --token exclude each other"),
    (("--url", "http://a", "--client-id", "c", "--project", "p"), "--client-id needs --client-secret"),
    (("--url", "http://a", "--sandbox", "--profile", "core,cores"), "there is no profile 'cores': choose from core,"),
    (("--url", "http://a", "--sandbox", "--clause", "9.9-9"), "there is no clause '9.9-9'"),
    (("--url", "http://a", "--sandbox", "--jobs", "0"), "a whole number from 1 to 64 is expected, and not '0'"),
    (("--url", "http://a", "--sandbox", "--header", "X"), "a name, a colon and a value are expected"),
    (("--url", "http://a", "--sandbox", "--rewrite-path", "(=x"), "no replacement by a regular expression"),
    (("--url", "http://a", "--sandbox", "--rewrite-path", r"a=\1"), "no replacement by a regular expression"),
    (("--url", "http://a", "--sandbox", "--json", "/no/such/folder/x"), "/no/such/folder/x cannot be written"),
    (("--url", "http://a", "--token-url", "x", "--sandbox"), "'x' is no URL"),
    (("--url", "http://a", "--sand"), "unrecognized arguments: --sand"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_options_are_told(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    run = Run(capsys, *arguments)
    assert (run.code, run.out) == (2, "")
    assert message in run.err
    assert run.err.endswith("Try 'sample-resource-conformance --help'.\n")


@pytest.mark.parametrize(
    ("listed", "code", "told"),
    [
        ("4.2-3\n4.6-1  it has only GET\n", 0, "No clause fails that was not expected to."),
        ("# known\n4.6-1 # no POST\n", 1, "1 clause fails."),
        ("4.2-3\n4.6-1\n9-5\n", 1, "9-5 is listed as an expected failure, and does not fail\n"),
        ("4.2-3\n4.6-1\n4.1-*\n9-*\n", 1, "2 listed as expected to fail do not fail."),
    ],
)
def test_expected_failures_decide_the_exit_code(
    stub: Stub, capsys: pytest.CaptureFixture[str], tmp_path: Path, listed: str, code: int, told: str
) -> None:
    stub.answer = only_get
    known = tmp_path / "known.txt"
    known.write_text(listed)
    run = Run(capsys, *given(stub, "--clause", "4.1-1", "--expected-failures", str(known)))
    assert (run.code, told in run.out) == (code, True), run.out


@pytest.mark.parametrize(
    ("listed", "message"),
    [("9-5\n9.9-9\n", "line 2: there is no clause 9.9-9"), ("9-5\n9-5 again\n", "line 2: 9-5 is listed twice")],
)
def test_a_list_of_expected_failures_that_is_wrong_is_told(
    stub: Stub, capsys: pytest.CaptureFixture[str], tmp_path: Path, listed: str, message: str
) -> None:
    known = tmp_path / "known.txt"
    known.write_text(listed)
    run = Run(capsys, *given(stub, "--expected-failures", str(known)))
    assert run.code == 2
    assert message in run.err


def test_the_reports_agree(stub: Stub, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stub.answer = lambda request: (
        http(200, "<script>\x00\x1b]]></script>") if request.method == "GET" else http(501, "\ud7ff\ufffe")
    )
    files = {name: tmp_path / f"report.{name}" for name in ("junit", "json")}
    known = tmp_path / "known.txt"
    known.write_text("4.2-3 it is known\n")
    options = [text for name, path in files.items() for text in (f"--{name}", str(path))]
    Run(capsys, *given(stub, "--expected-failures", str(known), *options))

    told = json.loads(files["json"].read_text())
    by_number = {clause["number"]: clause for clause in told["clauses"]}
    assert list(by_number) == [number for number in clauses() if number in SOME.split(",")]
    assert (told["asExpected"], told["unexpectedFailures"], told["unexpectedPasses"]) == (False, ["4.6-1"], [])
    assert by_number["4.2-3"]["expectedFailure"] == "it is known"
    assert by_number["9-5"]["outcome"] == "not reachable"
    failing = by_number["4.6-1"]["cases"][0]
    assert failing.keys() >= {"name", "outcome", "checks", "expected", "got", "curl", "answer", "before"}
    assert {row["level"]: row["fail"] for row in told["summary"] if row["profile"] == "core"} == {"must": 2}

    root = ElementTree.parse(files["junit"]).getroot()  # noqa: S314 -- the report that was just written
    assert [suite.get("name") for suite in root] == ["core", "races"]
    tests = root.findall("testsuite/testcase")
    assert len(tests) == sum(len(clause["cases"]) for clause in told["clauses"]) == int(root.get("tests", ""))
    assert len(root.findall("testsuite/testcase/failure")) == int(root.get("failures", "")) == 1
    skipped = [str(found.get("message")) for found in root.findall("testsuite/testcase/skipped")]
    assert len(skipped) == int(root.get("skipped", ""))
    assert any(message == "expected failure: it is known" for message in skipped)
    assert any(message.startswith("not reachable: ") for message in skipped)


def test_the_values_that_a_check_draws_repeat_with_the_seed(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    stub.answer = only_get
    DRAWN.clear()
    for seed in ("0", "0", "1"):
        Run(capsys, "--url", stub.url, "--token", "t", "--project", "p", "--clause", "4.1-1", "--seed", seed)
    assert DRAWN[0] == DRAWN[1] != DRAWN[2]
