"""Decides who may use the routes of the sandbox: no page of another site and, if a token is set, only its holder.

A browser sends the requests of a page to any address of its machine, with the host name that the page has chosen and
with an Origin. The guard checks Host and Origin, so that no open page of another site can make projects. A proxy on
this machine forwards requests of other machines with any Host. So without a token, requests with headers that proxies
add are refused.
"""

import ipaddress
from urllib.parse import urlsplit

from flask import Request, request

from app import errors
from app.identity.gate import raise_unless_bearer

_REALM = "sandbox"

_FORWARDING = (
    "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port",
    "X-Forwarded-Prefix", "X-Forwarded-Server", "X-Real-IP", "X-Client-IP", "X-Cluster-Client-IP", "X-Original-URL",
    "X-Envoy-External-Address", "True-Client-IP", "CF-Connecting-IP", "CF-Ray", "CDN-Loop", "Fly-Client-IP",
    "X-Amzn-Trace-Id",
)  # fmt: skip
"""The headers that proxies add to the requests that they forward."""


class Guard:
    """Checks each request to the sandbox.

    :param token: the bearer token that requests need. None: requests need no token, but have to come from this machine.
    """

    def __init__(self, token: str | None) -> None:
        self.token = token

    def check(self, *, is_public: bool = False) -> None:
        """Check the current request, before its view.

        :param is_public: whether the view needs no token.

        :raises ApiError: 403 for a foreign Host, Origin or site, 401 without the token.
        """
        if self.token is None:
            if not is_loopback_host(request):
                raise _refused("Without SANDBOX_TOKEN the sandbox answers to localhost, 127.0.0.1 and [::1] only.")
            if not _is_loopback_peer(request):
                raise _refused("Without SANDBOX_TOKEN the sandbox answers to this machine only.")
            forwarding = next((name for name in _FORWARDING if name in request.headers), None)
            if forwarding is not None:
                raise _refused(f"Without SANDBOX_TOKEN the sandbox refuses proxies, which add the header {forwarding}.")
        origin = request.headers.get("Origin")
        if origin is not None and origin != f"{request.scheme}://{request.host}":
            raise _refused("The sandbox refuses pages of another origin.")
        if request.headers.get("Sec-Fetch-Site") == "cross-site":
            raise _refused("The sandbox refuses pages of another site.")
        if self.token is not None and not is_public:
            raise_unless_bearer(self.token, _REALM)


def is_loopback_host(request: Request) -> bool:
    """Whether the Host of a request is a loopback host. In HTTP/1.0 it may be missing."""
    try:
        host = urlsplit(f"//{request.environ.get('HTTP_HOST', '')}").hostname
    except ValueError:
        return False
    return host in ("localhost", "127.0.0.1", "::1")


def _is_loopback_peer(request: Request) -> bool:
    """Whether the connection comes from this machine. One without an address is a Unix socket."""
    address = request.remote_addr or ""
    try:
        return not address or ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _refused(message: str) -> errors.ApiError:
    return errors.ApiError([errors.Fault("insufficient_scope", message)])
