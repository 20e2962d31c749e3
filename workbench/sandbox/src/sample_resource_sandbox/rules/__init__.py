"""Orders for faults: which requests they match and when they are due."""
