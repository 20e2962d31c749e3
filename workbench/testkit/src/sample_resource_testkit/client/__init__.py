"""Holds clients against the specification: drives an adapter, and judges what it sends and what it returns."""
