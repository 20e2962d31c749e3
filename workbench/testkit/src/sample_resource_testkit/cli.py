"""The command ``sample-resource-conformance``."""

import argparse
import os
import re
import secrets
import string
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from sample_resource_testkit.access import (
    Access,
    Credentials,
    FixedToken,
    ProjectClient,
    SandboxAccess,
    Unusable,
    Vault,
    token_transport,
)
from sample_resource_testkit.clauses import PROFILES, clauses
from sample_resource_testkit.client import command
from sample_resource_testkit.expected import Expected
from sample_resource_testkit.options import (
    NOT_CHECKED,
    Parser,
    add_shared,
    chosen_of,
    exit_with,
    expected_failures,
    integer,
    names,
    report,
    valid,
)
from sample_resource_testkit.outcomes import ClauseResult, Outcome, Skipped
from sample_resource_testkit.registry import load_checks
from sample_resource_testkit.reports.as_json import as_json
from sample_resource_testkit.reports.terminal import ProgressLine
from sample_resource_testkit.runner import plan, run
from sample_resource_testkit.verdict import OF_SERVERS, Verdict, case_failures
from sample_resource_testkit.wire import Headers, NoAnswer, NotConnected, Origin, RawAnswer, Request, Transport
from sample_resource_testkit.world import Server

NAME = "sample-resource-conformance"

_GREETINGS = 3
"""How often the first request is sent before the server counts as unreachable."""

