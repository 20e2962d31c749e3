"""Scopes: their names, and the decorators that mark a view with the scopes that its callers need.

A view has one of two marks, :func:`scopes` or :func:`public`. The gate (:mod:`app.identity.gate`) reads the mark before
it parses anything of the request. A view without a mark cannot be reached.
"""

from collections.abc import Callable
from typing import Any, TypeVar

AnyView = TypeVar("AnyView", bound=Callable[..., Any])

_ACCEPTED = "accepted_scopes"
_PUBLIC: tuple[str, ...] = ()


def scopes(*accepted: str) -> Callable[[AnyView], AnyView]:
    """Mark a view: a token needs one of these scopes for the project in the path."""
    if not accepted:
        raise ValueError("use public for a view that needs no scope")

    def mark(view: AnyView) -> AnyView:
        setattr(view, _ACCEPTED, accepted)
        return view

    return mark


def public(view: AnyView) -> AnyView:
    """Mark a view that needs no token."""
    setattr(view, _ACCEPTED, _PUBLIC)
    return view


def accepted_scopes(view: Any) -> tuple[str, ...] | None:
    """The scopes of which a view needs one; empty for a public view; None if the mark is missing."""
    return getattr(view, _ACCEPTED, None)
