"""The guide: every document is a page of it, it is whole without another host, and the service serves it."""

import json
import re
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

from app.pages import frame
from tests.support.api import Api
from tests.support.built import Built
from tests.support.pages import ROOT

AT_MOST = 2_000_000
"""What it may add to the wheel, in bytes."""

BUILD = ROOT / "ops/make/guide.py"


@pytest.fixture(scope="module")
def guide(built: Built) -> Path:
    """The built guide. The build fails if a link or an anchor is missing."""
    return built("guide")


@pytest.fixture
def served(guide: Path, api: Api, monkeypatch: pytest.MonkeyPatch) -> Api:
    """The service with the built guide."""
    monkeypatch.setattr(frame, "GUIDE", guide)
    return api


def pages(guide: Path) -> dict[str, str]:
    return {path.relative_to(guide).as_posix(): path.read_text("utf-8") for path in guide.rglob("*.html")}


def page_of(document: Path) -> str:
    place = document.relative_to(ROOT).with_suffix(".html")
    return (place.with_name("index.html") if place.stem == "README" else place).as_posix()


def documents() -> list[Path]:
    patterns = ("*.md", "docs/**/*.md", "workbench/*/*.md", "workbench/*/docs/*.md")
    return [path for pattern in patterns for path in ROOT.glob(pattern)]


def test_every_document_is_a_page_that_the_list_of_pages_leads_to(guide: Path) -> None:
    assert set(pages(guide)) == {page_of(document) for document in documents()}
    listed = re.findall(r'<li><a href="([^"#]+)"', pages(guide)["index.html"].partition("<main")[0])
    records = {page for page in pages(guide) if re.match("docs/decisions/[0-9]", page)}
    assert {place.removeprefix("./") for place in listed} == set(pages(guide)) - records


def test_pages_load_only_what_is_beside_them_and_run_nothing_inline(guide: Path) -> None:
    for name, text in pages(guide).items():
        loaded = re.findall(
            r"<(?:link|script|img|source|iframe|object|embed)\b[^>]*?(?:href|src|data)=\"([^\"]*)\"", text
        )
        assert len(loaded) >= 4, name
        assert [link for link in loaded if not (guide / name).parent.joinpath(link).is_file()] == []
        assert not re.search(r"<script(?![^>]*src=)|<style|<[^>]+\s(?:style|on\w+|srcset)=", text), name
    for path in (*guide.glob("*.css"), *guide.glob("*.js")):
        assert not re.search(r"https?:|@import|url\(", path.read_text("utf-8")), path.name


def test_a_link_without_a_target_fails_the_build() -> None:
    complete = build_program().complete
    with_anchor = b'<h1 id="a">A</h1><a href="docs/tour.html#resources">t</a>'
    files = {"index.html": with_anchor, "docs/tour.html": b'<a href="../index.html#a">x</a><h2 id="resources">R</h2>'}
    assert complete(files) == []
    assert complete({"index.html": b'<a href="docs/nowhere.html">n</a>'}) == ["index.html: docs/nowhere.html"]
    assert complete({"index.html": b'<a href="#nowhere">n</a>'}) == ["index.html: #nowhere"]
    assert complete({"index.html": b'<a href="../outside">n</a>'}) == ["index.html: ../outside"]
    with_file = {"index.html": b'<a href="LICENSE">l</a>'}
    assert complete(with_file) == []
    assert with_file["LICENSE"] == (ROOT / "LICENSE").read_bytes()


def test_it_can_be_built_of_what_a_container_engine_is_sent(tmp_path: Path) -> None:
    """The images have it, and the engine is sent only what ``.dockerignore`` leaves."""
    rules = re.findall("^[^#\n].*", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in tracked.stdout.split():
        if is_sent(Path(name), rules):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tmp_path / name)
    assert not (tmp_path / "Makefile").exists()
    command = [sys.executable, str(tmp_path / "ops/make/guide.py"), str(tmp_path / "built")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def is_sent(path: Path, rules: list[str]) -> bool:
    """The last rule that fits a path or a folder above it decides."""
    fitting = [rule for rule in rules if any(fits(place, rule.removeprefix("!")) for place in (path, *path.parents))]
    return not fitting or fitting[-1].startswith("!")


def fits(place: Path, rule: str) -> bool:
    pattern = re.escape(rule).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*")
    return place != Path() and re.fullmatch(pattern, place.as_posix()) is not None


def build_program() -> ModuleType:
    loader = SourceFileLoader("build_of_the_guide", str(BUILD))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_it_adds_little_to_the_wheel(guide: Path) -> None:
    assert sum(path.stat().st_size for path in guide.rglob("*") if path.is_file()) <= AT_MOST


def test_the_search_knows_the_sections(guide: Path) -> None:
    sections: list[tuple[str, list[str], str]] = json.loads((guide / "search.json").read_text("utf-8"))
    texts = pages(guide)
    for location, titles, text in sections:
        page, _, anchor = location.partition("#")
        assert not anchor or f'id="{anchor}"' in texts[page], location
        assert titles
        assert "</" not in text or "&lt;/" in texts[page], location
    (errors,) = (text for location, _, text in sections if location == "docs/reference.html#errors")
    assert "InvalidJsonInput" in errors


def test_the_service_serves_it_with_the_header_and_the_policy_of_all_pages(served: Api) -> None:
    first = served.get("//docs/guide", headers={"Accept": "text/html"})
    assert (first.status_code, first.headers["Location"]) == (302, "/docs/guide/index.html")
    assert served.post("//docs/guide").status_code == 405
    for path in ("//docs/guide/index.html", "//docs/guide/docs/operations.html"):
        page = served.get(path)
        assert page.content_type == "text/html; charset=utf-8"
        assert page.headers["Content-Security-Policy"] == frame.POLICY
        assert page.headers["X-Content-Type-Options"] == "nosniff"
        assert page.text.count('<header class="site">') == 1
        assert '<a href="/docs/guide" aria-current="page">Guide</a>' in page.text
    for name, kind in (("site.css", "text/css"), ("guide.js", "text/javascript"), ("search.json", "application/json")):
        with served.get(f"//docs/guide/{name}") as answer:
            assert (answer.status_code, answer.mimetype) == (200, kind)
            assert answer.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("name", ["nowhere.html", "docs", "docs/", "../frame.py", "docs/..%2f..%2fframe.py", "%00", ""])
def test_nothing_else_is_served(served: Api, name: str) -> None:
    answer = served.get(f"//docs/guide/{name}")
    assert answer.status_code == (302 if name == "" else 404)


def test_a_guide_that_is_not_built_is_404(served: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "GUIDE", tmp_path)
    assert served.get("//docs/guide").status_code == 404


def test_behind_a_prefix_the_guide_begins_below_it(served: Api) -> None:
    first = served.get("//docs/guide", base_url="http://localhost/prefix/")
    assert first.headers["Location"] == "/prefix/docs/guide/index.html"


def test_a_checkout_without_it_has_no_link_to_it(api: Api, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(frame, "GUIDE", tmp_path / "nothing")
    assert "/docs/guide" not in api.get("//", headers={"Accept": "text/html"}).text
    assert api.get("//docs/guide", follow_redirects=True).status_code == 404
