"""The results of a benchmark: all runs, their medians, and the ratios between servers."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """One turn of one server."""

    server: str
    operation: str
    connections: int
    round: int
    requests_per_s: float
    p50_ms: float
    p99_ms: float
    processor_s_per_1000: float
    """Processor seconds of the server's processes and its PostgreSQL backends, for each 1,000 requests."""
    postgres_s_per_1000: float
    """The part of these seconds that the backends used."""
    others: float
    """The share of the machine's processor time that other processes than the server, its backends and wrk used."""
    memory_distinct: int
    """Bytes at the end of the run, each page counted once."""
    memory_resident: int
    """Bytes at the end of the run, summed over processes."""


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one call of the benchmark."""

    command: str
    began: str
    machine: str
    rounds: int
    seconds: float
    workers: int
    threads: int
    count: int
    titles: Mapping[str, str]
    runs: Sequence[Run]
    invalid: Sequence[str]
    """Runs that did not count, with reasons; they were repeated."""

    def chosen(self, server: str, operation: str, connections: int) -> list[Run]:
        """The runs of a server for an operation and a number of connections, in the order of their rounds."""
        return [
            run for run in self.runs if (run.server, run.operation, run.connections) == (server, operation, connections)
        ]

    def median(self, server: str, operation: str, connections: int, value: Callable[[Run], float]) -> float | None:
        """The median over the rounds; None if there was no run."""
        values = [value(run) for run in self.chosen(server, operation, connections)]
        return statistics.median(values) if values else None

    def ratio(
        self,
        peer: str,
        operation: str,
        connections: int,
        value: Callable[[Run], float],
        server: str = "service",
        peer_operation: str | None = None,
    ) -> float | None:
        """The median over the rounds of the server's value divided by the peer's; None if one of them has no runs.

        :param peer_operation: what the peer did; None: the same.
        """
        of_peer = {run.round: value(run) for run in self.chosen(peer, peer_operation or operation, connections)}
        ratios = [
            value(own) / of_peer[own.round]
            for own in self.chosen(server, operation, connections)
            if own.round in of_peer
        ]
        return statistics.median(ratios) if ratios else None

    def operations(self) -> list[str]:
        """The measured operations, in the order of the runs."""
        return list(dict.fromkeys(run.operation for run in self.runs))

    def connections(self) -> list[int]:
        """The measured numbers of connections, in ascending order."""
        return sorted({run.connections for run in self.runs})

    def peak(self, server: str, value: Callable[[Run], int], peer: str | None = None) -> int | None:
        """The largest value over all runs of a server, or over those of operations that a peer has run too."""
        shared = {run.operation for run in self.runs if peer is None or run.server == peer}
        values = [value(run) for run in self.runs if run.server == server and run.operation in shared]
        return max(values, default=None)
