"""Folders of SQL, made from a walk: a file for each statement, and README.md, which lists them by operation."""

from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from tests.sql.layout import laid_out
from tests.support.walk import Walked

README = "README.md"

_HEAD = """\
# The SQL that {who} sends

One file for each statement, whole and with its parameters by name, as a walk through every operation and its main
variants ([{walk}]({walk})) sends it. A file is named after the first step that sends its statement; a step that sends
several new ones has them numbered. The layout is ours ([layout.py]({layout})), the text is what is sent.

`make generate ARGS=sql` writes this folder anew. Tests compare it, so that a change of SQL shows in its review.

{without}

| step of the walk | statements, in their order |
|---|---|
"""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of SQL.

    :param who: sends it.
    :param walk: the path of the module that walks, from the folder.
    :param layout: that of ``layout.py``.
    :param without: a sentence about what is not there.
    """

    path: Path
    who: str
    walk: str
    layout: str
    without: str

    def made_from(self, walked: Walked) -> dict[str, str]:
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
        head = _HEAD.format(who=self.who, walk=self.walk, layout=self.layout, without=self.without)
        return files | {README: head + "".join(lines)}

    def stored(self) -> dict[str, str]:
        """The same, as the folder has them."""
        found = [*self.path.glob("*.sql"), self.path / README]
        return {path.name: path.read_text("utf-8") for path in found if path.exists()}

    def write(self, walked: Walked) -> str:
        """Make the folder have these files and no other ones of their kind; say what has changed."""
        made, stored = self.made_from(walked), self.stored()
        for name in stored.keys() - made.keys():
            (self.path / name).unlink()
        for name, text in made.items():
            (self.path / name).write_text(text, "utf-8")
        changed = {name for name in made.keys() | stored.keys() if made.get(name) != stored.get(name)}
        return f"{self.path.name}: {len(made)} files, {len(changed)} changed"

    def differences(self, walked: Walked) -> list[str]:
        """How the files differ from what is sent, as lines of a diff."""
        made, stored = self.made_from(walked), self.stored()
        return [
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


SERVICE = Folder(
    Path(__file__).parent,
    "the service",
    "../support/walk.py",
    "layout.py",
    "What administers the database is not here: migrations, `db distribute`, and the embedded server.",
)
