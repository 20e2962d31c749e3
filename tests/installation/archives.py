"""What is in the archives of ``make dist``."""

import subprocess
import zipfile
from configparser import ConfigParser
from email.message import Message
from email.parser import BytesHeaderParser
from pathlib import Path, PurePosixPath

from tests.support.server import ROOT


def archives_in(folder: Path) -> tuple[Path, Path]:
    """The sdist and the wheel that were built there."""
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def metadata_of(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return BytesHeaderParser().parsebytes(archive.read(name))


def place_in_wheel(path: str) -> str:
    """Where a file of the checkout is in the wheel, as ``package_dir`` of setup.cfg says."""
    launcher = PurePosixPath("app/launcher")
    if launcher in PurePosixPath(path).parents:
        return str("sample_resource" / PurePosixPath(path).relative_to(launcher))
    return f"app/{path}" if path.startswith("migrations/") else path


def packaged_files(*folders: str) -> list[str]:
    """The files of the checkout that a wheel has to contain, by default that of the service."""
    listed = subprocess.run(
        ["git", "ls-files", "--", *(folders or ("app", "migrations"))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for path in listed.stdout.splitlines() if (ROOT / path).exists()]


def entry_points_of(wheel: Path) -> dict[str, dict[str, str]]:
    """The entry points of a wheel, by group."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/entry_points.txt"))
        points = ConfigParser()
        points.read_string(archive.read(name).decode())
    return {group: dict(points[group]) for group in points.sections()}
