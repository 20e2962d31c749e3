"""Minutes of mixed load near the service's capacity, followed by an audit of all acknowledged writes.

Run it with ``python -m benchmarks.soak --minutes 10`` in the repository's folder. It starts the service as ``make run``
does, with data of its own, measures how many requests per second it answers, and then sends a share of that rate. At
the end every resource and version has to be as the clients recorded it.
"""

import statistics
import time

import click

from tests.faults.load import LIST, Load
from tests.faults.service import Service

UPDATERS, CREATORS, READERS = 6, 4, 6
READS = (
    "/{id}",
    LIST,
    "?arrayOfString=dog&limit=5",
    "/sorted-query-parameters?sort=createdAt%20desc&withTotal=false",
    "/sorted-query-parameters?where=version%20%3E%203&limit=5",
    "/searchApiPattern?text.en=dog&limit=5",
)
WARM_UP_S = 10.0


def _load(service: Service, interval_s: float) -> Load:
    return Load(service, UPDATERS, CREATORS, READERS, interval_s, READS)


def _per_second(load: Load, seconds: float) -> float:
    before = len(load.answers)
    time.sleep(seconds)
    return (len(load.answers) - before) / seconds


@click.command(help=__doc__)
@click.option("--minutes", default=10.0, show_default=True)
@click.option("--share", default=0.8, show_default=True, help="Of the capacity.")
def main(minutes: float, share: float) -> None:
    service = Service()
    try:
        with _load(service, 0.0) as load:
            time.sleep(2)
            capacity = _per_second(load, WARM_UP_S)
        load.audit()
        click.echo(f"capacity for these clients: {capacity:.0f} requests/s; kept up: {share:.0%}, {minutes:g} minutes")
        resident = [worker.memory_info().rss for worker in service.workers]
        with _load(service, (UPDATERS + CREATORS + READERS) / (capacity * share)) as load:
            rate = _per_second(load, minutes * 60)
        after = [worker.memory_info().rss for worker in service.workers]
        click.echo(f"answered: {rate:.0f} requests/s; {load.audit()}")
        waits = statistics.quantiles([answer.seconds for _, answer in load.answers], n=1000)
        click.echo(
            f"wait: median {waits[499] * 1000:.1f} ms, p99 {waits[989] * 1000:.0f} ms, p99.9 {waits[998] * 1000:.0f} ms"
        )
        versions = sum(counter.version - 1 for counter in load.counters)
        click.echo(
            f"audited: {len(load.counters)} resources whose versions sum up to {versions} updates,"
            f" {len(load.created)} created and there, {len(load.deleted)} created and deleted"
        )
        pairs = ", ".join(f"{was / 2**20:.0f} to {now / 2**20:.0f}" for was, now in zip(resident, after, strict=True))
        click.echo(f"memory of the workers, MiB: {pairs}")
        click.echo(f"warnings and errors in the log: {service.complaints() or 'none'}")
    finally:
        service.remove()


if __name__ == "__main__":
    main()
