"""Figures that checks show."""

from collections.abc import Callable

Report = Callable[[str], None]
"""Shows a line beside the name of the check, also if the check passes."""
