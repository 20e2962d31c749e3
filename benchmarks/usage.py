"""What processes use, read from Linux's /proc: processor time, and memory with shared pages counted once."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def tree(root: int) -> set[int]:
    """A process and all its descendants; empty if it is gone."""
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
    """The fields of a process's stat from its state on, which is the third; None if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def processor_seconds(pids: Iterable[int]) -> dict[int, float]:
    """Processor time of each process so far, in user and kernel mode, all its threads together."""
    used: dict[int, float] = {}
    for pid in pids:
        stat = _stat(pid)
        if stat is not None:
            used[pid] = (int(stat[11]) + int(stat[12])) * _TICK_S
    return used


def used_between(before: Mapping[int, float], after: Mapping[int, float]) -> float:
    """Processor seconds between two readings; a process that is new since then counts in whole."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())


@dataclass(frozen=True, slots=True)
class Machine:
    """Processor seconds of the whole machine so far."""

    busy: float
    idle: float

    @classmethod
    def now(cls) -> "Machine":
        """A reading."""
        numbers = [int(text) for text in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        idle = numbers[3] + numbers[4]
        return cls((sum(numbers) - idle) * _TICK_S, idle * _TICK_S)

    def others_since(self, before: "Machine", own: float) -> float:
        """The part of the time since an earlier reading that went to others, if so many seconds went to us."""
        busy = self.busy - before.busy
        return max(0.0, busy - own) / (busy + self.idle - before.idle)


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of a group of processes, in bytes."""

    distinct: int
    """Each page once: private and file pages by their proportional share, shared memory by its largest view."""
    resident: int
    """The sum of resident set sizes, which counts a shared page in each process that has touched it."""


def memory(pids: Iterable[int]) -> Memory:
    """What a group of processes holds now; one that ends meanwhile does not count."""
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
