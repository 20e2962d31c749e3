"""The order for a new project."""

import secrets
import string
from dataclasses import dataclass, field
from typing import Any

from app.identity.scopes import SCOPE_NAMES


@dataclass(frozen=True, slots=True)
class NewProject:
    """A checked order for a project."""

    project_key: str | None = None
    scopes: tuple[str, ...] = SCOPE_NAMES
    ttl_s: int = 3600
    resources: int = 0
    """The number of generated resources that the project begins with."""
    run: str | None = None
    """The run of tests to which it will belong."""
    allow: tuple[str, ...] = ()
    """The ids of findings that are expected, and not reported."""
    copy_of: str | None = None
    clock: dict[str, Any] = field(default_factory=dict[str, Any])
    ids: dict[str, Any] = field(default_factory=dict[str, Any])


def new_key() -> str:
    """Make a random key for a project whose order has none."""
    return "sb-" + "".join(secrets.choice(string.ascii_lowercase) for _ in range(12))
