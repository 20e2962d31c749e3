"""The sandbox: throwaway projects for those who test clients, with faults on demand and a journal of every request.

``docs/workbench/sandbox-reference.md`` is its reference. With ``SANDBOX=off`` the service imports only ``package.py``.
"""
