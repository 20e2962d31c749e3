"""The addressing parameters in the host (interface 2.1): ``api.{region}.{cloudProvider}.<base domain>``."""

import re

from flask import Flask, g, request

from app import errors


def install_host_check(app: Flask, base_domain: str | None) -> None:
    """Serve only hosts of the form above, and keep region and cloudProvider for the log; without a domain, any host."""
    if base_domain is None:
        return
    label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
    pattern = re.compile(
        rf"api\.(?P<region>{label})\.(?P<cloudProvider>{label})\.{re.escape(base_domain)}(?::[0-9]+)?",
        re.IGNORECASE | re.ASCII,
    )

    @app.before_request
    def check_host() -> None:  # pyright: ignore[reportUnusedFunction] -- Flask calls it
        match = pattern.fullmatch(request.host)
        if match is None:
            expected = f"api.{{region}}.{{cloudProvider}}.{base_domain}"
            raise errors.invalid_parameter("Host", f"This host is not served, {expected} is expected.")
        g.host_parts = match.groupdict()
