"""Metrics for Prometheus, log lines and spans: what is counted and told, and how processes share the counts.

Imports run down only, in this order: ``lasting_threads``, ``metrics``, ``shared_folder``.
"""
