"""The scopes of the interface, and the decorators that mark a view with the scopes of which its callers need one.

A view has one of two marks, :func:`scopes` or :func:`public`. The gate (:mod:`app.identity.gate`) reads the mark before
any query parameter or body is parsed. It refuses every request to a view without a mark.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from app.values.patterns import PROJECT_KEY_PATTERN

SCOPE_NAMES = ("manage_test", "view_test", "view_products", "view_published_products")
"""The names of all scopes (interface 5). No scope includes another."""

SCOPE = re.compile(f"(?:{'|'.join(SCOPE_NAMES)}):{PROJECT_KEY_PATTERN}")
"""The form of a scope: its name, a colon, and the key of the project for which it is valid."""


def projects_of(scopes: Iterable[str]) -> set[str]:
    """The keys of the projects that scopes name."""
    return {scope.partition(":")[2] for scope in scopes}


AnyView = TypeVar("AnyView", bound=Callable[..., Any])

_ACCEPTED = "accepted_scopes"


def scopes(*accepted: str) -> Callable[[AnyView], AnyView]:
    """Mark a view as accepting tokens that have one of these scopes for the project in the path."""
    if not accepted:
        raise ValueError("use public for a view that needs no scope")

    def mark(view: AnyView) -> AnyView:
        setattr(view, _ACCEPTED, accepted)
        return view

    return mark


def public(view: AnyView) -> AnyView:
    """Mark a view as needing no token."""
    setattr(view, _ACCEPTED, ())
    return view


def accepted_scopes(view: Any) -> tuple[str, ...] | None:
    """The scopes of a view's mark; empty for a public view; None if the mark is missing."""
    return getattr(view, _ACCEPTED, None)
