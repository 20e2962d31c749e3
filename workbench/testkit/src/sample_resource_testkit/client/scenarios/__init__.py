"""The scenarios, by theme."""
