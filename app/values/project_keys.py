"""What the key of a project looks like: the first path segment of the interface, and the end of every scope."""

PROJECT_KEY_PATTERN = "[A-Za-z0-9_-]{1,64}"
"""A regular expression for the whole key."""
