"""Tests clients against the specification: it drives an adapter, and judges its requests and its results."""
