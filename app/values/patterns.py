"""The patterns of ids, keys and numbers in paths, parameters, scopes and tokens."""

import re

JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
"""The pattern of a JSON number (RFC 8259, section 6). It has to match the whole text."""

UUID_PATTERN = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
"""The pattern of a UUID as answers write it, in lower case. It has to match the whole text, with ``re.ASCII``."""

PROJECT_KEY_PATTERN = "[A-Za-z0-9_-]{1,64}"
"""The pattern of a project's key, which is the first segment of paths and the end of scopes."""
