"""Faults by theme; each module adds its own to the list in :mod:`planted`."""

from . import (
    errors,
    http,
    identity,
    lists,
    parameters,
    predicates,
    races,
    reading,
    sample_endpoints,
    searching,
    values,
    writing,
)

__all__ = [
    "errors",
    "http",
    "identity",
    "lists",
    "parameters",
    "predicates",
    "races",
    "reading",
    "sample_endpoints",
    "searching",
    "values",
    "writing",
]

WITHOUT_A_FAULT = """
2.1-1 2.1-2 2.1-3 2.1-7 2.1-9 2.1-10 2.1-13
4-6 4-7 4-14 4-17
2.2-1 2.2-2 2.2-8
2.3-1 2.3-7 2.3-9 2.3-11 2.3-12 2.3-17 2.3-18 2.3-19 2.3-20 2.3-21
9-8 9-9 9-10 9-11 9-13 9-17 9-22 9-23 9-26
3-9 3-10 3-11
2.6-1 2.6-3 2.6-4 2.6-5 2.6-6 2.6-7
4.1-1 4.1-5 4.1-7 4.1-9 4.1-13 4.1-14 4.1-16 4.1-17
4.2-5
4.3-1 4.3-3
4.5-4 4.5-5
4.6-1 4.6-3 4.6-4 4.6-5 4.6-8 4.6-10 4.6-12
4.7-2 4.7-3 4.7-4 4.7-6 4.7-7
4.8-2 4.8-3 4.8-4 4.8-6 4.8-7 4.8-8 4.8-9
4.10-2 4.10-4 4.10-5 4.10-6 4.10-8 4.10-9
4.11-4 4.11-6
4.12-1 4.12-2 4.12-6 4.12-7 4.12-10 4.12-13 4.12-14 4.12-20 4.12-21
Q-2 Q-4 Q-8 Q-9 Q-13 Q-14 Q-17 Q-18 Q-20 Q-21 Q-22 Q-23 Q-25 Q-26 Q-27 Q-28 Q-29 Q-30 Q-31 Q-32 Q-34 Q-35 Q-36 Q-37
Q-38 Q-39 Q-40 Q-41 Q-42 Q-43 Q-44 Q-45 Q-46 Q-47 Q-48 Q-49 Q-50 Q-51 Q-52
4.4-1 4.4-2 4.4-3 4.4-4 4.4-6 4.4-7
4.14-1 4.14-3 4.14-4 4.14-5 4.14-6 4.14-8
S-3 S-6 S-7 S-8 S-11 S-13 S-14 S-16 S-18 S-19 S-20 S-21 S-22 S-26 S-27 S-29 S-30 S-32 S-35 S-36 S-39 S-41 S-42 S-43
S-45 S-46 S-47 S-48 S-49 S-50 S-51 S-52 S-53 S-54
2.4-1 2.4-2 2.4-4 2.4-6
4.9-1 4.9-7 4.9-8 4.9-11 4.9-12
4.13-1 4.13-2 4.13-4 4.13-5
A-1 A-3 A-5 A-13 A-14 A-15 A-17 A-19 A-20 A-21 A-22 A-24 A-26 A-27 A-28 A-29 A-30 A-31 A-32 A-33 A-37 A-38 A-40
E-4 E-8 E-11 E-14 E-15 E-16 E-18 E-20 E-23 E-24 E-25 E-26 E-28 E-31 E-32 E-33 E-34 E-35
H-3 H-4 H-9 H-10 H-21 H-22
"""
"""The clauses that were there before each needed a fault. None is added: what is new has a fault."""
