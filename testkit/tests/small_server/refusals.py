"""Answers of 400 and more: the error body of the platform, and its entries."""

import json
from typing import Any

Entry = dict[str, Any]

BAD_BODY = "Request body does not contain valid JSON."


class Refused(Exception):
    """A request that is not served.

    :param entries: of ``errors``; the first message is that of the answer.
    :param oauth: whether the answer has ``error`` and ``error_description``.
    """

    def __init__(
        self, status: int, *entries: Entry, headers: dict[str, str] | None = None, oauth: bool = False
    ) -> None:
        super().__init__(status)
        self.status = status
        self.entries = entries
        self.headers = headers or {}
        self.oauth = oauth

    def body(self) -> dict[str, Any]:
        """The error body."""
        first = self.entries[0]
        body: dict[str, Any] = {
            "statusCode": self.status,
            "message": first["message"],
            "errors": list(self.entries),
        }
        if self.oauth:
            body |= {"error": first["code"], "error_description": first["message"]}
        return body


def entry(code: str, message: str, **members: Any) -> Entry:
    """One of ``errors``."""
    return {"code": code, "message": message, **members}


def bad_parameter(name: str, reason: str) -> Entry:
    """A fault of a parameter or of a header."""
    return entry("InvalidInput", f"Malformed parameter: {name}: {reason}")


def bad_structure(path: tuple[str | int, ...], reason: str) -> Entry:
    """A fault of the structure of a body."""
    detail = f"{steps(path)}: {reason}" if path else reason
    return entry("InvalidJsonInput", BAD_BODY, detailedErrorMessage=detail)


def bad_value(path: tuple[str | int, ...], value: Any, reason: str) -> Entry:
    """A fault of a value in a body whose structure is right."""
    message = f"The value '{as_json(value)}' is not valid for field '{steps(path)}'. {reason}"
    return entry("InvalidField", message, field=steps(path), invalidValue=value)


def duplicate(field: str, value: Any) -> Refused:
    """A value that another resource has."""
    message = f"A duplicate value '{as_json(value)}' exists for field '{field}'."
    return Refused(400, entry("DuplicateField", message, field=field, duplicateValue=value))


def not_found(by: str, value: str) -> Refused:
    """No resource has this ID or key."""
    return Refused(404, entry("ResourceNotFound", f"The Resource with {by} '{value}' was not found."))


def steps(path: tuple[str | int, ...]) -> str:
    """A path as errors write it."""
    return " -> ".join(map(str, path))


def as_json(value: Any) -> str:
    """A value as JSON, as short as it goes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
