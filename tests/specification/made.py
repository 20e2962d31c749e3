"""The files that are made from the specification and the OpenAPI document, and what has to be in them."""

from pathlib import Path

from tests.specification import operations, page
from tests.specification.clauses import CLAUSES, DATA, DOCUMENT, as_json


def files() -> dict[Path, str]:
    """Each file and its text."""
    return {
        DATA: as_json(CLAUSES),
        page.PAGE: page.made_from(DOCUMENT.read_text("utf-8")),
        operations.DATA: operations.as_json(),
    }
