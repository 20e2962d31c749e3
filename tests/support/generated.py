"""How many examples Hypothesis generates: all of them in ``make coverage``, and fewer while somebody waits."""

import os

ALL = os.environ.get("HYPOTHESIS_EXAMPLES") == "all"


def examples(number: int) -> int:
    """The number of examples for a test.

    :param number: the number in ``make coverage``; elsewhere a quarter of it, but at least ten.
    """
    return number if ALL else max(10, number // 4)
