"""The reference adapter with a fault in its client: ``python planted_adapter.py NAME``; without a name, without one.

``permitted`` is no fault, but all that clauses permit.
"""

import asyncio
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import client_faults
from client_faults import permitted

ADAPTER = Path(__file__).parents[1] / "clients/httpx/adapter.py"


def load() -> ModuleType:
    """The adapter as a module."""
    spec = importlib.util.spec_from_file_location("adapter", ADAPTER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    adapter = load()
    if len(sys.argv) > 1:
        plants = {"permitted": permitted.plant} | {each.name: each.plant for each in client_faults.FAULTS.values()}
        plants[sys.argv[1]](adapter)
    asyncio.run(adapter.main())
