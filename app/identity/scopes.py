"""The decorators that mark a view with the scopes of which its callers need one.

A view has one of two marks, :func:`scopes` or :func:`public`. The gate (:mod:`app.identity.gate`) reads the mark before
anything of the request is parsed. A view without a mark cannot be reached.
"""

from collections.abc import Callable
from typing import Any, TypeVar

AnyView = TypeVar("AnyView", bound=Callable[..., Any])

_ACCEPTED = "accepted_scopes"
_PUBLIC: tuple[str, ...] = ()


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
    setattr(view, _ACCEPTED, _PUBLIC)
    return view


def accepted_scopes(view: Any) -> tuple[str, ...] | None:
    """The scopes of a view's mark; empty for a public view; None if the mark is missing."""
    return getattr(view, _ACCEPTED, None)
