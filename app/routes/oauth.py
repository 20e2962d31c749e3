"""The OAuth endpoints: token, introspection, revocation (RFC 6749, 7662, 7009).

The gate does not check requests to them, because a client authenticates with its credentials, not with a token.
"""

import json
from typing import Any

from flask import Response, request

from app.http.answers import json_answer
from app.http.arguments import Blueprint, Endpoint
from app.identity.scopes import public
from app.openapi.marks import Answer, operation
from app.routes.services import authorization_server

blueprint = Blueprint("oauth", __name__)


def _uncached(body: dict[str, Any]) -> Response:
    """A JSON answer that no cache may keep (RFC 6749, section 5.1)."""
    answer = json_answer(json.dumps(body))
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Pragma"] = "no-cache"
    return answer


@blueprint.route("/oauth/token")
class Token(Endpoint):
    """The token endpoint."""

    @public
    @operation(
        "getToken",
        Answer(200, "Token", "an access token"),
        form="TokenRequest",
        error_codes=("invalid_request", "invalid_scope", "unsupported_grant_type", "invalid_client"),
    )
    def post(self) -> Response:
        """Issue an access token for client credentials.

        The client sends its credentials by HTTP Basic or as form fields (RFC 6749). Without `scope` the token has all
        scopes of the client. A client that asks for more scopes than it has gets no token.
        """
        return _uncached(authorization_server().grant(request))


@blueprint.route("/oauth/introspect")
class Introspection(Endpoint):
    """The introspection endpoint."""

    @public
    @operation(
        "introspectToken",
        Answer(200, "Introspection", "what the token says, or that it is not active"),
        form="TokenToExamine",
        error_codes=("invalid_request", "invalid_client"),
    )
    def post(self) -> Response:
        """Tell whether a token is valid and what it says.

        The client that the token was issued to may ask. If the token has scopes, so may a client that has scopes for
        every project that these scopes name (RFC 7662). To any other client, and for an invalid token, the answer is
        only that the token is not active.
        """
        return _uncached(authorization_server().introspect(request))


@blueprint.route("/oauth/revoke")
class Revocation(Endpoint):
    """The revocation endpoint."""

    @public
    @operation(
        "revokeToken",
        Answer(200, "Nothing", "the token is not valid any more, if it ever was"),
        form="TokenToExamine",
        error_codes=("invalid_request", "invalid_grant", "invalid_client"),
    )
    def post(self) -> Response:
        """Revoke one of the client's own tokens (RFC 7009).

        Every process refuses the token within 5 seconds. Revoking an invalid token is no error.
        """
        return _uncached(authorization_server().revoke(request))
