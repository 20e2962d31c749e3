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
from importlib.resources import files
from pathlib import Path
from typing import NoReturn

from sample_resource_testkit import local_service
from sample_resource_testkit.client.adapter import AdapterFailed
from sample_resource_testkit.client.check import check
from sample_resource_testkit.client.registry import THEMES, Scenario, scenarios
from sample_resource_testkit.client.report import OF_CLIENTS, as_client_json, verdict_of
from sample_resource_testkit.client.runner import Cast, Trace, run, start
from sample_resource_testkit.expected import Expected
from sample_resource_testkit.options import (
    AS_EXPECTED,
    NOT_AS_EXPECTED,
    NOT_CHECKED,
    Parser,
    add_shared,
    chosen_of,
    exit_with,
    expected_failures,
    integer,
    names,
    report,
)
from sample_resource_testkit.outcomes import Outcome
from sample_resource_testkit.reports.terminal import ProgressLine
from sample_resource_testkit.sandbox import SandboxError, SandboxServer

NAME = "sample-resource-conformance client"

_EPILOG = """\
PROGRAM is an adapter: it reads a JSON object a line from stdin, translates it into a call of the client, and writes
what came of it to stdout. --init writes a whole adapter; workbench/testkit/docs/adapters.md of the repository explains
the messages.

Without --url the service that is installed is started for the run, with its sandbox; SANDBOX_TOKEN is that of a sandbox
that needs one.

Exit codes: 0 if exactly the scenarios in the file of expected failures fail (without the file: if none fails);
1 otherwise, and if the adapter says no hello; 2 if there is no such program or no service, an option is wrong, nothing
was run, or the kit made a mistake.

Examples:
  %(prog)s -- python adapter.py
  %(prog)s --check -- node adapter.mjs
  %(prog)s --scenario C-req-12,C-do-4 --trace -- ./adapter
  %(prog)s --list
  %(prog)s --init python
"""


def main(arguments: Sequence[str]) -> NoReturn:
    """Run the command, and exit with its code."""
    parser = _parser()
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:split])
    program = list(arguments[split + 1 :])
    exit_with(lambda: _run(parser, options, program))


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
    add("--jobs", type=integer(1, 32), default=4, metavar="N", help="how many adapters run at once (default: 4)")
    add(
        "--start-timeout",
        type=integer(1, 600),
        default=60,
        metavar="S",
        help="seconds for the adapter to start and to answer hello (default: 60)",
    )
    add_shared(parser, "scenarios", draw="scenarios", timeout="a call, and for the adapter to answer after it")
    add("--trace", action="store_true", help="print each message and each request to stderr")
    add("--check", action="store_true", help="only see whether the adapter keeps to the protocol")
    add("--list", action="store_true", help="print the scenarios, and run none")
    add(
        "--init",
        nargs="?",
        const="python",
        choices=TEMPLATES,
        help="write a whole adapter to begin with, and run nothing; python if not given",
    )
    return parser


TEMPLATES = {"python": "adapter.py", "node": "adapter.mjs"}
"""The complete adapters in the package, by their languages."""


def _init(language: str) -> int:
    """Write an adapter into the current folder, unless the file exists, and return the exit code."""
    target = Path(TEMPLATES[language])
    template = files("sample_resource_testkit.client") / "templates" / target.name
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(template.read_text(encoding="utf-8"))
    except OSError as error:
        sys.stderr.write(f"{NAME}: {target} cannot be written: {error.strerror}\n")
        return NOT_CHECKED
    program = "python" if language == "python" else "node"
    sys.stdout.write(
        f"{target} drives a client of a few lines in itself. Put yours in its place, and then:\n\n"
        f"  {NAME} --check -- {program} {target}   # does it keep to the protocol?\n"
        f"  {NAME} -- {program} {target}           # what is the client like?\n"
    )
    return AS_EXPECTED


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace, program: list[str]) -> int:
    if options.init:
        return _init(options.init)
    known = scenarios()
    chosen = chosen_of(parser, options, {number: each.as_clause() for number, each in known.items()}, OF_CLIENTS)
    if options.list:
        for each in (known[name] for name in chosen):
            feature = f" ({each.feature})" if each.feature else ""
            sys.stdout.write(f"{each.number:10} {each.level:6} {each.text}{feature} [{' '.join(each.clauses)}]\n")
        return AS_EXPECTED
    if not program:
        parser.error("the program of the adapter is missing: it comes after --")
    expected = expected_failures(parser, options, known, "scenario")
    try:
        with _service(options.url) as server:
            return _judge(options, program, known, chosen, expected, server)
    except SandboxError as error:
        sys.stderr.write(f"{NAME}: {error}\n")
        return NOT_CHECKED


@contextmanager
def _service(url: str | None) -> Generator[SandboxServer]:
    """A service whose sandbox is on: the one at the URL, or one that is started.

    :raises SandboxError: if there is no such service.
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
    expected: Expected,
    server: SandboxServer,
) -> int:
    trace = _trace() if options.trace else None
    progress = ProgressLine(sys.stderr, OF_CLIENTS, shown=sys.stderr.isatty() and trace is None)
    cast = Cast(
        program,
        server,
        timeout_s=float(options.timeout),
        start_timeout_s=float(options.start_timeout),
        seed=options.seed,
        trace=trace,
        progress=progress,
        removes=options.url is not None,
    )
    if options.check:
        return check(cast, sys.stdout)
    try:
        adapter = start(cast)
    except OSError as error:
        sys.stderr.write(f"{NAME}: {program[0]} cannot be started: {error.strerror or error}\n")
        return NOT_CHECKED
    except AdapterFailed as error:
        log = "".join(f"\n  | {line}" for line in error.log.splitlines())
        sys.stderr.write(f"{NAME}: no hello from the adapter: {error}{log}\n")
        return NOT_AS_EXPECTED
    hello = adapter.hello
    began, started = datetime.now(UTC), time.monotonic()
    try:
        found = run(cast, known, chosen, options.jobs, adapter)
    finally:
        progress.end()
    results = {name: found[name] for name in chosen}
    kit = version("sample-resource-testkit")
    elapsed_s = time.monotonic() - started
    verdict = verdict_of(hello, results, expected, began.isoformat(timespec="seconds"), elapsed_s, kit)
    code = report(options, verdict, lambda judged: as_client_json(judged, hello, results))
    if not any(result.outcome in (Outcome.PASS, Outcome.FAIL) for result in results.values()):
        sys.stderr.write(f"{NAME}: nothing was run: the client has none of what was asked for\n")
        return NOT_CHECKED
    return code


def _trace() -> Trace:
    lock = threading.Lock()

    def write(name: str, line: str) -> None:
        with lock:
            sys.stderr.write("".join(f"{name}  {part}\n" for part in line.splitlines()))

    return write
