"""Runs of tests: the projects of one run are counted together, and beyond their end for some time."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from app import errors
from sample_resource_sandbox.analysis.observer import Observer
from sample_resource_sandbox.analysis.tally import Tally

RUNS_AT_MOST = 1000


@dataclass(slots=True)
class Run:
    """A run.

    :param closed: what the projects have shown that are gone, or were reset.
    """

    name: str
    kept_until: datetime
    projects: int = 0
    closed: Tally = field(default_factory=Tally)
    observers: list[Observer] = field(default_factory=list[Observer])

    def tally(self) -> Tally:
        """What all projects have shown."""
        made = Tally()
        made.add(self.closed)
        for observer in list(self.observers):
            made.add(observer.tally())
            time.sleep(0)  # other greenlets run
        return made


class Runs:
    """The runs of the process.

    :param ttl_s: how long a run is kept once the last of its projects is gone.
    """

    def __init__(self, ttl_s: int) -> None:
        self._ttl = timedelta(seconds=ttl_s)
        self._runs: dict[str, Run] = {}

    def check_room(self, name: str) -> None:
        """Refuse one more run than may be.

        :raises ApiError: 400.
        """
        if name not in self._runs and len(self._runs) >= RUNS_AT_MOST:
            raise errors.invalid_input(
                f"The sandbox has at most {RUNS_AT_MOST} runs. Remove those that are not needed any more."
            )

    def begin(self, name: str, *, is_cut: bool = False) -> Run:
        """The run with this name, which may be new.

        :param is_cut: whether an earlier process has counted for it.
        """
        now = datetime.now(UTC)
        return self._runs.setdefault(name, Run(name, now + self._ttl, closed=Tally(is_cut=is_cut)))

    def join(self, name: str, observer: Observer, *, is_new: bool = True) -> None:
        """Count a project for a run, which begins with its first project.

        :param is_new: whether the project is one more; False for one that was reset.
        """
        run = self.begin(name)
        run.observers.append(observer)
        run.projects += is_new

    def leave(self, name: str, observer: Observer) -> None:
        """Keep what a project has shown that is gone, or reset; nothing if the run was removed."""
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
        """Forget a run."""
        self._runs.pop(name, None)

    def expired(self) -> list[str]:
        """The runs whose projects are gone, and whose time is over."""
        now = datetime.now(UTC)
        return [name for name, run in self._runs.items() if not run.observers and run.kept_until <= now]
