"""A module that takes the process for its own."""

raise SystemExit("it ends")
