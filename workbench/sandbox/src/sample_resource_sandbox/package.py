"""The sandbox as a package that the service finds: what it adds before there is an application."""

from pathlib import Path
from typing import TYPE_CHECKING

from app.config import Settings
from app.extension import Extension, ExtensionPackage, WhenOff

if TYPE_CHECKING:
    from app.database.pool import Database


class SandboxPackage(ExtensionPackage):
    """What it adds with ``SANDBOX=on``. Without it only this module is imported: the others are late."""

    commands = {"report": "sample_resource_sandbox.commands", "sandbox": "sample_resource_sandbox.kept"}  # noqa: RUF012 -- as in its base
    distributed_tables = ("sandbox_copy",)
    local_tables = ("sandbox_project", "sandbox_run", "sandbox_ids")
    """There is one process."""
    migrations = (Path(__file__).with_name("migrations"),)
    when_off = WhenOff(
        "/sandbox",
        "Sandbox",
        "For testing a client: throwaway projects, faults on order, a journal. It is switched off here; start the"
        " service with <code>SANDBOX=on</code>.",
    )

    def settled(self, settings: Settings) -> Settings:
        """With one worker."""
        from sample_resource_sandbox.settings import SandboxSettings

        return SandboxSettings.of(settings).settled(settings)

    def banner(self, settings: Settings) -> tuple[list[str], list[str]]:
        """The address of its page, and who can reach it."""
        from sample_resource_sandbox.settings import SandboxSettings

        return [f"Sandbox        {settings.base_url}/sandbox"], ["", f"WARNING  {SandboxSettings.of(settings).warning}"]

    def extension(self, settings: Settings, database: "Database") -> Extension:
        """The sandbox of an application."""
        from sample_resource_sandbox.extension import Sandbox

        return Sandbox(settings, database)
