"""Ids of API clients, which also issuers and exports name."""

CLIENT_ID_AT_MOST = 256
"""Characters."""
