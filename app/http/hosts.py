"""Checks the Host header, and the addressing parameters in it (interface 2.1)."""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from flask import Request

from app import errors
from app.config import HOST_LABEL, Settings, is_loopback
from app.http.request_log import add_log_fields

_LABEL = "(?:[A-Za-z0-9_~!$&'()*+,;=-]|%[0-9A-Fa-f]{2}){1,63}"

_HOST = re.compile(rf"((?:{_LABEL}(?:\.{_LABEL})*\.?)?|\[[0-9A-Fa-f:.]+\])(:[0-9]*)?")
"""The form of a Host header (RFC 9110, section 7.2): a name or an address, which may be empty, and an optional port.
Between the dots of a name are 1 to 63 characters, which werkzeug demands, too."""


def host_check(settings: Settings) -> Callable[[Request], None]:
    """Make a hook that checks the Host of each request (RFC 9112, section 3.2) before the view. The hook raises an
    ApiError, 400, for a host that is missing, malformed or not served. A request of HTTP/1.0 needs no Host header,
    unless ``BASE_DOMAIN`` is set.

    The hook reads the host from ``HTTP_HOST``. This is the Host header, unless a middleware has replaced it: RawPath if
    the request line has a whole URL, by the URL's host; ProxyFix by the host that a trusted proxy names.

    Without ``BASE_DOMAIN`` every well-formed host is served. With ``BASE_DOMAIN`` two kinds of host are served:

    - ``api.{region}.{cloudProvider}.<BASE_DOMAIN>``. The hook adds the region and the cloud provider to the log line of
      the request.
    - The service's own address. This is the host of ``base_url``, the URL that the service prints and publishes. If
      this machine reaches gunicorn at a loopback address, it is also ``localhost`` and every loopback address.
    """
    published_host, base_domain = urlsplit(settings.base_url).hostname, settings.base_domain
    pattern = re.compile(
        rf"api\.(?P<region>{HOST_LABEL})\.(?P<cloudProvider>{HOST_LABEL})\.{re.escape(base_domain or '')}(?::[0-9]*)?",
        re.IGNORECASE | re.ASCII,
    )

    def is_own(name: str | None) -> bool:
        """Whether a name or address is the service's own: the published host or, if gunicorn can be reached at a
        loopback address, any loopback name or address."""
        # own_host is the host at which this machine reaches gunicorn: 127.0.0.1 if gunicorn listens on all addresses
        # (BIND is 0.0.0.0 or ::).
        return name == published_host or (name is not None and is_loopback(name) and is_loopback(settings.own_host))

    def check(request: Request) -> None:
        """Refuse a request whose host is malformed, not served, or missing although it is needed. For a host
        ``api.{region}.{cloudProvider}.<BASE_DOMAIN>``, add region and cloudProvider to the log line of the request."""
        host = request.environ.get("HTTP_HOST")
        if host is None:
            if request.environ.get("SERVER_PROTOCOL") != "HTTP/1.0":
                raise errors.invalid_input("Malformed request: HTTP/1.1 needs a Host header.")
            host = ""  # an empty host is well-formed; with BASE_DOMAIN it is refused below, because it is not served
        # _HOST accepts any digits, dots and colons between brackets; _name_in finds out whether they are an address.
        if not _HOST.fullmatch(host) or (host.startswith("[") and _name_in(host) is None):
            raise errors.invalid_input("Malformed request: the Host header is no host.")
        if base_domain is None:
            return
        match = pattern.fullmatch(host)
        if match is not None:
            add_log_fields(**match.groupdict())
        elif not is_own(_name_in(host)):
            expected = f"api.{{region}}.{{cloudProvider}}.{base_domain}"
            raise errors.invalid_parameter("Host", f"This host is not served, {expected} is expected.")

    return check


def _name_in(host: str) -> str | None:
    """The name or address in a Host header, in lower case, without brackets and port; None if there is none."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:  # brackets without an IPv6 address
        return None
