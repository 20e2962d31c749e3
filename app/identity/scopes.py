"""Scopes: their names, and the decorators that mark a view with those that its callers need.

A view has one of two marks, :func:`scopes` or :func:`public`, and may have :func:`scope_if` in addition. The gate
(:mod:`app.identity.gate`) reads the marks before it parses anything of the request. A view without a mark cannot be
reached.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from flask import Request

AnyView = TypeVar("AnyView", bound=Callable[..., Any])

_ACCEPTED = "accepted_scopes"
_CONDITIONAL = "conditional_scope"
_PUBLIC: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConditionalScope:
    """A scope that only some requests to a view need.

    :param applies: whether a request needs it.
    """

    name: str
    applies: Callable[[Request], bool]


def scopes(*accepted: str) -> Callable[[AnyView], AnyView]:
    """Mark a view: a token needs one of these scopes for the project in the path."""
    if not accepted:
        raise ValueError("use public for a view that needs no scope")

    def mark(view: AnyView) -> AnyView:
        setattr(view, _ACCEPTED, accepted)
        return view

    return mark


def scope_if(applies: Callable[[Request], bool], name: str) -> Callable[[AnyView], AnyView]:
    """Mark a view, beside :func:`scopes`: requests for which the condition holds need this scope too."""

    def mark(view: AnyView) -> AnyView:
        setattr(view, _CONDITIONAL, ConditionalScope(name, applies))
        return view

    return mark


def public(view: AnyView) -> AnyView:
    """Mark a view that needs no token."""
    setattr(view, _ACCEPTED, _PUBLIC)
    return view


def accepted_scopes(view: Any) -> tuple[str, ...] | None:
    """The scopes of which a view needs one; empty for a public view; None if the mark is missing."""
    return getattr(view, _ACCEPTED, None)


def conditional_scope(view: Any) -> ConditionalScope | None:
    """The scope that only some requests to a view need, if it has such a mark."""
    return getattr(view, _CONDITIONAL, None)
