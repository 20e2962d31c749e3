"""Faults by theme; each module adds its own to the list in :mod:`planted`."""

from . import errors, http, identity, parameters, reading

__all__ = ["errors", "http", "identity", "parameters", "reading"]
