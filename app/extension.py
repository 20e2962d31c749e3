"""The interface by which an extension adds to the service. A member that an extension does not override adds nothing.
If its package has a card and a page for when the extension is off, the extension has to have both, too.

There is one extension, the sandbox of ``sample-resource-sandbox``. The service finds it by the entry point
``sample_resource.extension`` of an installed distribution, which names a subclass of :class:`ExtensionPackage`. In the
service, only this module names the switch ``SANDBOX`` and the distribution.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING

from app.config import InvalidSetting, Settings

if TYPE_CHECKING:  # the supervisor process imports this module, and has to stay small
    from flask import Flask, Request, Response

    from app.clock_and_ids import Clocks
    from app.database.connection import Connection
    from app.database.pool import Database

_SWITCH = "SANDBOX"

_DISTRIBUTION = "sample-resource-sandbox"


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """An OpenAPI document of an extension, which the documentation page can show.

    :param name: the name of the document in the URL of the page.
    :param title: the name of the described API, for links.
    :param path: the path of the document.
    """

    name: str
    title: str
    path: str


class Extension:
    """An extension of one application. The members of this class add nothing."""

    clocks: "Clocks | None" = None
    """The clocks and sources of ids of projects and clients; None for real time and UUIDv7s."""
    warning: str | None = None
    """A warning for the person who starts the service."""
    page: tuple[str, str] | None = None
    """The path and title of the extension's page, for the header of all pages."""
    card: str = ""
    """The card on the page at the root that links to the extension: an HTML list item. ``{root}`` stands for the prefix
    of paths."""
    document: DocumentPage | None = None
    counted: Mapping[str, tuple[str, str, Sequence[str]]] = {}
    """The extension's counters by name: their meaning, the name of their label, and the values of the label."""

    def before(self, request: "Request") -> "Response | None":  # noqa: ARG002 -- for those that override it
        """Called before the view for each request that the gate (:mod:`app.identity.gate`) lets pass. An answer ends
        the request; None lets it go on. It is also called where the gate demands no token (public views, unknown URLs,
        OPTIONS, methods that a URL does not have); there ``g.token`` is not set."""
        return None

    def after(self, request: "Request", answer: "Response") -> "Response":  # noqa: ARG002 -- for those that override it
        """Called with each answer of the application. Returns the answer to send; the service then adds headers to it.
        It must not raise."""
        return answer

    def writing(self, project: str) -> "AbstractContextManager[Connection] | None":  # noqa: ARG002 -- for those that override it
        """A context manager that checks out the connection for one write to the project, so that the extension can act
        before and after the write; None: the service's usual connection."""
        return None

    def install(self, app: "Flask") -> None:
        """Register the extension's routes, after those of the service."""

    def start(self) -> None:
        """Start the extension's background work. Called in each worker, after the fork."""

    def stop(self) -> None:
        """End the extension's background work. Called in each worker that exits: after a signal to stop, and after an
        error, even if ``start`` has raised the error. Not called in a worker that is killed."""


class ExtensionPackage:
    """An installed package with an extension, which has what is needed before its extension is made, or without it."""

    unusable: str | None = None
    """The reason why the package cannot be used, for the error when it is switched on; None if it can be used."""
    commands: Mapping[str, str] = {}
    """The names of the package's commands, each with its module, which lists them in ``COMMANDS``. The service's
    settings are not read for them, because these commands run next to the tests of another application."""
    distributed_tables: Sequence[str] = ()
    """The package's tables that Citus distributes by ``project_key``, which all their keys have to contain."""
    local_tables: Sequence[str] = ()
    """The package's tables that are not distributed."""
    migrations: tuple[Path, ...] = ()
    """The folders with the migrations that create the package's tables."""
    card_when_off: str = ""
    """The card on the page at the root while the extension is switched off: an HTML list item."""
    page_when_off: str = ""
    """The path of the extension's page, where browsers find that card while the extension is switched off."""

    def adapted(self, settings: Settings) -> Settings:
        """Return the settings as the extension needs them.

        :raises InvalidSetting: for settings with which the extension cannot work.
        """
        return settings

    def banner(self, settings: Settings) -> tuple[list[str], list[str]]:  # noqa: ARG002 -- for those that override it
        """The lines that ``serve`` prints for the extension: a list of addresses, and a list of warnings."""
        return [], []

    def extension(self, settings: Settings, database: "Database") -> Extension:  # noqa: ARG002 -- for those that override it
        """Make the extension of an application.

        :raises InvalidSetting: for settings with which the extension cannot work.
        """
        return Extension()


@cache
def installed_package() -> ExtensionPackage:
    """The installed package of the extension. If it cannot be used, a package that adds nothing, with the reason in
    ``unusable``."""
    package = ExtensionPackage()
    found = next(iter(entry_points(group="sample_resource.extension")), None)
    if found is None or found.dist is None:
        package.unusable = f"needs the package {_DISTRIBUTION}, which is not installed"
    elif found.dist.version != (own := version("sample-resource")):  # this interface may change with every release
        package.unusable = f"needs the package {found.dist.name} {own}, and {found.dist.version} is installed"
    else:
        try:
            return found.load()()
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- the modules of a package may raise anything
            package.unusable = reason_of_failed_load(error)
    return package


def reason_of_failed_load(error: BaseException) -> str:
    """Say in one line that the extension's package cannot be loaded, and why. The text is a sentence without a subject:
    "needs the package ...". The caller puts the subject before the text: the command or the setting that needs the
    package.

    :param error: what loading the package, or one of its modules, has raised.
    """
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"needs the package {_DISTRIBUTION}, which cannot be loaded: {what}"


def package_of(settings: Settings) -> ExtensionPackage:
    """The installed package if the settings switch its extension on, else a package that adds nothing.

    :raises InvalidSetting: if the switch is neither on nor off, or if it is on and no package can be used.
    """
    switch = settings.environment.get(_SWITCH) or "off"
    if switch not in ("off", "on"):
        raise InvalidSetting(_SWITCH, switch, "is neither off nor on")
    if switch == "off":
        return ExtensionPackage()
    package = installed_package()
    if package.unusable is not None:
        raise InvalidSetting(_SWITCH, switch, package.unusable)
    return package


def adapted_to_extension(settings: Settings) -> Settings:
    """Return the settings as the extension needs them, if the settings switch it on; otherwise unchanged.

    :raises InvalidSetting: if the extension cannot work with these settings, or if :func:`package_of` raises it.
    """
    return package_of(settings).adapted(settings)
