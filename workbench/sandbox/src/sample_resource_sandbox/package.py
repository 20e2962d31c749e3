"""The package of the sandbox, which the service finds by its entry point."""

from pathlib import Path
from typing import TYPE_CHECKING

from app.config import Settings
from app.extension import Extension, ExtensionPackage

if TYPE_CHECKING:
    from app.database.pool import Database


class SandboxPackage(ExtensionPackage):
    """The sandbox's additions to the service with ``SANDBOX=on``.

    Methods import the other modules, because with ``SANDBOX=off`` the service imports only this module.
    """

    commands = {"sandbox": "sample_resource_sandbox.kept"}  # noqa: RUF012 -- as in its base
    distributed_tables = ("sandbox_copy",)
    local_tables = ("sandbox_project", "sandbox_run", "sandbox_ids")
    """Tables that are not distributed, because only one process uses them."""
    migrations = (Path(__file__).with_name("migrations"),)
    page_when_off = "/sandbox"
    card_when_off = """<li class="card">
<h2>Sandbox</h2>
<p>For testing a client: throwaway projects, faults on demand, a journal. It is switched off here; start the service
with <code>SANDBOX=on</code>.</p>
</li>
"""

    def adapted(self, settings: Settings) -> Settings:
        """Return the settings with one worker."""
        from sample_resource_sandbox.settings import SandboxSettings

        return SandboxSettings.of(settings).adapted(settings)

    def banner(self, settings: Settings) -> tuple[list[str], list[str]]:
        """The address of the sandbox's page, and the warning about who can use the sandbox."""
        from sample_resource_sandbox.settings import SandboxSettings

        return [f"Sandbox        {settings.base_url}/sandbox"], ["", f"WARNING  {SandboxSettings.of(settings).warning}"]

    def extension(self, settings: Settings, database: "Database") -> Extension:
        """Make the sandbox of an application."""
        from sample_resource_sandbox.extension import Sandbox

        return Sandbox(settings, database)
