"""Faults for the reference adapter, each with the scenarios that speak of it.

A fault is a function that changes the module of the adapter before it runs. All scenarios are run with it: those that
it names fail, and no others but those that rest on them, which are not reachable.
"""

from client_faults import (
    behaving,
    behaving_tokens,
    failing,
    other_spellings,
    returning,
    sending_bodies,
    sending_parameters,
    sending_values,
)
from client_faults.planting import FAULTS, Fault

__all__ = ["FAULTS", "MODULES", "Fault"]

MODULES = (
    behaving,
    behaving_tokens,
    failing,
    other_spellings,
    returning,
    sending_bodies,
    sending_parameters,
    sending_values,
)
