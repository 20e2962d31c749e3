"""Bulk operations on resources: generating, exporting, importing, and checking derived data."""
