"""The mark by which the view of an endpoint class declares its operation id, answers, headers and further error codes
for the OpenAPI document. Extensions know operations by the same id."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

AnyView = TypeVar("AnyView", bound=Callable[..., Any])

_MARK = "openapi_operation"


@dataclass(frozen=True, slots=True)
class Answer:
    """A response of an operation whose body, if it has one, is not an error.

    :param schema: the name of a schema of the document; None for an answer without a body.
    :param headers: names of ``components.headers`` in ``parts.json``.
    :param media_types: the media types that the body can have.
    :param links: names of ``components.links`` in ``parts.json``.
    """

    status: int
    schema: str | None
    description: str
    headers: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ("application/json",)
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """The mark of a view for the OpenAPI document.

    :param error_codes: codes of the error catalogue that do not follow from the scopes, the project in the path and the
        body of the view.
    :param headers: names of ``requestHeaders`` in ``parts.json``.
    :param form: the schema in ``parts.json`` of a form body. A form that a marshmallow schema loads needs no mark.
    """

    id: str
    answers: tuple[Answer, ...]
    error_codes: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    form: str | None = None


def operation(operation_id: str, *answers: Answer, **further: Any) -> Callable[[AnyView], AnyView]:
    """Mark a view with its description. The OpenAPI document has only marked methods of endpoint classes.

    :param further: the further fields of :class:`Operation`.
    """

    def mark(view: AnyView) -> AnyView:
        setattr(view, _MARK, Operation(operation_id, answers, **further))
        return view

    return mark


def operation_of(view: Any) -> Operation | None:
    """The mark of a view; None without one."""
    return getattr(view, _MARK, None)
