"""The settings of the sandbox, and its conditions on the settings of the service."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from app.config import InvalidSetting, Settings, fixed_token, is_loopback, read_settings, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """The settings of the sandbox, except the switch ``SANDBOX``, which the service reads. None means not set."""

    token: str | None = setting(
        "SANDBOX_TOKEN",
        fixed_token,
        None,
        "the bearer token that the routes below /sandbox need; without it the service has to listen on a loopback"
        " address, and there may be no TRUSTED_PROXIES, no BASE_DOMAIN and no PUBLIC_URL of another machine",
        secret=True,
    )

    @classmethod
    def of(cls, settings: Settings) -> "SandboxSettings":
        """Read the settings of the sandbox from the environment of the service's settings.

        :raises InvalidSetting: for the first invalid setting.
        """
        return read_settings(cls, settings.environment)

    @property
    def warning(self) -> str:
        """The warning for the person who starts the service."""
        who = "whoever has SANDBOX_TOKEN" if self.token else "everybody on this machine, without a token,"
        return f"SANDBOX=on: {who} can make projects and tokens, order faults and read requests. For tests only."

    def adapted(self, settings: Settings) -> Settings:
        """Return the service's settings with one worker.

        :raises InvalidSetting: if other machines could use the sandbox without a token, or if more workers are
            configured.
        """
        if self.token is None:
            if not is_loopback(settings.listen_host):
                raise _refused(f"needs SANDBOX_TOKEN, since BIND={settings.bind} is no loopback address")
            # Even on a loopback address: behind a proxy, every request comes from this machine.
            for variable, value in _signs_of_a_proxy(settings):
                raise _refused(f"needs SANDBOX_TOKEN, since {variable}={value} lets others reach it")
        if settings.environment.get("WORKERS") and settings.workers > 1:
            reason = "with SANDBOX=on one process serves all: rules, their counts and the journal lie in its memory"
            raise InvalidSetting("WORKERS", str(settings.workers), reason)
        return replace(settings, workers=1)


def _refused(reason: str) -> InvalidSetting:
    return InvalidSetting("SANDBOX", "on", reason)


def _signs_of_a_proxy(settings: Settings) -> Iterator[tuple[str, str]]:
    """The settings, with their values, that show that requests of other machines arrive."""
    if settings.public_url is not None and not is_loopback(urlsplit(settings.public_url).hostname or ""):
        yield "PUBLIC_URL", settings.public_url
    if settings.trusted_proxies:
        yield "TRUSTED_PROXIES", str(settings.trusted_proxies)
    if settings.base_domain is not None:
        yield "BASE_DOMAIN", settings.base_domain
