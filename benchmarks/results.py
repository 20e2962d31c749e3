"""What a benchmark found: all its runs, and the medians and ratios that are told of."""

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
    """What of it the backends used."""
    others: float
    """The part of the machine's processor time that went to anything else than the server, its backends and wrk."""
    memory_distinct: int
    """Bytes at the end of the run, each page counted once."""
    memory_resident: int
    """Bytes at the end of the run, summed over processes."""


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that one call of the benchmark measured."""

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
    """Runs that do not count, each with its reason; they were repeated."""
    starts_s: Sequence[float]
    mocked_filter_s: float | None
    mocked_count: int

    def chosen(self, server: str, operation: str, connections: int) -> list[Run]:
        """The runs of a cell, in the order of their rounds."""
        return [
            run for run in self.runs if (run.server, run.operation, run.connections) == (server, operation, connections)
        ]

    def median(self, server: str, operation: str, connections: int, value: Callable[[Run], float]) -> float | None:
        """The median of the rounds; None if there was no run."""
        values = [value(run) for run in self.chosen(server, operation, connections)]
        return statistics.median(values) if values else None

    def ratio(
        self, peer: str, operation: str, connections: int, value: Callable[[Run], float], server: str = "service"
    ) -> float | None:
        """The median of the ratios of each round: the server's value by the peer's; None if either has no runs."""
        of_peer = {run.round: value(run) for run in self.chosen(peer, operation, connections)}
        ratios = [
            value(own) / of_peer[own.round]
            for own in self.chosen(server, operation, connections)
            if own.round in of_peer
        ]
        return statistics.median(ratios) if ratios else None

    def operations(self) -> list[str]:
        """The operations that were measured, in their order."""
        return list(dict.fromkeys(run.operation for run in self.runs))

    def connections(self) -> list[int]:
        """The numbers of connections that were measured."""
        return sorted({run.connections for run in self.runs})

    def peak(self, server: str, value: Callable[[Run], int]) -> int | None:
        """The largest value over all runs of a server."""
        return max((value(run) for run in self.runs if run.server == server), default=None)
