"""The files of this folder, made from a walk: one for each statement, and README.md, which lists them by operation."""

from pathlib import Path

from tests.sql.layout import laid_out
from tests.support.walk import Walked

FOLDER = Path(__file__).parent

README = "README.md"

_HEAD = """\
# The SQL that the service sends

One file for each statement, whole and with its parameters by name, as a walk through every operation and its main
variants ([walk.py](../support/walk.py)) sends it. A file is named after the first step that sends its statement; a step
that sends several new ones has them numbered. The layout is ours ([layout.py](layout.py)), the text is what is sent.

`make generate ARGS=sql` writes this folder anew. Tests compare it, so that a change of SQL shows in its review.

What administers the database is not here: migrations, `db distribute`, and the embedded server.

| step of the walk | statements, in their order |
|---|---|
"""


def made_from(walked: Walked) -> dict[str, str]:
    """Names of files and what is in them."""
    files: dict[str, str] = {}
    names: dict[str, str] = {}
    lines: list[str] = []
    for step, statements in walked.steps.items():
        texts = list(dict.fromkeys(laid_out(statement.text) for statement in statements))
        new = [text for text in texts if text not in names]
        for number, text in enumerate(new, start=1):
            name = f"{step}.{number}.sql" if len(new) > 1 else f"{step}.sql"
            names[text] = name
            files[name] = text
        sent = ", ".join(f"[{names[text].removesuffix('.sql')}]({names[text]})" for text in texts)
        lines.append(f"| {step} | {sent or 'none'} |\n")
    return files | {README: _HEAD + "".join(lines)}


def stored() -> dict[str, str]:
    """The same, as the folder has them."""
    return {path.name: path.read_text("utf-8") for path in [*FOLDER.glob("*.sql"), FOLDER / README] if path.exists()}


def write(files: dict[str, str]) -> None:
    """Make the folder have these files and no other ones of their kind."""
    for name in stored().keys() - files.keys():
        (FOLDER / name).unlink()
    for name, text in files.items():
        (FOLDER / name).write_text(text, "utf-8")
