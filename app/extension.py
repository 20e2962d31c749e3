"""What an extension may add to the service: the one seam. Each member adds nothing unless it is overridden.

There is one extension, the sandbox of ``sample-resource-sandbox``. The service finds it by the entry point
``sample_resource.extension`` of the installed distributions, which names a subclass of :class:`ExtensionPackage`. The
switch ``SANDBOX`` and the name of the distribution stand here and nowhere else in the service.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from app.config import InvalidSetting, Settings

if TYPE_CHECKING:  # the process that supervises the service imports this module, and stays small
    from flask import Flask, Request, Response

    from app.clock_and_ids import Clocks
    from app.database.admission import Lane
    from app.database.connection import Connection
    from app.database.pool import Database

_ENTRY_POINTS = "sample_resource.extension"

_SWITCH = "SANDBOX"

_DISTRIBUTION = "sample-resource-sandbox"

_NOT_INSTALLED = f"needs the package {_DISTRIBUTION}, which is not installed"

_log = logging.getLogger("app.extension")


class NotedConnections(Protocol):
    """Told by the worker of each connection and each request on it."""

    def listen(self, listeners: Sequence[Any]) -> None:
        """The worker accepts connections at these sockets."""
        ...

    def opened(self, client: Any) -> object:
        """A connection was accepted."""
        ...

    def begin_request(self, client: Any, head: bytes) -> None:
        """A request was read from it; its header lines are as they were sent."""
        ...

    def closed(self, client: Any) -> None:
        """The connection has ended."""
        ...

    def stop(self) -> None:
        """The worker is about to end."""
        ...


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A further document on the page of the API.

    :param name: of the document in the address of the page.
    :param path: of the document.
    """

    name: str
    title: str
    path: str


@dataclass(frozen=True, slots=True)
class WhenOff:
    """What browsers see of an extension that is switched off: a card on the page at the root, and a page.

    :param path: of the page, which is that of the extension's own page.
    :param text: HTML, a paragraph of both.
    """

    path: str
    title: str
    text: str


class Extension:
    """An extension of one application."""

    clocks: "Clocks | None" = None
    """Clock and ids of each project; None: real time and random ids."""
    connections: NotedConnections | None = None
    warning: str | None = None
    """What those who start the service have to know."""
    page: tuple[str, str] | None = None
    """Path and title of its page, for the header of all pages."""
    card: str = ""
    """What leads to it on the page at the root: HTML, an item of the list there. ``{root}`` is what paths follow."""
    document: DocumentPage | None = None
    threads: Sequence[str] = ()
    """The names of its threads, for metrics."""
    counted: Mapping[str, tuple[str, str, Sequence[str]]] = {}
    """Its counters by name: what they count, the name of their label, and the values of it."""

    def before(self, request: "Request") -> "Response | None":  # noqa: ARG002 -- for those that override it
        """Called behind the gate, before the view; an answer ends the request."""
        return None

    def after(self, request: "Request", answer: "Response") -> "Response":  # noqa: ARG002 -- likewise
        """Called with each answer."""
        return answer

    def writing(self, project: str, lane: "Lane") -> "AbstractContextManager[Connection] | None":  # noqa: ARG002 -- likewise
        """A connection for writes to a project that needs care; None for any other."""
        return None

    def install(self, app: "Flask") -> None:
        """Register its routes, behind all others."""

    def start(self) -> None:
        """Begin what it does beside requests; after the fork."""

    def stop(self) -> None:
        """End that."""


class ExtensionPackage:
    """What an installed package adds to the service, before there is an application."""

    unusable: str | None = None
    """Why nothing is added, which is said to those who ask for the extension; None: it can be used."""
    commands: Mapping[str, str] = {}
    """Its commands, and the module of each, which has them in its ``COMMANDS``. None takes the service's settings: they
    run beside an application's tests."""
    distributed_tables: Sequence[str] = ()
    """Its tables whose keys contain ``project_key``, which Citus distributes as those of the service."""
    local_tables: Sequence[str] = ()
    """Its tables that stay on one machine."""
    migrations: tuple[Path, ...] = ()
    """Folders with the migrations that make its tables."""
    when_off: WhenOff | None = None
    """What browsers see of it while it is switched off."""

    def settled(self, settings: Settings) -> Settings:
        """The settings as the extension needs them.

        :raises InvalidSetting: for those that it cannot have.
        """
        return settings

    def banner(self, settings: Settings) -> tuple[list[str], list[str]]:  # noqa: ARG002 -- for those that override it
        """What ``serve`` prints: among the addresses, and as warnings."""
        return [], []

    def extension(self, settings: Settings, database: "Database") -> Extension:  # noqa: ARG002 -- likewise
        """The extension of an application.

        :raises InvalidSetting: for settings that it cannot have.
        """
        return Extension()


@cache
def installed_package() -> ExtensionPackage:
    """The installed package, or one that adds nothing and says why in ``unusable``."""
    package = ExtensionPackage()
    try:
        found = list(entry_points(group=_ENTRY_POINTS))
        if len(found) == 1:
            return _loaded(found[0])
        names = ", ".join(sorted(map(_distribution, found)))
        package.unusable = f"needs one package, and several are installed: {names}" if found else _NOT_INSTALLED
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- the modules of a package may raise anything
        package.unusable = cannot_be_loaded(error)
    return package


def cannot_be_loaded(error: BaseException) -> str:
    """What is said of that which needs the package, after the error of its import."""
    return f"needs the package {_DISTRIBUTION}, which cannot be loaded: {type(error).__name__}: {error}"


def _loaded(found: EntryPoint) -> ExtensionPackage:
    own = version("sample-resource")
    if found.dist is None or found.dist.version == own:
        package = found.load()()
        if isinstance(package, ExtensionPackage):
            return package
        raise TypeError(f"{found.value} is no ExtensionPackage")
    package = ExtensionPackage()
    package.unusable = f"needs the package {_distribution(found)} {own}, and {found.dist.version} is installed"
    return package


def _distribution(found: EntryPoint) -> str:
    return (found.dist and found.dist.name) or found.value


def warn_if_unusable() -> None:
    """Log why an installed package is not used, which its switch would say."""
    reason = installed_package().unusable
    if reason not in (None, _NOT_INSTALLED):
        _log.warning("no extension is loaded: it %s", reason)


def package_of(settings: Settings) -> ExtensionPackage:
    """The package if these settings switch it on, else one that adds nothing.

    :raises InvalidSetting: if the switch has another value, or is on and no package can be used.
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


def settled(settings: Settings) -> Settings:
    """The settings as the extension needs them.

    :raises InvalidSetting: for those that it cannot have, and as :func:`package_of` does.
    """
    return package_of(settings).settled(settings)
