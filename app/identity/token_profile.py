"""What an access token of the service is: a JWT in the profile of RFC 9068, signed with ES256."""

ALGORITHM = "ES256"

TOKEN_TYPE = "at+jwt"  # noqa: S105 -- the media type of RFC 9068, section 2.1

TOKEN_LIFETIME_S = 172_800
"""Two days, as on the platform."""
