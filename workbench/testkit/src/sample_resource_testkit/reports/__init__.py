"""Writes the reports on a verdict: for the terminal, as HTML, as JUnit XML, and as JSON."""
