"""How the layers of the images are made. A container engine is not needed; what needs one is in ``tests/compose``."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def made_layer(folder: Path, source: str, time: int) -> dict[str, tuple[bytes, float]]:
    """What ``ops/image/layer`` makes of a folder: contents and time of each file."""
    package = folder / "usr/package"
    package.mkdir(parents=True)
    (package / "module.py").write_text(source)
    (package / "template.py").write_text("{{ no Python }}")
    (package / "link").symlink_to("/nowhere")
    for path in (package / "module.py", folder):
        os.utime(path, (time, time))
    programs = f"{Path(sys.executable).parent}:{os.defpath}"
    done = subprocess.run(
        ["sh", str(ROOT / "ops/image/layer"), str(folder), "7"],
        env={"PATH": programs},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert {path.lstat().st_mtime for path in (folder, *folder.rglob("*"))} == {7}
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_layer_has_the_same_bytes_and_times_wherever_and_whenever_it_is_made(tmp_path: Path) -> None:
    source = (
        "NAMES = {'one', 'two', 'three'} - frozenset(('four',))\n\n\ndef function(value):\n    return value in NAMES\n"
    )
    first, second = (made_layer(tmp_path / name, source, time) for name, time in (("one", 1), ("another", 1_000_000)))
    assert first == second
    (compiled,) = [content for name, (content, _) in first.items() if name.endswith(".pyc")]
    # PEP 552: bit 0 says that it has the hash of its source, bit 1 that this is to be compared.
    assert int.from_bytes(compiled[4:8], "little") == 0b01
    assert b"/usr/package/module.py" in compiled
    assert os.fsencode(tmp_path) not in compiled
