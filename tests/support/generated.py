"""How many examples Hypothesis makes up: a part of them where people wait, all of them in ``make coverage``."""

import os

ALL = os.environ.get("HYPOTHESIS_EXAMPLES") == "all"


def examples(number: int) -> int:
    """The examples of a test.

    :param number: in ``make coverage``; elsewhere a quarter, and at least ten.
    """
    return number if ALL else max(10, number // 4)
