"""Faults for the reference adapter, each with the scenarios that speak of it.

A fault is a function that changes the module of the adapter before it runs. All scenarios are run with it: those that
it names fail, and no others but those that rest on them, which are not reachable.
"""

from importlib import import_module
from pathlib import Path

from client_faults.planting import FAULTS, Fault

__all__ = ["FAULTS", "Fault"]

for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
    import_module(f"client_faults.{file.stem}")
