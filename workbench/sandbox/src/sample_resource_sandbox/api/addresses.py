"""Finds the address at which a tester reaches the service, because URLs in answers have to work for the tester."""

from urllib.parse import urlsplit

from flask import Request

from app.config import Settings, is_loopback


def base_url_of(request: Request, settings: Settings) -> str:
    """The base of URLs in an answer, without a slash at its end.

    It is the Host of the request if that is the tester's own machine, for example with a port that a container maps;
    else ``PUBLIC_URL``, or the address on which gunicorn listens. If ``PUBLIC_URL`` is another machine, it is always
    used, because a proxy may send any Host.
    """
    is_public = settings.public_url is not None and not is_loopback(urlsplit(settings.public_url).hostname or "")
    if is_public or not is_loopback_host(request):
        return settings.base_url
    return f"{request.scheme}://{request.host}{request.script_root}"


def is_loopback_host(request: Request) -> bool:
    """Whether the Host of a request is a loopback host. In HTTP/1.0 it may be missing."""
    try:
        host = urlsplit(f"//{request.environ.get('HTTP_HOST', '')}").hostname
    except ValueError:
        return False
    return host in ("localhost", "127.0.0.1", "::1")
