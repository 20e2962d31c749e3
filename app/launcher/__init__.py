"""Starts the command ``sample-resource``, and other modules that must import this service's ``app`` and no other
``app``.

``app`` is a frequent name. An ordinary console script, or ``python -P -m app.cli``, would import another package
``app`` from a folder on ``PYTHONPATH``; ``tests/installation`` has an example. This package has a rare name and imports
``app`` from the installation or checkout of which it is a part, so that later imports of ``app`` and its modules use
this ``app``.

In the wheel this package is ``sample_resource``, next to ``app``; in the checkout it is ``app/launcher``. As a program,
``python -P app/launcher/__init__.py MODULE ARGUMENT...``, it runs a module as ``python -m`` does. It imports little,
because gunicorn's settings patch parts of the standard library, which must not be in use before.
"""

import os
import runpy
import sys
from importlib import import_module

_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 -- this module imports little
_HAS_APP = os.path.isdir(os.path.join(_FOLDER, "app"))  # noqa: PTH112, PTH118 -- this module imports little
_ROOT = _FOLDER if _HAS_APP else os.path.dirname(_FOLDER)  # noqa: PTH120 -- this module imports little
"""The folder that contains ``app``. An installation has this package next to ``app``, and a checkout inside it."""


def import_own_package() -> None:
    """Import the ``app`` to which this file belongs. If a ``.pth`` file has already imported another ``app``, that one
    stays."""
    sys.path.insert(0, _ROOT)
    import_module("app")  # its submodules are found by its own path, without _ROOT
    sys.path.remove(_ROOT)  # it may be site-packages, which in front would hide the standard library


def main() -> None:
    """Run the command line ``sample-resource``."""
    if os.name != "posix":
        sys.exit("sample-resource runs on Linux and macOS. On Windows use WSL, or the container image.")
    import_own_package()
    from app.cli import main as command

    command()


if __name__ == "__main__":
    import_own_package()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
