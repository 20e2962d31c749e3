"""Records every SQL statement that is sent through psycopg."""

import ast
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.pq import TransactionStatus

import app
from app.database import pooled_connection
from app.extension import installed_package

APP = Path(app.__file__).parent

_EXTENSION = Path(sys.modules[type(installed_package()).__module__].__file__ or "").parent
"""The folder of the installed extension; without an extension, that of the module that looks for one."""

CURSOR_MODULE = Path(pooled_connection.__file__)
"""The module of the pool's cursor class, which only passes statements on."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """The line of the service, or of its installed extension, that sends a statement."""

    path: Path
    line: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as it was sent."""

    text: str
    parameters: Any
    state: TransactionStatus
    """The state of the connection's transaction when the statement was sent."""
    sender: CallSite | None
    """The line that sent the statement; None if a test sent it."""


_LOOKUP = "FROM access_token t"
"""A part of the statement that looks tokens up."""


@contextmanager
def recorded(*, lookups: bool = False) -> Iterator[list[Statement]]:
    """Record the statements of this process until the end of the ``with``.

    :param lookups: whether to record lookups of tokens too. A process looks a token up again after some seconds.
    """
    statements: list[Statement] = []

    def record(cursor: Any, query: Any, parameters: Any) -> None:
        text = query.as_string(cursor) if isinstance(query, sql.Composable) else query
        text = text if isinstance(text, str) else bytes(text).decode()
        if _LOOKUP in text and not lookups:
            return
        state = cursor.connection.info.transaction_status
        statements.append(Statement(text, parameters, state, _sender(sys._getframe(2))))

    def recording(method: Any) -> Any:
        def send(cursor: Any, query: Any, parameters: Any = None, *arguments: Any, **options: Any) -> Any:
            record(cursor, query, parameters)
            return method(cursor, query, parameters, *arguments, **options)

        return send

    with pytest.MonkeyPatch.context() as patch:
        # A server-side cursor overrides execute without calling the one that it overrides.
        for cursor_class, names in (
            (psycopg.Cursor, ("execute", "executemany", "copy", "stream")),
            (psycopg.ServerCursor, ("execute",)),
        ):
            for name in names:
                patch.setattr(cursor_class, name, recording(getattr(cursor_class, name)))
        yield statements


def _sender(frame: FrameType | None) -> CallSite | None:
    """The innermost line that sends the statement, and does not only pass it on."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if (path.is_relative_to(APP) or path.is_relative_to(_EXTENSION)) and path != CURSOR_MODULE:
            return CallSite(path, frame.f_lineno)
        frame = frame.f_back
    return None


def lines_not_reached(folder: Path, statements: list[Statement], but: Collection[str] = ()) -> list[str]:
    """The lines in a package that can send statements, but sent none of the given ones.

    :param but: modules to leave out, by their paths in the package.
    """
    reached = {(sender.path, sender.line) for sender in (each.sender for each in statements) if sender is not None}
    missed: list[str] = []
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if name in but or path == CURSOR_MODULE:
            continue
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                lines = range(call.lineno, (call.end_lineno or call.lineno) + 1)
                sends = (
                    call.func.attr in ("execute", "executemany", "stream") or ast.unparse(call.func) == "cursor.copy"
                )
                if sends and not any((path, line) in reached for line in lines):
                    missed.append(f"{name}:{call.lineno}")
    return missed
