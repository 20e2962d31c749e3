"""Every clause of the specification against this service: ``make conformance``."""

import argparse
import sys

from service_conformance.services import checked, embedded, on_two_workers

WAYS = {
    "sandbox": ("with the sandbox, on one worker", embedded),
    "workers": ("on two workers", on_two_workers),
}


def main() -> None:
    """Check in each way, and exit with 1 if something fails in one of them."""
    parser = argparse.ArgumentParser(prog="make conformance", description=__doc__)
    parser.add_argument("--only", choices=WAYS, help="only in this way")
    options, kit_options = parser.parse_known_args()
    ways = [options.only] if options.only else list(WAYS)
    codes: list[int] = []
    for way in ways:
        name, start = WAYS[way]
        with start() as service:
            codes.append(checked(name, service, *kit_options))
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
