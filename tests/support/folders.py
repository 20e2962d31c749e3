"""Folders for processes that tests start, and settings that make a PostgreSQL in such a folder fast."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_wal_size": "128MB"}
"""Settings that make PostgreSQL faster, and its files small. Tests of durability start a server without them."""


@contextmanager
def open_folder() -> Iterator[Path]:
    """A new folder that all accounts can read; it is removed at the end.

    If root runs the tests, PostgreSQL runs with another account, which cannot reach pytest's ``tmp_path``.
    """
    folder = Path(tempfile.mkdtemp(prefix="sample-resource-test-"))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
