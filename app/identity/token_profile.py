"""The form of the service's access tokens: JWTs in the profile of RFC 9068, signed with ES256, with scopes."""

import re
from collections.abc import Iterable

from app.values.patterns import PROJECT_KEY_PATTERN

ALGORITHM = "ES256"

TOKEN_TYPE = "at+jwt"  # noqa: S105 -- the media type of RFC 9068, section 2.1

TOKEN_LIFETIME_S = 172_800
"""The lifetime of a token: two days, as on the platform."""

SCOPE_NAMES = ("manage_test", "view_test", "view_products", "view_published_products")
"""The names of all scopes (interface 5). No scope includes another."""

SCOPE = re.compile(f"(?:{'|'.join(SCOPE_NAMES)}):{PROJECT_KEY_PATTERN}")
"""The form of a scope: its name, a colon, and the key of the project for which it is valid."""


def projects_of(scopes: Iterable[str]) -> set[str]:
    """The keys of the projects that scopes name."""
    return {scope.partition(":")[2] for scope in scopes}
