"""Waits for conditions that other processes bring about."""

import contextlib
import time
from collections.abc import Callable
from http.client import HTTPException

import psutil


def wait_until(
    holds: Callable[[], bool],
    within_s: float = 120.0,
    report: Callable[[], str] = lambda: "the condition does not hold",
) -> float:
    """Wait until a condition holds, and return the seconds that it took.

    If the condition fails because of a connection or a process, it does not hold yet.

    :param report: makes the message of the AssertionError if the condition does not hold in time.
    """
    began = time.monotonic()
    while time.monotonic() - began < within_s:
        with contextlib.suppress(OSError, HTTPException, psutil.NoSuchProcess):
            if holds():
                return time.monotonic() - began
        time.sleep(0.05)
    raise AssertionError(f"not within {within_s:g} s: {report()}")
