"""How much work something is, in a measure that a slow, busy or traced machine does not change."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

CALLS_IN_50_MS = 200_000
"""Calls that take well under 50 ms: 100,000 of a parser's were measured to take 13."""

STUCK_S = 1.0
"""What no machine needs for ten kilobytes, unless one call into C (a regular expression, a sum) goes astray."""


def assert_under_50_ms(work: Callable[[], object], refusal: type[Exception]) -> None:
    """Hold work to a number of calls of functions, and the calls themselves to a time that only a blow-up reaches."""
    began = time.process_time()
    with suppress(refusal):
        work()
    assert time.process_time() - began < STUCK_S
    assert _calls(work, refusal) < CALLS_IN_50_MS


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
