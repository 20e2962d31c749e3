"""What is installed as an extension: none, one, one of another version, a broken one."""

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, PathDistribution, version
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli import main
from app.config import InvalidSetting, Settings
from app.extension import ExtensionPackage, installed_package, package_of

OWN = version("sample-resource")

ON = Settings.from_environment({"SANDBOX": "on"})
OFF = Settings.from_environment({})


def ends() -> ExtensionPackage:
    """As a package that takes the process for its own."""
    raise SystemExit("it ends")


Install = Callable[..., None]


class Package(ExtensionPackage):
    """An extension."""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Let these distributions be what is installed, each with its version and the class that its entry point names."""
    points: list[EntryPoint] = []

    def add(name: str, release: str = OWN, value: str = f"{__name__}:Package") -> None:
        folder = tmp_path / f"{name}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n")
        (folder / "entry_points.txt").write_text(f"[sample_resource.extension]\nit = {value}\n")
        points.extend(PathDistribution(folder).entry_points)

    monkeypatch.setattr("app.extension.entry_points", lambda group: [each for each in points if each.group == group])
    installed_package.cache_clear()
    yield add
    installed_package.cache_clear()


def reason() -> str:
    """Why the switch is refused, which is also said with an unknown command; without it the service starts."""
    assert type(package_of(OFF)) is ExtensionPackage
    with pytest.raises(InvalidSetting) as refused:
        package_of(ON)
    said = str(refused.value).partition("SANDBOX='on': ")[2]
    unknown = CliRunner().invoke(main, ["report"])
    assert unknown.exit_code == 2
    assert "No such command 'report'" in unknown.output
    assert said in " ".join(unknown.output.split())
    return said


def test_an_installed_one_is_used(install: Install) -> None:
    install("one")
    assert isinstance(package_of(ON), Package)
    assert type(package_of(OFF)) is ExtensionPackage


@pytest.mark.usefixtures("install")
def test_none() -> None:
    assert reason() == "needs the package sample-resource-sandbox, which is not installed"


def test_one_of_another_version(install: Install) -> None:
    install("one", "9.9")
    assert reason() == f"needs the package one {OWN}, and 9.9 is installed"


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("no_such_module:Package", "ModuleNotFoundError: "),
        (f"{__name__}:NoSuchClass", "AttributeError: "),
        (f"{__name__}:ends", "SystemExit: it ends"),
    ],
)
def test_one_that_cannot_be_loaded(install: Install, value: str, error: str) -> None:
    install("one", value=value)
    assert reason().startswith(f"needs the package sample-resource-sandbox, which cannot be loaded: {error}")


def test_no_command_of_the_extension_has_the_name_of_one_of_the_service() -> None:
    from app.cli import _COMMANDS  # pyright: ignore[reportPrivateUsage] -- the names of the service's commands

    assert not {"serve", *_COMMANDS} & set(installed_package().commands)
