"""Faults by theme; each module adds its own to the list in :mod:`planted`."""

from . import (
    errors,
    http,
    identity,
    lists,
    predicates,
    races,
    reading,
    searching,
    values,
    writing,
)

__all__ = [
    "errors",
    "http",
    "identity",
    "lists",
    "predicates",
    "races",
    "reading",
    "searching",
    "values",
    "writing",
]
