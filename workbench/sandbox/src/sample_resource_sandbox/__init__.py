"""The sandbox: throwaway projects for those who test clients, with faults on order and a journal of every request.

``docs/workbench/sandbox-reference.md`` is its manual. With ``SANDBOX=off`` only ``package.py`` is imported.
"""
