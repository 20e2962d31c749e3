"""Folders of SQL, made from a walk: the statements that reviewers read, and README.md, which lists them by step."""

from collections.abc import Collection
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from tests.sql.layout import laid_out
from tests.support.statements import Statement
from tests.support.walk import Walked

README = "README.md"

_HEAD = """\
# The SQL that {who} sends

One file for each statement, whole and with its parameters by name, as a walk through the operations
([{walk}]({walk})) sends it. A file is named after the first step that sends its statement; if a step sends several new
statements, they are numbered. The layout is made by [layout.py]({layout}).

`make generate ARGS=sql` writes this folder. A test compares it with what is sent, so reviews show a change of SQL.

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
    :param kinds: the steps whose statements are there; None: all steps.
    """

    path: Path
    who: str
    walk: str
    layout: str
    without: str
    kinds: Collection[str] | None = None

    def shown(self, walked: Walked) -> dict[str, list[Statement]]:
        """The steps of a walk whose statements are in the folder."""
        if self.kinds is None:
            return walked.steps
        unknown = set(self.kinds) - walked.steps.keys()
        assert not unknown, f"KINDS in tests/sql/files.py has steps that the walk does not take: {sorted(unknown)}"
        return {step: statements for step, statements in walked.steps.items() if step in self.kinds}

    def made_from(self, walked: Walked) -> dict[str, str]:
        """Names of files and what is in them."""
        files: dict[str, str] = {}
        names: dict[str, str] = {}
        lines: list[str] = []
        for step, statements in self.shown(walked).items():
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


KINDS = {
    "client.create", "client.has_clients", "client.find", "client.list", "client.revoke", "client.remove",
    "client.ensure", "token.issue", "token.find", "token.revoke", "token.revoke_all", "token.remove_outdated",
    "oauth.token",
    "oauth.introspect",
    "get_by_id", "get_by_key", "overwrite.without_a_name_not_found", "overtaken.ByKey",
    "create.new", "create_or_update.new_staged", "create_or_update.by_id", "delete.expecting_a_version",
    "update_by_actions.do_some_thing", "update_by_actions.change_staged_some_property",
    "list.all", "list.several_parameters", "list_sorted.expand_both", "list_sorted.where_in_order",
    "exists.all", "exists.where_and_or_not", "exists.where_two_ranges",
    "search.text", "search.filter_facets", "search.facet_of_texts", "search.facet_of_ranges_of_array",
    "search_staged.filters",
    "bulk.copy_in", "bulk.existing_ids", "bulk.count_and_bytes", "bulk.tidy", "bulk.delete_in_parts",
    "bulk.delete_all",
    "dictionary.add_words_of", "dictionary.add_words_of_all", "dictionary.remove_unused_words",
    "readiness",
}  # fmt: skip
"""The steps of the service's walk whose statements reviewers read: one for each kind of statement.

Other steps send statements that differ from these in a condition, an order or a parameter. The tests of plans and the
comparisons with an oracle are about the statements of all steps.
"""

SERVICE = Folder(
    Path(__file__).parent,
    "the service",
    "../support/walk.py",
    "layout.py",
    "Left out are variants that differ in a condition, an order or a parameter (`KINDS` in [files.py](files.py)), and\n"
    "what administers the database: migrations, `db distribute`, and the embedded server.",
    KINDS,
)
