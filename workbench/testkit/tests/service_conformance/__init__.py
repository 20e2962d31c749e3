"""The testkit against this service: a part of it in ``make test``, all of it with ``make conformance``."""
