#!/usr/bin/env python3
"""Make a release: check repository, version and CHANGELOG.md, build sdist and wheel, tag the commit.

Without all checks and a good build there is no tag. Nothing is pushed or uploaded.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from configparser import ConfigParser
from datetime import date
from email.parser import BytesHeaderParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BRANCH = "main"
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", re.ASCII)
HEADING = re.compile(r"^## \[(?P<name>[^\]]+)\](?: - (?P<date>\S+))?[ \t]*\n(?P<text>.*?)(?=^## |\Z)", re.M | re.S)


class Refusal(Exception):
    """The reason why there is no release."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="check and build, but make no tag")
    parser.add_argument("--check-only", action="store_true", help="check, but neither build nor tag")
    options = parser.parse_args()
    try:
        name, version = read_package()
        notes = read_notes(version)
        tag = f"v{version}"
        check_repository(tag)
        check_statements(version)
        say(f"{name} {version}: work tree, version, CHANGELOG.md and tag are in order.")
        if options.check_only:
            return
        for of in ("service", "sandbox", "testkit", "testkit-js"):
            for archive in build(of, name if of == "service" else f"{name}-{of.removesuffix('-js')}", version):
                say(f"Built dist/{archive.name}")
        if options.dry_run:
            say(f"Dry run: the tag {tag} was not made.")
            return
        git("tag", "--annotate", "--cleanup=whitespace", "--message", f"{name} {version}\n\n{notes}", tag)
        say(f"Made the tag {tag}. Publish it with: git push origin {tag}")
    except Refusal as refusal:
        sys.exit(f"No release: {refusal}")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def git(*arguments: str) -> str:
    """What a git command prints.

    :raises Refusal: with git's own message if it fails.
    """
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refusal(f"git {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()


def read_package() -> tuple[str, str]:
    """Name and version from setup.cfg."""
    configuration = ConfigParser(interpolation=None)
    configuration.read(ROOT / "setup.cfg", "utf-8")
    name = configuration.get("metadata", "name", fallback="")
    version = configuration.get("metadata", "version", fallback="")
    if not name or VERSION.fullmatch(version) is None:
        raise Refusal(f"the version in setup.cfg is {version!r}; X.Y.Z is expected, as in 1.2.3.")
    return name, version


def read_notes(version: str) -> str:
    """What CHANGELOG.md says about a version."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    sections = {found["name"]: found for found in HEADING.finditer(changelog)}
    section = sections.get(version)
    if section is None:
        raise Refusal(f"CHANGELOG.md has no section '## [{version}] - YYYY-MM-DD'.")
    try:
        date.fromisoformat(section["date"] or "")
    except ValueError:
        raise Refusal(f"the section {version} of CHANGELOG.md has no date; '- YYYY-MM-DD' is expected.") from None
    notes = section["text"].strip()
    if not any(line and not line.startswith("#") for line in notes.splitlines()):
        raise Refusal(f"the section {version} of CHANGELOG.md is empty.")
    return notes


def check_statements(version: str) -> None:
    """Refuse a release whose statements are not kept, since the next one has to run beside them."""
    file = ROOT / "tests/sql/released.json"
    kept = json.loads(file.read_text("utf-8"))["version"] if file.exists() else "no version"
    if kept != version:
        raise Refusal(
            f"tests/sql/released.json has the statements of {kept}: "
            "run make generate ARGS=sql-of-release and commit it."
        )


def check_repository(tag: str) -> None:
    """Refuse a commit outside of the main branch, uncommitted changes, and a tag that exists."""
    branch = git("rev-parse", "--abbrev-ref", "HEAD")
    if branch != BRANCH:
        raise Refusal(f"the branch is {branch}; releases are made from {BRANCH}.")
    changes = git("status", "--porcelain")
    if changes:
        raise Refusal(f"the work tree has changes that are not committed:\n{changes}")
    if git("tag", "--list", tag):
        raise Refusal(f"the tag {tag} exists. Raise the version in setup.cfg for a new release.")


def build(of: str, name: str, version: str) -> Iterator[Path]:
    """Build a distribution from the commit, as ``make dist`` does, and check and copy its archives to dist/."""
    with tempfile.TemporaryDirectory(prefix="release-") as scratch:
        built = Path(scratch, "dist")
        say(f"Building sdist and wheel of {name} ...")
        command = [sys.executable, str(ROOT / "ops/make/dist.py"), "--of", of, "--outdir", str(built)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise Refusal(f"the build failed:\n{done.stdout}")
        if of == "testkit-js":
            package = only(built, "*.tgz")
            check_name(package.name, npm_metadata(package), name, version)
            archives = [package]
        else:
            sdist, wheel = archives = [only(built, "*.tar.gz"), only(built, "*.whl")]
            check_metadata(sdist.name, sdist_metadata(sdist), name, version)
            check_metadata(wheel.name, wheel_metadata(wheel), name, version)
        for archive in archives:
            target = ROOT / "dist" / archive.name
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(archive, target)
            yield target


def only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise Refusal(f"the build made {len(found)} files {pattern}; one is expected.")
    return found[0]


def sdist_metadata(sdist: Path) -> bytes:
    with tarfile.open(sdist) as archive:
        found = [member for member in archive.getmembers() if re.fullmatch("[^/]+/PKG-INFO", member.name)]
        content = archive.extractfile(found[0]) if found else None
        return content.read() if content else b""


def wheel_metadata(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        found = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return archive.read(found[0]) if found else b""


def npm_metadata(package: Path) -> tuple[str, str]:
    """Name and version of an npm package."""
    with tarfile.open(package) as archive:
        content = archive.extractfile("package/package.json")
        said = json.loads(content.read()) if content else {}
    return said.get("name", ""), said.get("version", "")


def check_metadata(archive: str, metadata: bytes, name: str, version: str) -> None:
    headers = BytesHeaderParser().parsebytes(metadata)
    check_name(archive, (headers["Name"], headers["Version"]), name, version)


def check_name(archive: str, said: tuple[str, str], name: str, version: str) -> None:
    if said != (name, version):
        raise Refusal(f"{archive} says that it is {said[0]} {said[1]}, not {name} {version}.")


main()
