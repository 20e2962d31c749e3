"""Checks the addressing parameters in the host (interface 2.1): ``api.{region}.{cloudProvider}.<base domain>``."""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from flask import Request

from app import errors
from app.config import Settings, is_loopback
from app.http.request_log import add_log_fields
from app.setting_values import HOST_LABEL


def host_check(settings: Settings, base_domain: str) -> Callable[[Request], None]:
    """The hook before a view that accepts only hosts of this form, and adds region and cloudProvider to the log line of
    the request. For any other host it raises an ApiError, 400.

    It also accepts the hosts of the addresses that the service prints and publishes.
    """
    own_host = urlsplit(settings.base_url).hostname
    pattern = re.compile(
        rf"api\.(?P<region>{HOST_LABEL})\.(?P<cloudProvider>{HOST_LABEL})\.{re.escape(base_domain)}(?::[0-9]+)?",
        re.IGNORECASE | re.ASCII,
    )

    def check(request: Request) -> None:
        match = pattern.fullmatch(request.host)
        if match is not None:
            add_log_fields(**match.groupdict())
            return
        host = urlsplit(f"//{request.host}").hostname
        if host is None or not (host == own_host or (settings.listens_on_loopback and is_loopback(host))):
            expected = f"api.{{region}}.{{cloudProvider}}.{base_domain}"
            raise errors.invalid_parameter("Host", f"This host is not served, {expected} is expected.")

    return check
