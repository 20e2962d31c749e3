"""What may be added to the service from outside of it: the one seam. Each member adds nothing unless it is overridden.

``app/extensions.py`` knows which extension there is. Everything below :mod:`app.application` knows this class alone.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from flask import Flask, Request, Response

from app.database.admission import Lane
from app.database.connection import Connection
from app.resource.world import ONE_WORLD, Worlds


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


class Extension:
    """An extension of one application."""

    worlds: Worlds = ONE_WORLD
    connections: NotedConnections | None = None
    warning: str | None = None
    """What those who start the service have to know."""
    page: tuple[str, str] | None = None
    """Path and title of its page, for the header of all pages."""
    document: DocumentPage | None = None
    threads: Sequence[str] = ()
    """The names of its threads, for metrics."""
    counted: Mapping[str, tuple[str, str, Sequence[str]]] = {}
    """Its counters by name: what they count, the name of their label, and the values of it."""

    def before(self, request: Request) -> Response | None:  # noqa: ARG002 -- for those that override it
        """Called behind the gate, before the view; an answer ends the request."""
        return None

    def after(self, request: Request, answer: Response) -> Response:  # noqa: ARG002 -- likewise
        """Called with each answer."""
        return answer

    def writing(self, project: str, lane: Lane) -> AbstractContextManager[Connection] | None:  # noqa: ARG002 -- likewise
        """A connection for writes to a project that needs care; None for any other."""
        return None

    def install(self, app: Flask) -> None:
        """Register its routes, behind all others."""

    def start(self) -> None:
        """Begin what it does beside requests; after the fork."""

    def stop(self) -> None:
        """End that."""
