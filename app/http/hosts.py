"""The addressing parameters in the host (interface 2.1): ``api.{region}.{cloudProvider}.<base domain>``."""

import re

from flask import Request

from app import errors
from app.http.request_log import add_log_fields

_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"


class HostCheck:
    """Serves only hosts of the form above, and puts region and cloudProvider into the request's log line.

    :param base_domain: the end of the hosts.
    """

    def __init__(self, base_domain: str) -> None:
        self._base_domain = base_domain
        self._pattern = re.compile(
            rf"api\.(?P<region>{_LABEL})\.(?P<cloudProvider>{_LABEL})\.{re.escape(base_domain)}(?::[0-9]+)?",
            re.IGNORECASE | re.ASCII,
        )

    def check(self, request: Request) -> None:
        """Check a request; a hook that runs before the view.

        :raises ApiError: 400 for another host.
        """
        match = self._pattern.fullmatch(request.host)
        if match is None:
            expected = f"api.{{region}}.{{cloudProvider}}.{self._base_domain}"
            raise errors.invalid_parameter("Host", f"This host is not served, {expected} is expected.")
        add_log_fields(**match.groupdict())
