"""The command ``sample-resource``, and programs that must import this service's package ``app`` and no other.

``app`` is a frequent name. An ordinary console script and ``python -P -m app.cli`` would import a package of that name
from a folder on ``PYTHONPATH`` instead, as ``tests/installation`` has one. This package, whose own name is rare,
therefore imports ``app`` from its own folder: later imports of ``app`` and its modules get this package.

The wheel contains this package as ``sample_resource``, beside ``app``; the checkout contains it in ``app``. It is also
a program, ``python -P app/launcher/__init__.py MODULE ARGUMENT...``, which runs a module as ``python -m`` does. It has
to import little: gunicorn's settings replace parts of the standard library, which must not be in use by then.
"""

import os
import runpy
import sys
from importlib import import_module

_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 -- pathlib takes 10 ms
_HAS_APP = os.path.isdir(os.path.join(_FOLDER, "app"))  # noqa: PTH112, PTH118 -- likewise
_ROOT = _FOLDER if _HAS_APP else os.path.dirname(_FOLDER)  # noqa: PTH120 -- likewise


def import_own_package() -> None:
    """Import the package ``app`` that this file belongs to, unless a package of that name is imported already."""
    sys.path.insert(0, _ROOT)
    import_module("app")  # from now on it is found without the path
    sys.path.remove(_ROOT)


def main() -> None:
    """Run the command line."""
    if os.name != "posix":
        sys.exit("sample-resource runs on Linux and macOS. On Windows use WSL, or the container image.")
    import_own_package()
    from app.cli import main as command

    command()


if __name__ == "__main__":
    import_own_package()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
