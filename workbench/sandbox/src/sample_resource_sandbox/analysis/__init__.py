"""The analysis of a journal: a client's findings, its recovery from faults, what it has exercised, and the report."""
