"""The runs of tests: the projects of a run are counted together, and the counts outlive the projects for some time."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from app import errors
from sample_resource_sandbox.analysis.observer import Observer
from sample_resource_sandbox.analysis.tally import Tally

RUNS_AT_MOST = 1000

_PAUSE_S = 0.0005
"""The pause between the results of two projects, in which other requests of the process run."""


@dataclass(slots=True)
class Run:
    """A run of tests, with the results of its projects.

    :param kept_until: the earliest time of its removal, if it has no project.
    :param closed: the results of projects that are gone, and the results of projects before a reset.
    """

    kept_until: datetime
    closed: Tally = field(default_factory=Tally)
    observers: list[Observer] = field(default_factory=list[Observer])

    def tally(self) -> Tally:
        """The results of all projects of the run."""
        made = Tally()
        made.add(self.closed)
        for observer in list(self.observers):
            made.add(observer.tally())
            time.sleep(_PAUSE_S)
        return made


class Runs:
    """The runs of the process.

    :param ttl_s: the seconds for which a run is kept after its last project is gone.
    """

    def __init__(self, ttl_s: int) -> None:
        self._ttl = timedelta(seconds=ttl_s)
        self._runs: dict[str, Run] = {}

    def check_room(self, name: str) -> None:
        """Refuse a new run if there are already the most runs.

        :raises ApiError: 400.
        """
        if name not in self._runs and len(self._runs) >= RUNS_AT_MOST:
            raise errors.invalid_input(
                f"The sandbox has at most {RUNS_AT_MOST} runs. Remove those that are not needed any more."
            )

    def begin(self, name: str, *, is_cut: bool = False) -> Run:
        """The run with a name. It is made if it does not exist.

        :param is_cut: whether an earlier process has counted requests of the run.
        """
        now = datetime.now(UTC)
        return self._runs.setdefault(name, Run(now + self._ttl, closed=Tally(is_cut=is_cut)))

    def join(self, name: str, observer: Observer) -> None:
        """Add a project to a run. The run is made with its first project."""
        self.begin(name).observers.append(observer)

    def leave(self, name: str, observer: Observer) -> None:
        """Keep the results of a project that is gone or was reset. Does nothing if the run was removed."""
        run = self._runs.get(name)
        if run is not None and observer in run.observers:
            run.closed.add(observer.tally())
            run.observers.remove(observer)
            run.kept_until = datetime.now(UTC) + self._ttl

    def find(self, name: str) -> Run:
        """The run with this name.

        :raises ApiError: 404.
        """
        if name not in self._runs:
            raise errors.ApiError([errors.Fault("ResourceNotFound", f"The sandbox has no run {name[:100]!r}.")])
        return self._runs[name]

    def remove(self, name: str) -> None:
        """Remove a run."""
        self._runs.pop(name, None)

    def expired(self) -> list[str]:
        """The names of the runs whose projects are gone and whose time is over."""
        now = datetime.now(UTC)
        return [name for name, run in self._runs.items() if not run.observers and run.kept_until <= now]
