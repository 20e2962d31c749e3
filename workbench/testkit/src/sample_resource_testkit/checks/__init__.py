"""The checks, one module for each profile. ``docs/checks.md`` of the kit says how to add one."""
