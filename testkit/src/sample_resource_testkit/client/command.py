"""The command ``sample-resource-conformance client``."""

import argparse
import os
import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

from sample_resource_testkit import local_service
from sample_resource_testkit.client.adapter import AdapterFailed
from sample_resource_testkit.client.check import check
from sample_resource_testkit.client.registry import THEMES, Scenario, scenarios
from sample_resource_testkit.client.report import OF_CLIENTS, as_client_json, verdict_of
from sample_resource_testkit.client.runner import Cast, Trace, run, start, with_needs
from sample_resource_testkit.expected import BadList, read_expected
from sample_resource_testkit.options import (
    AS_EXPECTED,
    NOT_AS_EXPECTED,
    NOT_CHECKED,
    Parser,
    integer,
    names,
    target_file,
)
from sample_resource_testkit.reports.html import as_html
from sample_resource_testkit.reports.junit import as_junit
from sample_resource_testkit.reports.terminal import ProgressLine, as_text
from sample_resource_testkit.sandbox import SandboxError, SandboxServer

NAME = "sample-resource-conformance client"

_EPILOG = """\
PROGRAM is an adapter: it reads a JSON object a line from stdin, translates it into a call of the client, and writes
what came of it to stdout. docs/adapters.md of the kit explains it, with a whole adapter.

Without --url the service that is installed is started for the run, with its sandbox; SANDBOX_TOKEN is that of a sandbox
that needs one.

Exit codes: 0 if no scenario fails that is not in the file of expected failures, and none passes that is; 1 otherwise,
and if the adapter says no hello; 2 if there is no such program or no service, or an option is wrong.

Examples:
  %(prog)s -- python adapter.py
  %(prog)s --check -- node adapter.mjs
  %(prog)s --scenario C-req-12,C-do-4 --trace -- ./adapter
  %(prog)s --list
"""


def main(arguments: Sequence[str]) -> NoReturn:
    """Run the command, and exit with its code."""
    parser = _parser()
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:split])
    program = list(arguments[split + 1 :])
    try:
        code = _run(parser, options, program)
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped\n")
        code = 130
    except BrokenPipeError:
        sys.stdout = None
        code = NOT_AS_EXPECTED
    sys.exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=NAME,
        usage="%(prog)s [options] -- PROGRAM [ARGUMENT...]",
        description="Hold a client against the sample-resource specification: what it sends, returns and does.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--url", help="of a running service whose sandbox is on, instead of one that is started")
    add("--profile", type=names, action="extend", metavar="A,B", help=f"only these themes of {', '.join(THEMES)}")
    add("--scenario", type=names, action="extend", metavar="N,M", help="only these scenarios, as C-req-12")
    add("--expected-failures", type=Path, metavar="FILE", help="scenarios that may fail: number, any reason")
    add("--junit", type=target_file, metavar="FILE", help="write the report as JUnit XML")
    add("--html", type=target_file, metavar="FILE", help="write the report as one HTML page")
    add("--json", type=target_file, metavar="FILE", help="write the report as JSON")
    add("--jobs", type=integer(1, 32), default=4, metavar="N", help="how many adapters run at once (default: 4)")
    add(
        "--timeout",
        type=integer(1, 600),
        default=10,
        metavar="S",
        help="seconds for a call, and for the adapter to answer after it (default: 10)",
    )
    add("--seed", type=integer(0, 2**32), default=0, metavar="N", help="of the values that scenarios draw (default: 0)")
    add("--trace", action="store_true", help="print each message and each request to stderr")
    add("--check", action="store_true", help="only see whether the adapter keeps to the protocol")
    add("--list", action="store_true", help="print the scenarios, and run none")
    return parser


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace, program: list[str]) -> int:
    known = scenarios()
    chosen = _chosen(parser, options, known)
    if options.list:
        for each in (known[name] for name in chosen):
            feature = f" ({each.feature})" if each.feature else ""
            sys.stdout.write(f"{each.number:10} {each.level:6} {each.text}{feature} [{' '.join(each.clauses)}]\n")
        return AS_EXPECTED
    if not program:
        parser.error("the program of the adapter is missing: it comes after --")
    expected: dict[str, str] = {}
    if options.expected_failures is not None:
        try:
            expected = read_expected(options.expected_failures, known, "scenario")
        except BadList as error:
            parser.error(f"argument --expected-failures: {error}")
    try:
        with _service(options.url) as server:
            return _judge(options, program, known, chosen, expected, server)
    except SandboxError as error:
        sys.stderr.write(f"{NAME}: {error}\n")
        return NOT_CHECKED


