"""Metrics for Prometheus, log lines and spans, and how processes share the metrics.

Imports run down only, in this order: ``lasting_threads``, ``metrics``, ``shared_folder``.
"""
