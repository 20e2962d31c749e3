"""Under which address a tester reaches the service: what answers say has to work where it is read."""

from urllib.parse import urlsplit

from flask import Request

from app.config import Settings, is_loopback


def base_url_of(request: Request, settings: Settings) -> str:
    """The base of addresses in an answer; without a slash at its end.

    The Host of the request if that is the tester's own machine, as behind a port that a container maps; else
    ``PUBLIC_URL``, or the address that gunicorn listens on. A public one stands: its proxy may send any Host.
    """
    is_public = settings.public_url is not None and not is_loopback(urlsplit(settings.public_url).hostname or "")
    if is_public or not is_loopback_host(request):
        return settings.base_url
    return f"{request.scheme}://{request.host}{request.script_root}"


def is_loopback_host(request: Request) -> bool:
    """Whether the request names a host of its own machine; HTTP/1.0 may name none."""
    try:
        host = urlsplit(f"//{request.environ.get('HTTP_HOST', '')}").hostname
    except ValueError:
        return False
    return host in ("localhost", "127.0.0.1", "::1")
