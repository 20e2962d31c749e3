"""Numbers as JSON writes them."""

import re

JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
"""A number of JSON (RFC 8259, section 6), to be matched in full."""
