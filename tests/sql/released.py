"""The statements of the last release, with parameters: what instances of it send while an update is under way.

``released.json`` has each statement once, as :mod:`tests.support.walk` sent it when the release was made. A test runs
all of them on the schema of today.
"""

import json
from configparser import ConfigParser
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.support.pages import ROOT
from tests.support.walk import Walked

FILE = Path(__file__).with_name("released.json")


def made_from(walked: Walked) -> str:
    """The text of the file for the version that ``setup.cfg`` names."""
    package = ConfigParser(interpolation=None)
    package.read(ROOT / "setup.cfg")
    first = {statement.text: statement.parameters for statement in reversed(walked.statements)}
    statements = [{"text": text, "parameters": _written(first[text])} for text in reversed(first)]
    released = {"version": package["metadata"]["version"], "statements": statements}
    return json.dumps(released, indent=1, ensure_ascii=False) + "\n"


def read(text: str) -> tuple[str, list[tuple[str, Any]]]:
    """The version, and its statements with their parameters, of the text of the file."""
    released = json.loads(text)
    return released["version"], [(each["text"], _read(each["parameters"])) for each in released["statements"]]


def _written(value: Any) -> Any:
    """A parameter as JSON; one that JSON does not have is an object with its type."""
    match value:
        case UUID():
            return {"uuid": str(value)}
        case datetime():
            return {"datetime": value.isoformat()}
        case bytes():
            return {"bytes": value.hex()}
        case dict():
            return {"dict": {name: _written(each) for name, each in value.items()}}
        case list() | tuple():
            return [_written(each) for each in value]
        case None | str() | bool() | int() | float():
            return value
        case _:
            raise TypeError(f"no parameter of type {type(value).__name__} has been met before")


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(each) for each in value]
    if not isinstance(value, dict):
        return value
    [(kind, content)] = value.items()
    match kind:
        case "uuid":
            return UUID(content)
        case "datetime":
            return datetime.fromisoformat(content)
        case "bytes":
            return bytes.fromhex(content)
        case _:
            return {name: _read(each) for name, each in content.items()}
