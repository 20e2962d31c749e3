"""Bulk operations: generating resources, and what operators do with all projects at once."""
