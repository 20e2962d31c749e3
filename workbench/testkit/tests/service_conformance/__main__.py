"""Every clause of the specification against this service: ``make conformance``."""

import argparse
import shutil
import sys

from service_conformance.services import behind_pgbouncer, checked, embedded
from tests.pooler.test_behind_pgbouncer import PROGRAM

WAYS = {
    "workers": ("embedded, on two workers", embedded),
    "pooler": ("behind PgBouncer, on two workers", behind_pgbouncer),
}


def main() -> None:
    """Check in each way, and exit with 1 if something fails in one of them."""
    parser = argparse.ArgumentParser(prog="make conformance", description=__doc__)
    parser.add_argument("--only", choices=WAYS, help="only in this way")
    options, kit_options = parser.parse_known_args()
    ways = [options.only] if options.only else list(WAYS)
    if "pooler" in ways and shutil.which(PROGRAM[0]) is None:
        sys.exit(
            "make conformance needs PgBouncer (Debian: apt install pgbouncer), PGBOUNCER=..., or ARGS='--only workers'"
        )
    codes: list[int] = []
    for way in ways:
        name, start = WAYS[way]
        with start() as service:
            codes.append(checked(name, service, *kit_options))
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
