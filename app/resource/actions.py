"""Update actions (interface 2.6): one class each, with its discriminator, its fields and its effect.

A new action is a new class here; the body schema, the error for an unknown action and the OpenAPI document read
:data:`REGISTRY`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

from marshmallow import fields

from app.resource.model import Change, NewText, Projection
from app.values.json_fields import Boolean, Text


class UpdateAction(Protocol):
    """A valid action.

    ``FIELDS`` are its fields beside ``action``; their attribute names are the parameters of the class.
    """

    ACTION: ClassVar[str]
    MEANING: ClassVar[str]
    FIELDS: ClassVar[Mapping[str, fields.Field[Any]]]

    def apply(self, change: Change) -> Change:
        """The change that the actions so far and this one make together."""
        ...


@dataclass(frozen=True, slots=True)
class DoSomeThing:
    """Changes no field, but raises the version."""

    ACTION: ClassVar[str] = "doSomeThing"
    MEANING: ClassVar[str] = "Changes no field; the version rises all the same."
    FIELDS: ClassVar[Mapping[str, fields.Field[Any]]] = {}

    def apply(self, change: Change) -> Change:
        return replace(change, touched=True)


@dataclass(frozen=True, slots=True)
class ChangeSomeProperty:
    """Sets someProperty in both projections, or only in the staged one."""

    ACTION: ClassVar[str] = "changeSomeProperty"
    MEANING: ClassVar[str] = "Sets someProperty; with staged=true in the staged projection only."
    FIELDS: ClassVar[Mapping[str, fields.Field[Any]]] = {
        "someProperty": Text(required=True, attribute="some_property"),
        "staged": Boolean(load_default=False),
    }

    some_property: str
    staged: bool

    def apply(self, change: Change) -> Change:
        value = NewText(self.some_property, (self.some_property,))
        current = change.current if self.staged else Projection(change.current.object_type, value)
        return Change(current, Projection(change.staged.object_type, value), change.key, change.touched)


@dataclass(frozen=True, slots=True)
class Publish:
    """Copies the staged projection over the current one."""

    ACTION: ClassVar[str] = "publish"
    MEANING: ClassVar[str] = "Copies the staged projection over the current one."
    FIELDS: ClassVar[Mapping[str, fields.Field[Any]]] = {}

    def apply(self, change: Change) -> Change:
        return replace(change, current=change.staged)


@dataclass(frozen=True, slots=True)
class RevertStagedChanges:
    """Copies the current projection over the staged one."""

    ACTION: ClassVar[str] = "revertStagedChanges"
    MEANING: ClassVar[str] = "Copies the current projection over the staged one."
    FIELDS: ClassVar[Mapping[str, fields.Field[Any]]] = {}

    def apply(self, change: Change) -> Change:
        return replace(change, staged=change.current)


REGISTRY: Mapping[str, type[UpdateAction]] = {
    action.ACTION: action for action in (DoSomeThing, ChangeSomeProperty, Publish, RevertStagedChanges)
}
"""Every action by its discriminator."""


def change_of(actions: tuple[UpdateAction, ...]) -> Change:
    """The change that all actions make together, applied in their order."""
    change = Change()
    for action in actions:
        change = action.apply(change)
    return change
