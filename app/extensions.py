"""Which extension the service has: with ``SANDBOX=on`` the sandbox, else none, and then nothing of it is imported."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from app.config import Settings

if TYPE_CHECKING:
    from app.database.pool import Database
    from app.extension import Extension


COMMANDS: Mapping[str, str] = {"report": "app.sandbox.commands"}
"""Its commands, and the module of each."""


def local_tables() -> Sequence[str]:
    """Its tables that are not distributed, also if it is off: another service on the database may have it on."""
    from app.sandbox.settings import LOCAL_TABLES

    return LOCAL_TABLES


def settled(settings: Settings) -> Settings:
    """The settings as the extension needs them.

    :raises InvalidSetting: for those that it cannot have.
    """
    if not settings.environment.get("SANDBOX"):
        return settings
    from app.sandbox.settings import SandboxSettings

    return SandboxSettings.of(settings).settled(settings)


def banner(settings: Settings) -> tuple[list[str], list[str]]:
    """What ``serve`` prints of the extension: among the addresses, and as warnings."""
    if not settings.environment.get("SANDBOX"):
        return [], []
    from app.sandbox.settings import SandboxSettings

    own = SandboxSettings.of(settings)
    if own.warning is None:
        return [], []
    return [f"Sandbox        {settings.base_url}/sandbox"], ["", f"WARNING  {own.warning}"]


def extension_of(settings: Settings, database: "Database") -> "Extension":
    """The extension of an application.

    :raises InvalidSetting: for settings that it cannot have.
    """
    from app.extension import Extension

    if settings.environment.get("SANDBOX") != "on":
        return Extension()
    from app.sandbox.extension import Sandbox

    return Sandbox(settings, database)
