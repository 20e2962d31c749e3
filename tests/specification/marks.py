"""Which tests hold which clause, by their marks: ``@pytest.mark.clause("4.10-3", "9-5")``.

The marks are read from the files' text. To collect them from pytest would take a second collection of all tests.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from tests.specification.clauses import ROOT, Clause

TABLE = ROOT / "docs/specification-tests.md"

_HEAD = """\
# Tests of the specification

For each clause of the [specification](specification.md) the tests that hold it, as `module::function`. A test says so
by its mark, `@pytest.mark.clause("4.10-3")`; `make specification` makes this table from the marks.
"""


@dataclass(frozen=True, slots=True)
class Mark:
    """A test that claims to hold a clause.

    :param test: ``path::function``, the path from the root of the repository.
    :param clause: the number, as it stands in the mark.
    """

    test: str
    clause: str


class UnreadableMark(ValueError):
    """A mark whose numbers are not literal texts, so that they cannot be read without running the file."""


def marks_in(source: str, path: str) -> Iterator[Mark]:
    """The marks of a file of tests, those of ``pytestmark`` for each of its tests.

    :param path: names the file in the result.
    :raises UnreadableMark: for a mark without numbers, or with one that is no literal.
    """
    if "mark.clause" not in source:
        return
    tree = ast.parse(source)
    of_module = [
        number
        for statement in tree.body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark"
        for number in _numbers(_items(statement.value), path)
    ]
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name.startswith("test_"):
            for number in (*_numbers(statement.decorator_list, path), *of_module):
                yield Mark(f"{path}::{statement.name}", number)


def _items(value: ast.expr) -> Sequence[ast.expr]:
    return value.elts if isinstance(value, ast.List | ast.Tuple) else [value]


def _numbers(marks: Sequence[ast.expr], path: str) -> Iterator[str]:
    for mark in marks:
        if not isinstance(mark, ast.Call) or ast.unparse(mark.func) != "pytest.mark.clause":
            continue
        if not mark.args:
            raise UnreadableMark(f"{path}:{mark.lineno}")
        for argument in mark.args:
            if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                raise UnreadableMark(f"{path}:{argument.lineno}")
            yield argument.value


@cache
def all_marks() -> Sequence[Mark]:
    """The marks of all files that pytest collects."""
    return tuple(
        mark
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for mark in marks_in(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())
    )


def held_by(marks: Sequence[Mark]) -> Mapping[str, Sequence[str]]:
    """The tests of each clause that a mark names, sorted."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for mark in marks:
        found[mark.clause].add(mark.test)
    return {clause: sorted(tests) for clause, tests in found.items()}


def table(clauses: Sequence[Clause], marks: Sequence[Mark]) -> str:
    """The document that lists the tests of each clause."""
    found = held_by(marks)
    parts = [_HEAD]
    theme = ""
    for clause in clauses:
        if clause.theme != theme:
            theme = clause.theme
            parts.append(f"\n## {clause.heading} (`{theme}`)\n\n| clause | tests |\n|---|---|\n")
        tests = "<br>".join(f"`{test}`" for test in found.get(clause.clause, ()))
        parts.append(f"| [{clause.clause}](specification.md#{clause.clause}) | {tests} |\n")
    return "".join(parts)
