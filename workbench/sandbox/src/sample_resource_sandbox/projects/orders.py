"""What a project is made with."""

import secrets
import string
from dataclasses import dataclass, field
from typing import Any

from app.identity.token_profile import SCOPE_NAMES


@dataclass(frozen=True, slots=True)
class NewProject:
    """A checked order for a project."""

    project_key: str | None = None
    scopes: tuple[str, ...] = SCOPE_NAMES
    ttl_s: int = 3600
    resources: int = 0
    """So many made-up ones."""
    run: str | None = None
    """The run of tests that it belongs to."""
    allow: tuple[str, ...] = ()
    """The ids of findings that are expected."""
    copy_of: str | None = None
    clock: dict[str, Any] = field(default_factory=dict[str, Any])
    ids: dict[str, Any] = field(default_factory=dict[str, Any])


def new_key() -> str:
    """A key for a project whose maker names none."""
    return "sb-" + "".join(secrets.choice(string.ascii_lowercase) for _ in range(12))
