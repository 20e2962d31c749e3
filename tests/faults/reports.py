"""Figures for whoever runs the checks."""

from collections.abc import Callable

Report = Callable[[str], None]
"""Shows a line beside the check's name, also if the check holds."""
