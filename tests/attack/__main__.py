"""``python -m tests.attack``: start a service, run all cases against it, print the table; exit with 1 if one failed.

The service listens on a free port of 127.0.0.1, has two workers, a database of its own and the sandbox, and is removed
at the end. Nothing is sent anywhere else.
"""

import argparse
import sys
import time

import click

from tests.attack import cases_connections, cases_http, cases_identity, cases_journal, cases_outside, cases_sandbox
from tests.attack.table import CASES, METRICS_TOKEN, as_text, carried_out
from tests.faults.service import Service

MODULES = (cases_http, cases_identity, cases_connections, cases_sandbox, cases_journal, cases_outside)
"""Each adds its cases to the table when it is imported."""

_WITHIN_S = 1200.0


def main() -> int:
    """Run the cases whose group or title contains a word, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--only", metavar="WORD", default="", help="the cases whose group or title contains WORD")
    only = parser.parse_args().only.lower()
    in_order = sorted(CASES, key=lambda one: MODULES.index(sys.modules[one.run.__module__]))
    chosen = [one for one in in_order if only in f"{one.group} {one.title}".lower()]
    if not chosen:
        parser.error(f"no case contains {only!r}")
    service = Service(SANDBOX="on", METRICS_TOKEN=METRICS_TOKEN)
    began = time.monotonic()
    outcomes = []
    try:
        for one in chosen:
            if time.monotonic() - began > _WITHIN_S:
                click.echo(f"The time is over; {len(chosen) - len(outcomes)} cases were not run.", err=True)
                break
            outcome = carried_out(one, service)
            outcomes.append(outcome)
            held = "held" if not outcome.failures else "FAILED"
            click.echo(f"{held:6}  {outcome.seconds:6.1f} s  {one.group}: {one.title}", err=True)
    finally:
        service.remove()
    click.echo(as_text(outcomes))
    return int(len(outcomes) < len(chosen) or any(outcome.failures for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
