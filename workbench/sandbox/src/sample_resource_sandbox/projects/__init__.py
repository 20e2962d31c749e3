"""Sandbox projects: their rows, what workers know of them and tell one another, their clocks and ids."""
