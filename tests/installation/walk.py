"""What a new user does with an installation: start, requests, commands, Ctrl-C, and the same again."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.installation.environments import Installation, own
from tests.support.server import get


def walk(installation: Installation, folder: Path, ready: Callable[[], None] = lambda: None) -> None:
    """Use the service in an empty folder, and check that it writes nothing but its data.

    :param ready: called when the service has started for the first time.
    """
    temporary = folder / "t"
    temporary.mkdir()
    own(installation, temporary)
    variables = {"TMPDIR": str(temporary)}
    with installation.serving(folder, **variables) as service:
        ready()
        assert json.loads(service.printed_command())["count"] == 0
        assert get(service.port, "/docs")[0] == 200
        assert get(service.port, "/openapi.json")[0] == 200
        assert get(service.port, "/health/ready")[0] == 200
        migrations = installation.done(folder, "db", "status", **variables).splitlines()
        assert migrations
        assert all(line.startswith("applied") for line in migrations)
        installation.done(folder, "seed", "--project", "demo", "--count", "12", **variables)
        assert installation.done(folder, "db", "projects", **variables) == "demo\t12\n"
    with installation.serving(folder, **variables) as service:
        assert json.loads(service.printed_command())["total"] == 12
    assert [path.name for path in folder.iterdir() if path != temporary] == [".data"]
    assert list(temporary.iterdir()) == []


def files_below(folder: Path) -> set[Path]:
    """All files, without those that links lead to, and without the modules that an interpreter compiles for itself."""
    return {path for path in folder.rglob("*") if not path.is_symlink() and "__pycache__" not in path.parts}
