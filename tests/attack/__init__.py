"""Hostile requests against a service of this program's own, as a stranger would send them: ``make attack``.

Not part of ``make test``, since it takes minutes and measures times. ``docs/security.md`` has its table.
"""
