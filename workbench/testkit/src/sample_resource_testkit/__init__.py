"""Holds a server against the specification of the sample resource service, over HTTP alone.

The command is ``sample-resource-conformance``. The fixtures for tests of clients are in :mod:`.plugin`.
"""