_EPILOG = """\
Give one of: --sandbox; --client-id and --client-secret; --token. Secrets may come from the environment instead:
CLIENT_SECRET, TOKEN, and SANDBOX_TOKEN for a sandbox that needs one.

Exit codes: 0 if exactly the clauses in the file of expected failures fail (without the file: if none fails);
1 otherwise; 2 if the server could not be reached, an option is wrong, or the kit made a mistake.

'%(prog)s client --help' says how a client is held against the specification.

Examples:
  %(prog)s --url http://127.0.0.1:8000 --sandbox
  %(prog)s --url https://api.example.com --client-id ID --project a --second-project b --json report.json
  %(prog)s --url http://127.0.0.1:4010 --token x --project p --profile core,query --expected-failures known.txt
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command, and exit with its code. With ``client`` as its first word it judges clients."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["client"]:
        command.main(given[1:])
    parser = _parser()
    options = parser.parse_args(given)
    exit_with(lambda: _check(parser, options))


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=NAME,
        description="Hold a server against the sample-resource specification, over HTTP alone.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--url", required=True, type=valid(Origin.of), help="of the server; a path comes before all paths of requests")
    add("--token-url", metavar="URL", type=valid(_token_url), help="of the token endpoint (default: URL/oauth/token)")
    add("--client-id", metavar="ID", help="of a client that has all scopes of the project")
    add("--client-secret", metavar="SECRET", help="of this client (default: the variable CLIENT_SECRET)")
    add("--token", help="a bearer token, where there is no token endpoint (default: the variable TOKEN)")
    add("--sandbox", action="store_true", help="make projects with POST URL/sandbox/projects")
    add("--project", metavar="P", help="the project to work in; the command adds resources to it and removes none")
    add("--second-project", metavar="Q", help="another one, which the same client or token may use")
    add("--profile", type=names, action="extend", metavar="A,B", help=f"only these profiles of {', '.join(PROFILES)}")
    add("--clause", type=names, action="extend", metavar="N,M", help="only these clauses, as 4.10-3")
    add("--jobs", type=integer(1, 64), default=8, metavar="N", help="how many checks run at once (default: 8)")
    add("--header", type=_header, action="append", default=[], metavar="'X: Y'", help="add a header to each request")
    add(
        "--rewrite-path",
        type=_rewrite,
        action="append",
        default=[],
        metavar="REGEX=TEXT",
        help="replace in the path of each request, for a server whose paths differ; TEXT may have \\1",
    )
    add_shared(parser, "clauses", draw="checks", timeout="one request")
    add("--version", action="version", version=f"%(prog)s {version('sample-resource-testkit')}")
    return parser


def _token_url(text: str) -> str:
    Origin.of(text.partition("?")[0])
    return text


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or not value.isprintable():
        raise argparse.ArgumentTypeError(f"a name, a colon and a value are expected, as 'X-Debug: 1', and not {text!r}")
    return name, value.strip()


def _rewrite(text: str) -> tuple[re.Pattern[str], str]:
    pattern, sign, replacement = text.partition("=")
    try:
        compiled = re.compile(pattern)
        compiled.sub(replacement, "")
        re.compile(f"{pattern}|").sub(replacement, "")
    except (re.error, IndexError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no replacement by a regular expression: {error}") from None
    if not sign or not pattern:
        raise argparse.ArgumentTypeError(f"a regular expression, = and a text are expected, and not {text!r}")
    return compiled, replacement


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    try:
        return _hold(parser, options)
    except Unusable as error:
        sys.stderr.write(f"{NAME}: {error}\n")
        return NOT_CHECKED


def _hold(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    known, checks = clauses(), load_checks()
    selected = chosen_of(parser, options, known, OF_SERVERS)
    expected = expected_failures(parser, options, known, "clause")
    vault = Vault()
    headers: Headers = tuple(options.header)
    transport = Transport(options.url, float(options.timeout), headers, tuple(options.rewrite_path))
    access = _access(parser, options, transport, vault)
    tag = "".join(secrets.choice(string.ascii_lowercase) for _ in range(12))
    server = Server(transport, access, tag, options.seed)
    for warning in _greet(server):
        sys.stderr.write(f"{NAME}: {warning}\n")

    chosen = plan(known, checks, selected)
    began = datetime.now(UTC)
    started = time.monotonic()
    shown = ProgressLine(sys.stderr, OF_SERVERS, shown=sys.stderr.isatty())
    try:
        results = run(server, chosen, options.jobs, shown)
    finally:
        shown.end()
    elapsed_s = time.monotonic() - started
    verdict = _verdict(server, vault, results, selected, expected, began, elapsed_s)
    code = report(options, verdict, as_json)
    if not verdict.failing:
        # Otherwise the projects stay until the sandbox removes them, so that the curl lines work.
        access.close()
    return code


def _access(parser: argparse.ArgumentParser, options: argparse.Namespace, transport: Transport, vault: Vault) -> Access:
    """The access to projects and tokens that the options ask for."""
    given = [name for name in ("sandbox", "client_id", "token") if getattr(options, name)]
    token = options.token or (os.environ.get("TOKEN", "") if not given else "")
    if len(given) > 1:
        parser.error("--sandbox, --client-id and --token exclude each other")
    if not given and not token:
        parser.error("one of --sandbox, --client-id with --client-secret, and --token is needed")
    if options.sandbox and (options.project or options.second_project):
        parser.error("--sandbox makes its own projects, so --project and --second-project exclude it")
    if not options.sandbox and not options.project:
        parser.error("--project is needed, unless --sandbox makes one")
    if options.second_project is not None and options.second_project == options.project:
        parser.error("--second-project has to be another project than --project")
    if token:
        return FixedToken(vault, token, options.project, options.second_project)
    token_url = options.token_url or f"{options.url.base}{options.url.prefix}/oauth/token"
    token_connections, target = token_transport(token_url, transport)
    if options.sandbox:
        sandbox = SandboxAccess(token_connections, target, vault, transport, os.environ.get("SANDBOX_TOKEN", ""))
        sandbox.begin()
        return sandbox
    secret = options.client_secret or os.environ.get("CLIENT_SECRET", "")
    if not secret:
        parser.error("--client-id needs --client-secret, or the variable CLIENT_SECRET")
    access = Credentials(token_connections, target, vault)
    second = options.second_project
    access.use(
        ProjectClient(options.project, "", options.client_id, secret),
        None if second is None else ProjectClient(second, "", options.client_id, secret, "SECOND"),
    )
    return access


def _greet(server: Server) -> list[str]:
    """Check that the server answers, and that a token can be obtained.

    :return: notes for the user, shown before the run.
    :raises Unusable: if the server does not answer, or there is no token.
    """
    project = server.access.project
    try:
        token = server.access.token(project)
        headers = (("Authorization", f"Bearer {token}"),)
        request = server.transport.complete(Request("GET", f"/{project.key}/resource", headers))
        answer = _patient_exchange(server.transport, request)
    except Skipped as error:
        raise Unusable(f"no token: {error}") from None
    except NoAnswer as error:
        raise Unusable(f"{server.transport.origin.base} cannot be checked: {error}") from None
    if answer.status in (401, 403):
        return [f"warning: the server answers {answer.status} to the token, so most clauses will fail"]
    return []


def _patient_exchange(transport: Transport, request: Request) -> RawAnswer:
    """The answer to a request that is sent up to three times, because a server may drop some connections.

    :raises NoAnswer: if no attempt is answered.
    """
    for _ in range(_GREETINGS - 1):
        try:
            return transport.exchange(request)
        except NotConnected:
            break
        except NoAnswer:
            continue
    return transport.exchange(request)


def _verdict(
    server: Server,
    vault: Vault,
    results: dict[str, ClauseResult],
    selected: list[str],
    expected: Expected,
    began: datetime,
    elapsed_s: float,
) -> Verdict:
    chosen = {number: results[number] for number in selected}
    failures = {
        number: case_failures(result.cases, vault.hide)
        for number, result in chosen.items()
        if result.outcome is Outcome.FAIL
    }
    listed, stale = expected.applied(chosen)
    lines = "\n".join(text for found in failures.values() for failure in found for _, _, text in failure.texts)
    used = set(re.findall(r"\$([A-Z][A-Z0-9_]*)", lines))
    origin = server.transport.origin
    return Verdict(
        url=f"{origin.base}{origin.prefix}",
        results=chosen,
        failures=failures,
        expected=listed,
        stale=stale,
        shell=tuple(server.access.shell(used)),
        began=began.isoformat(timespec="seconds"),
        elapsed_s=elapsed_s,
        version=version("sample-resource-testkit"),
    )
