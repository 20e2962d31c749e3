"""The mark by which a view says of itself what cannot be derived: its name and its answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

AnyView = TypeVar("AnyView", bound=Callable[..., Any])

_MARK = "openapi_operation"


@dataclass(frozen=True, slots=True)
class Answer:
    """A response that is not a refusal.

    :param schema: the name of a schema in :data:`SCHEMAS`; None for an answer without a body.
    :param headers: names of rows of :data:`HEADERS`.
    :param media_types: what the body can be.
    :param links: names of rows of :data:`LINKS`.
    """

    status: int
    schema: str | None
    description: str
    headers: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ("application/json",)
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """What a view says of itself.

    :param refusals: codes of the error catalogue that do not follow from what the view takes.
    :param headers: names of rows of :data:`REQUEST_HEADERS`.
    :param form: the schema of a form body: the name of a row of :data:`SCHEMAS` or of :data:`FORMS`.
    """

    id: str
    answers: tuple[Answer, ...]
    refusals: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    form: str | None = None


def operation(
    operation_id: str,
    *answers: Answer,
    refusals: tuple[str, ...] = (),
    headers: tuple[str, ...] = (),
    form: str | None = None,
) -> Callable[[AnyView], AnyView]:
    """Describe a view; one without a description is not in the document."""

    def mark(view: AnyView) -> AnyView:
        setattr(view, _MARK, Operation(operation_id, answers, refusals, headers, form))
        return view

    return mark


def operation_of(view: Any) -> Operation | None:
    """The mark of a view; None for a view that is not in the document."""
    return getattr(view, _MARK, None)
