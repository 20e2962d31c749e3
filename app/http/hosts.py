"""Checks the addressing parameters in the host (interface 2.1): ``api.{region}.{cloudProvider}.<base domain>``."""

import re
from urllib.parse import urlsplit

from flask import Request

from app import errors
from app.config import Settings, is_loopback
from app.http.request_log import add_log_fields
from app.setting_values import HOST_LABEL


class HostCheck:
    """Accepts only hosts of this form, and adds region and cloudProvider to the log line of the request.

    It also accepts the hosts of the addresses that the service prints and publishes.

    :param settings: settings in which the base domain is set.
    """

    def __init__(self, settings: Settings) -> None:
        self._base_domain = settings.base_domain or ""
        published = (settings.base_url, settings.authorization_url)
        self._own_hosts = frozenset(urlsplit(url).hostname for url in published)
        self._is_on_loopback = settings.listens_on_loopback
        self._pattern = re.compile(
            rf"api\.(?P<region>{HOST_LABEL})\.(?P<cloudProvider>{HOST_LABEL})\.{re.escape(self._base_domain)}(?::[0-9]+)?",
            re.IGNORECASE | re.ASCII,
        )

    def check(self, request: Request) -> None:
        """Check the host of a request, as a hook before the view.

        :raises ApiError: 400 for a host that is not accepted.
        """
        match = self._pattern.fullmatch(request.host)
        if match is not None:
            add_log_fields(**match.groupdict())
        elif not self._is_own(request.host):
            expected = f"api.{{region}}.{{cloudProvider}}.{self._base_domain}"
            raise errors.invalid_parameter("Host", f"This host is not served, {expected} is expected.")

    def _is_own(self, host_and_port: str) -> bool:
        host = urlsplit(f"//{host_and_port}").hostname
        return host is not None and (host in self._own_hosts or (self._is_on_loopback and is_loopback(host)))
