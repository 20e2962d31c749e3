"""Processor time and memory of processes, read from Linux's /proc. Shared pages count once."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def tree(root: int) -> set[int]:
    """The ids of a process and all its descendants; empty if the process has ended."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            stat = _stat(int(entry.name))
            if stat is not None:
                parents[int(entry.name)] = int(stat[1])
    if root not in parents:
        return set()
    found = {root}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def _stat(pid: int) -> list[str] | None:
    """The fields of ``/proc/<pid>/stat`` from the third, the state, on; None if the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def processor_seconds(pids: Iterable[int]) -> dict[int, float]:
    """The processor seconds of each process so far, in user and kernel mode, of all its threads."""
    used: dict[int, float] = {}
    for pid in pids:
        stat = _stat(pid)
        if stat is not None:
            used[pid] = (int(stat[11]) + int(stat[12])) * _TICK_S
    return used


def used_between(before: Mapping[int, float], after: Mapping[int, float]) -> float:
    """The processor seconds between two readings. All seconds of a process that started in between count."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())


@dataclass(frozen=True, slots=True)
class Machine:
    """The processor seconds of the whole machine so far."""

    busy: float
    idle: float

    @classmethod
    def now(cls) -> "Machine":
        """Read them from /proc/stat."""
        numbers = [int(text) for text in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        idle = numbers[3] + numbers[4]
        return cls((sum(numbers) - idle) * _TICK_S, idle * _TICK_S)

    def others_since(self, before: "Machine", own: float) -> float:
        """The share of processor time since an earlier reading that other processes used.

        :param own: processor seconds in that time that do not count as those of others.
        """
        busy = self.busy - before.busy
        return max(0.0, busy - own) / (busy + self.idle - before.idle)


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of a group of processes, in bytes."""

    distinct: int
    """Each page once: the proportional set sizes of private and file pages, and the largest share of shared memory."""
    resident: int
    """The sum of resident set sizes, in which a shared page counts for each process that has touched it."""


def memory(pids: Iterable[int]) -> Memory:
    """The memory of a group of processes. A process that has ended does not count."""
    proportional = shared = resident = 0
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        rolled_up, of_status = _kilobytes(text), _kilobytes(status)
        proportional += rolled_up.get("Pss_Anon", 0) + rolled_up.get("Pss_File", 0)
        shared = max(shared, of_status.get("RssShmem", 0))
        resident += of_status.get("VmRSS", 0)
    return Memory((proportional + shared) * 1024, resident * 1024)


def _kilobytes(text: str) -> dict[str, int]:
    values: dict[str, int] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if len(words) == 2 and words[1] == "kB":
            values[name] = int(words[0])
    return values
