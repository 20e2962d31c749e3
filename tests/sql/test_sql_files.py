"""The files of this folder are what the service sends, and a walk through its operations sends all that it can."""

import ast
from difflib import unified_diff

from tests.sql import files
from tests.sql.layout import tokens
from tests.support.statements import APP, CURSOR_MODULE
from tests.support.walk import Walked

ADMINISTRATION = {
    "bulk/consistency.py",  # looks at all projects
    "database/distribute.py",  # needs Citus
    "database/migrate.py",
    "serving/embedded.py",
}
"""Modules whose statements administer a database."""


def test_the_files_are_what_is_sent(walked: Walked) -> None:
    made, stored = files.made_from(walked), files.stored()
    differences = [
        line
        for name in sorted(made.keys() | stored.keys())
        for line in unified_diff(
            stored.get(name, "").splitlines(),
            made.get(name, "").splitlines(),
            f"stored/{name}",
            f"sent/{name}",
            lineterm="",
        )
    ]
    assert not differences, "\n".join(["make generate ARGS=sql writes these anew:", *differences])


def test_what_is_sent_and_what_is_stored_differ_in_white_space_alone(walked: Walked) -> None:
    stored = {tuple(tokens(text)) for name, text in files.stored().items() if name != files.README}
    sent = {tuple(tokens(statement.text)) for statement in walked.statements}
    assert sent == stored


def test_every_line_that_sends_a_statement_is_reached(walked: Walked) -> None:
    reached: dict[str, set[int]] = {}
    for statement in walked.statements:
        if statement.sender is not None:
            reached.setdefault(statement.sender.path, set()).add(statement.sender.line)
    missed: list[str] = []
    for path in sorted(APP.rglob("*.py")):
        name = path.relative_to(APP).as_posix()
        if name in ADMINISTRATION or path == CURSOR_MODULE:
            continue
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                lines = range(call.lineno, (call.end_lineno or call.lineno) + 1)
                sends = call.func.attr in ("execute", "executemany") or ast.unparse(call.func) == "cursor.copy"
                if sends and not reached.get(name, set()).intersection(lines):
                    missed.append(f"{name}:{call.lineno}")
    assert missed == [], "add a step to tests/support/walk.py"
