"""Which of the sandbox's answers pages of other origins may read."""

from collections.abc import Callable
from typing import Any

from tester import with_sandbox

from app.config import Settings
from tests.http.test_cors import ORIGIN, allowed
from tests.support.applications import open_app

PREFLIGHT = ORIGIN | {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization"}


def test_the_sandbox_has_none_of_it_and_its_rules_leave_preflight_requests_alone(
    settings: Settings,
) -> None:
    with open_app(with_sandbox(settings)) as app:
        client = app.test_client()
        send: Callable[..., Any] = lambda method, path, **more: client.open(  # noqa: E731 -- bound to its arguments
            path, method=method, base_url="http://localhost", **more
        )
        made = send("POST", "/sandbox/projects", json={}).get_json()
        key = made["projectKey"]
        rules = {"rules": [{"status": 503, "times": {"first": 1}}]}
        assert send("PUT", f"/sandbox/projects/{key}/rules", json=rules).status_code in (200, 204)
        preflight = send("OPTIONS", f"/{key}/resource", headers=PREFLIGHT)
        assert (preflight.status_code, allowed(preflight)) == (200, "*")
        refused = send("GET", f"/{key}/resource", headers={**ORIGIN, "Authorization": f"Bearer {made['accessToken']}"})
        assert (refused.status_code, allowed(refused)) == (503, "*")
