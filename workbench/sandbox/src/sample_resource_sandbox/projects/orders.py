"""What a project is made with."""

import secrets
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from uuid_utils.compat import uuid7

from app.identity.token_profile import SCOPE_NAMES
from app.resource.model import ResourceRow
from app.resource.schemas import ResourceDraft
from sample_resource_sandbox.projects.ids import seeded_id


@dataclass(frozen=True, slots=True)
class NewProject:
    """A checked order for a project."""

    project_key: str | None = None
    scopes: tuple[str, ...] = SCOPE_NAMES
    ttl_s: int = 3600
    resources: int = 0
    drafts: tuple[ResourceDraft, ...] = ()
    """Resources that it begins with, in place of made-up ones."""
    token_ttl_s: int | None = None
    run: str | None = None
    """The run of tests that it belongs to."""
    allow: tuple[str, ...] = ()
    """The ids of findings that are expected."""
    copy_of: str | None = None
    clock: dict[str, Any] = field(default_factory=dict[str, Any])
    ids: dict[str, Any] = field(default_factory=dict[str, Any])


def drafted(drafts: Sequence[ResourceDraft], seed_: int | None, client_id: str, at: str) -> Iterator[ResourceRow]:
    """Resources as the project's client would have made them, one after the other."""
    return (
        ResourceRow(
            id=uuid7() if seed_ is None else seeded_id(seed_, number),
            version=1,
            key=draft.key,
            created_at=at,
            last_modified_at=at,
            created_by=client_id,
            last_modified_by=client_id,
            object_type=draft.object_type.text,
            some_property=None,
            staged_object_type=None,
            staged_some_property=None,
        )
        for number, draft in enumerate(drafts, 1)
    )


def new_key() -> str:
    """A key for a project whose maker names none."""
    return "sb-" + "".join(secrets.choice(string.ascii_lowercase) for _ in range(12))
