"""Measures work by the number of function calls, which is the same on a slow or busy machine."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

CALLS_IN_50_MS = 200_000
"""Function calls that take well under 50 ms: 100,000 calls of a parser took 13 ms."""

CALLS_IN_100_MS = 800_000
"""Function calls that take less than 100 ms: 760,000 of the parser took 82 ms."""

STUCK_S = 1.0
"""CPU time that only a single call into C can exceed, such as a regular expression that backtracks."""


def assert_under_50_ms(work: Callable[[], object], refusal: type[Exception]) -> None:
    """Fail if the work makes too many function calls, or if a single call into C takes very long.

    :param refusal: an exception that the work may raise.
    """
    _assert_at_most(CALLS_IN_50_MS, work, refusal)


def assert_under_100_ms(work: Callable[[], object], refusal: type[Exception]) -> None:
    """Fail as :func:`assert_under_50_ms` does, with a limit for the largest texts that are parsed."""
    _assert_at_most(CALLS_IN_100_MS, work, refusal)


def _assert_at_most(calls: int, work: Callable[[], object], refusal: type[Exception]) -> None:
    began = time.process_time()
    with suppress(refusal):
        work()
    assert time.process_time() - began < STUCK_S
    assert _calls(work, refusal) < calls


def _calls(work: Callable[[], object], refusal: type[Exception]) -> int:
    count = 0

    def profile(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        if event in {"call", "c_call"}:
            count += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        with suppress(refusal):
            work()
    finally:
        sys.setprofile(before)
    return count
