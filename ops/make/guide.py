#!/usr/bin/env python3
"""Build the guide: the documents of this repository as pages, make docs.

The pages go to app/pages/guide, where the service serves them at /docs/guide and any other server or a browser can show
them too, or to the folder that is named. The same documents always make the same bytes. A link without a target fails
the build.
"""

import argparse
import json
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

CHECKOUT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("*.md", "docs/**/*.md", "workbench/*/*.md", "workbench/*/docs/*.md")
"""What becomes pages. They keep their places beside each other, so their links hold."""

NOT_SEARCHED = ("docs/specification-tests.html", "docs/workbench/clients-table.html")
"""Tables that commands make, in which words are found too often to lead anywhere."""

SITE = CHECKOUT / "docs/site"
OF_EVERY_PAGE = (CHECKOUT / "app/pages/site", ("site.css", "icon.svg")), (SITE, ("guide.css", "guide.js"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="make docs", description=__doc__)
    parser.add_argument(
        "target", type=Path, nargs="?", default=CHECKOUT / "app/pages/guide", help="default: app/pages/guide"
    )
    target: Path = parser.parse_args().target
    with tempfile.TemporaryDirectory(prefix="guide-") as scratch:
        built = pages(Path(scratch))
        files = {path.relative_to(built).as_posix(): path.read_bytes() for path in sorted(built.rglob("*.html"))}
        del files["404.html"]
        files["search.json"] = search_index(built / "search.json")
    for folder, names in OF_EVERY_PAGE:
        files |= {name: (folder / name).read_bytes() for name in names}
    broken = complete(files)
    if broken:
        sys.exit("Links without a target:\n" + "\n".join(broken))
    shutil.rmtree(target, ignore_errors=True)
    for name, content in files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(content)
    sys.stdout.write(f"{target}: {len(files)} files, {sum(map(len, files.values())) // 1000} kB\n")


def documents() -> list[Path]:
    """The documents that git tracks or, where there is no repository, that are there."""
    found = [path for pattern in DOCUMENTS for path in CHECKOUT.glob(pattern)]
    try:
        listed = subprocess.run(
            ["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True, check=False
        ).stdout.split("\n")
    except FileNotFoundError:
        return found
    tracked = {CHECKOUT / name for name in listed}
    return [path for path in found if path in tracked] or found


def pages(scratch: Path) -> Path:
    """What Zensical makes of copies of the documents."""
    for document in documents():
        copied = scratch / "source" / document.relative_to(CHECKOUT)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(document, copied)
    shutil.copyfile(SITE / "zensical.toml", scratch / "zensical.toml")
    shutil.copytree(SITE / "theme", scratch / "theme")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"The guide cannot be built:\n{done.stdout}{done.stderr}")
    return scratch / "site"


def search_index(made: Path) -> bytes:
    """Of each section its address, the title of its page and its own, and its text without marks."""
    sections = [
        [
            item["location"],
            [plain(title) for title in dict.fromkeys((item["path"][-1], item["title"]))],
            plain(item["text"]),
        ]
        for item in json.loads(made.read_text("utf-8"))["items"]
        if item["location"].partition("#")[0] not in NOT_SEARCHED
    ]
    return compact(sorted(sections))


def compact(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def plain(text: str) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", " ", text)).split())


def complete(files: dict[str, bytes]) -> list[str]:
    """Add the pictures, data and other files that the pages link to.

    :returns: what is nowhere.
    """
    marks = {name: Marks(content) for name, content in files.items() if name.endswith(".html")}
    broken: list[str] = []
    for name, page in marks.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            place = (
                posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path))) if parts.path else name
            )
            if place not in files and (CHECKOUT / place).is_file() and not place.startswith(".."):
                content = (CHECKOUT / place).read_bytes()
                files[place] = compact(json.loads(content)) if place.endswith(".json") else content
            if place not in files or (parts.fragment and unquote(parts.fragment) not in marks[place].anchors):
                broken.append(f"{name}: {link}")
    return broken


class Marks(HTMLParser):
    """The addresses that a page links to or loads, and its anchors."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 -- the parser's signature
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value or "")
            elif name == "id":
                self.anchors.add(value or "")


if __name__ == "__main__":
    main()
