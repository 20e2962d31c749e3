"""Metrics for Prometheus, which processes share, and log lines.

Modules import only modules to their right in this order: ``lasting_threads``, ``metrics``, ``shared_folder``.
"""
