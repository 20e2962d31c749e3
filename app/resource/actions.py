"""Update actions (interface 2.6): one class each, with its discriminator, its fields and its effect.

A new action is a new class here, listed in :data:`REGISTRY`, which the body schema, the error for an unknown action and
the OpenAPI document read.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from marshmallow import fields

from app.resource.model import Content, Resource
from app.values.json_fields import Boolean, Text


class UpdateAction(ABC):
    """An update action whose fields are valid. The OpenAPI document contains the docstring of each
    subclass.

    ``FIELDS`` maps each parameter of the class to the JSON field that it is loaded from; ``action`` is not among them.
    """

    ACTION: ClassVar[str]
    FIELDS: ClassVar[Mapping[str, fields.Field[Any]]] = {}

    @abstractmethod
    def apply(self, resource: Resource) -> Resource:
        """Return the resource after the action."""


@dataclass(frozen=True, slots=True)
class DoSomeThing(UpdateAction):
    """Changes no field, but raises the version."""

    ACTION = "doSomeThing"

    def apply(self, resource: Resource) -> Resource:
        # A resource equal to the stored one is not written, so this one has to differ from it. How much is added does
        # not matter: rules.decide then sets the version to that of the stored resource plus one, even if a request has
        # several of these actions.
        return replace(resource, version=resource.version + 1)


@dataclass(frozen=True, slots=True)
class ChangeSomeProperty(UpdateAction):
    """Sets someProperty, with `staged: true` in the staged projection only."""

    ACTION = "changeSomeProperty"
    FIELDS: ClassVar[Mapping[str, fields.Field[Any]]] = {
        "some_property": Text(required=True, data_key="someProperty"),
        "staged": Boolean(),
    }

    some_property: str
    staged: bool = False

    def apply(self, resource: Resource) -> Resource:
        return resource.with_content(
            lambda content: Content(content.object_type, self.some_property), staged_only=self.staged
        )


@dataclass(frozen=True, slots=True)
class Publish(UpdateAction):
    """Copies the staged projection over the current one."""

    ACTION = "publish"

    def apply(self, resource: Resource) -> Resource:
        return replace(resource, current=resource.staged)


@dataclass(frozen=True, slots=True)
class RevertStagedChanges(UpdateAction):
    """Copies the current projection over the staged one."""

    ACTION = "revertStagedChanges"

    def apply(self, resource: Resource) -> Resource:
        return replace(resource, staged=resource.current)


REGISTRY: Mapping[str, type[UpdateAction]] = {
    action.ACTION: action for action in (DoSomeThing, ChangeSomeProperty, Publish, RevertStagedChanges)
}
"""The class of each action, by the value of ``action`` in the body."""
