"""gevent's patch of the standard library: the metadata of packages is read once, and plugins are called as ever."""

import json
import os
import subprocess
import sys
from pathlib import Path

_COUNTING = """
import importlib.metadata, json, sys
from gevent import monkey
asked = []
def entry_points(ask=importlib.metadata.entry_points, **selected):
    asked.append(selected)
    return ask(**selected)
importlib.metadata.entry_points = entry_points
{patch}
restored = importlib.metadata.entry_points is entry_points
print(json.dumps({{"asked": asked, "restored": restored, "patched": monkey.is_module_patched("socket")}}))
"""

_BY_GEVENT = _COUNTING.format(patch="monkey.patch_all()")
_OURS = _COUNTING.format(patch="from app.serving import patching; patching.patch_all()")


def printed(code: str, *path: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(folder) for folder in path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_metadata_is_read_once() -> None:
    assert json.loads(printed(_OURS)) == {"asked": [{}], "restored": True, "patched": True}


def test_gevent_still_asks_often() -> None:
    """If it does not any more, ``app/serving/patching.py`` has no purpose and can go."""
    asked = json.loads(printed(_BY_GEVENT))["asked"]
    assert len(asked) > 10
    assert {tuple(selected) for selected in asked} == {("group",)}


def test_plugins_are_called(tmp_path: Path) -> None:
    metadata = tmp_path / "plugin-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[gevent.plugins.monkey.did_patch_all]\nplugin = plugin:called\n")
    (tmp_path / "plugin.py").write_text("def called(event):\n    print(type(event).__name__)\n")
    code = "from app.serving import patching; patching.patch_all()"
    assert printed(code, tmp_path) == "GeventDidPatchAllEvent\n"
