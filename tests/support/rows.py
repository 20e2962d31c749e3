"""Makes rows of resources, which the service would load by COPY."""

from uuid import uuid4

from app.resource.model import ResourceRow

AT = "2030-01-01T00:00:00.000Z"


def made(
    object_type: str = "{}", *, key: str | None = None, some_property: str | None = None, staged: str | None = None
) -> ResourceRow:
    """A row with a new id, from the texts of its columns."""
    return ResourceRow(uuid4(), 1, key, AT, AT, "c", "c", object_type, some_property, staged, None)
