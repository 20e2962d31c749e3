"""The command ``sample-resource``, and programs that must import this service's package ``app`` and no other.

``app`` is a frequent name. The folder that a user works in, or one on ``PYTHONPATH``, may have a package or a module of
that name, and an interpreter would find it before the service's. So this package, whose own name is rare, imports
``app`` by its place: later imports of ``app`` and of what is in it get that one, whatever ``sys.path`` says.

The wheel contains this package as ``sample_resource``, beside ``app``; the checkout contains it in ``app``. It is also
a program, ``python -P app/launcher/__init__.py MODULE ARGUMENT...``, which runs a module as ``python -m`` does. It has
to import little: gunicorn's settings replace parts of the standard library, which must not be in use by then.
"""

import importlib.util
import os
import runpy
import sys

_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 -- pathlib takes 10 ms
_PACKAGE = os.path.join(_FOLDER, "app") if os.path.isdir(os.path.join(_FOLDER, "app")) else _FOLDER  # noqa: PTH112, PTH118 -- as above


def import_own_package() -> None:
    """Import the package ``app`` that this file belongs to, unless a package of that name is imported already."""
    if "app" in sys.modules:
        return
    initial = os.path.join(_PACKAGE, "__init__.py")  # noqa: PTH118 -- as above
    spec = importlib.util.spec_from_file_location("app", initial, submodule_search_locations=[_PACKAGE])
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018 -- for the type checker: a file has both
    module = importlib.util.module_from_spec(spec)
    sys.modules["app"] = module
    spec.loader.exec_module(module)


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