def _chosen(parser: argparse.ArgumentParser, options: argparse.Namespace, known: dict[str, Scenario]) -> list[str]:
    """The scenarios that were asked for, in their order."""
    for name in options.profile or ():
        if name not in THEMES:
            parser.error(f"argument --profile: there is no theme {name!r}: choose from {', '.join(THEMES)}")
    for name in options.scenario or ():
        if name not in known:
            parser.error(f"argument --scenario: there is no scenario {name!r}")
    found = [
        name
        for name, each in known.items()
        if (options.profile is None or each.theme in options.profile)
        and (options.scenario is None or name in options.scenario)
    ]
    if not found:
        parser.error("--profile and --scenario leave no scenario")
    return found


@contextmanager
def _service(url: str | None) -> Generator[SandboxServer]:
    """A service whose sandbox is on.

    :raises SandboxError: if there is none.
    """
    if url is None:
        with local_service.running() as started:
            yield SandboxServer(started)
        return
    try:
        server = SandboxServer(url, os.environ.get("SANDBOX_TOKEN", ""))
    except ValueError as error:
        raise SandboxError(str(error)) from None
    server.make_project(ttlSeconds=60).remove()
    yield server


def _judge(
    options: argparse.Namespace,
    program: list[str],
    known: dict[str, Scenario],
    chosen: list[str],
    expected: dict[str, str],
    server: SandboxServer,
) -> int:
    trace = _trace() if options.trace else None
    progress = ProgressLine(sys.stderr, OF_CLIENTS, shown=sys.stderr.isatty() and trace is None)
    cast = Cast(program, server, float(options.timeout), options.seed, trace, progress, removes=options.url is not None)
    if options.check:
        return check(cast, sys.stdout)
    try:
        adapter = start(cast)
    except OSError as error:
        sys.stderr.write(f"{NAME}: {program[0]} cannot be started: {error.strerror or error}\n")
        return NOT_CHECKED
    except AdapterFailed as error:
        sys.stderr.write(f"{NAME}: no hello from the adapter: {error}\n")
        return NOT_AS_EXPECTED
    hello = adapter.hello
    began, started = datetime.now(UTC), time.monotonic()
    try:
        found = run(cast, with_needs(known, chosen), options.jobs, adapter)
    finally:
        progress.end()
    results = {name: found[name] for name in chosen}
    listed = {name: reason for name, reason in expected.items() if name in results}
    kit = version("sample-resource-testkit")
    elapsed_s = time.monotonic() - started
    verdict = verdict_of(hello, results, listed, began.isoformat(timespec="seconds"), elapsed_s, kit)
    reports = ((options.junit, as_junit(verdict)), (options.html, as_html(verdict)))
    for path, text in (*reports, (options.json, as_client_json(verdict, hello, results))):
        if path is not None:
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    sys.stdout.write(as_text(verdict, coloured=coloured).encode(errors="backslashreplace").decode())
    return AS_EXPECTED if verdict.is_as_expected else NOT_AS_EXPECTED


def _trace() -> Trace:
    lock = threading.Lock()

    def write(name: str, line: str) -> None:
        with lock:
            sys.stderr.write("".join(f"{name}  {part}\n" for part in line.splitlines()))

    return write
