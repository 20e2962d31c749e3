"""Metrics for Prometheus: what is counted, how processes share it, and a port that serves it.

Imports run down only, in this order: ``metrics_server``, ``metrics``, ``shared_folder``.
"""
