"""What the schemas of the document of the sandbox are made of."""

from typing import Any

from app.values.project_keys import PROJECT_KEY_PATTERN

Document = dict[str, Any]


def object_(properties: Document, required: tuple[str, ...] = (), **more: Any) -> Document:
    """An object without other members."""
    return {
        "type": "object",
        **({"required": list(required)} if required else {}),
        "properties": properties,
        "additionalProperties": False,
        **more,
    }


def text_(meaning: str = "", **more: Any) -> Document:
    """A text."""
    return {"type": "string", **({"description": meaning} if meaning else {}), **more}


def number(minimum: float, maximum: float, meaning: str = "", kind: str = "integer") -> Document:
    """A number within a range."""
    return {
        "type": kind,
        "minimum": minimum,
        "maximum": maximum,
        **({"description": meaning} if meaning else {}),
    }


def ref(name: str) -> Document:
    """A schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


KEY = {"type": "string", "pattern": f"^{PROJECT_KEY_PATTERN}$"}
TIME = {"type": "string", "format": "date-time"}
OPTIONAL_TEXT: Document = {"type": ["string", "null"]}
COUNT: Document = {"type": "integer", "minimum": 0}

FINDING: Document = {
    "id": text_(),
    "title": text_("what it is"),
    "detail": text_("what exactly was found"),
    "instead": text_("what the client should do"),
    "clauses": {
        "type": "array",
        "items": {"type": "string"},
        "description": "numbers of the specification, whose clauses have anchors in /docs/specification",
    },
}
"""The members of a finding."""
