"""Metrics for Prometheus, which processes share, and log lines. ``metrics`` imports ``shared_folder``."""
