"""Metrics for Prometheus, which processes share, log lines and spans.

Modules import only modules to their right in this order: ``lasting_threads``, ``metrics``, ``shared_folder``.
"""
