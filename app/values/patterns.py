"""What ids, keys and numbers look like, wherever they stand: in paths, parameters, scopes, tokens and exports."""

import re

JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
"""A number of JSON (RFC 8259, section 6), to be matched in full."""

UUID_PATTERN = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
"""A regular expression for a UUID as answers write it, in lower case; to be matched in full, and in ASCII."""

PROJECT_KEY_PATTERN = "[A-Za-z0-9_-]{1,64}"
"""A regular expression for the key of a project: the first segment of a path, and the end of every scope."""

CLIENT_ID_AT_MOST = 256
"""Characters of the id of an API client."""
