"""The audit, which all other checks rely on, finds each kind of damage."""

import time
from collections.abc import Iterator

import pytest

from tests.faults.load import Load
from tests.faults.service import Service

pytestmark = [pytest.mark.slow, pytest.mark.faults]


@pytest.fixture(scope="module")
def load() -> Iterator[Load]:
    service = Service()
    with Load(service) as writing:
        time.sleep(1)
    writing.audit()
    yield writing
    service.remove()


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE resource SET version = version + 1 WHERE key IS NULL",
        "UPDATE resource SET version = version - 1 WHERE key IS NULL",
        "UPDATE resource SET some_property = 'another' WHERE key IS NULL",
        "UPDATE resource SET key = key || 'x' WHERE key IS NOT NULL",
        """UPDATE resource SET object_type = '{"arrayOfIntExample":[0]}' WHERE key IS NOT NULL""",
        "DELETE FROM resource WHERE key IS NOT NULL AND ctid = (SELECT max(ctid) FROM resource WHERE key IS NOT NULL)",
    ],
    ids=["twice", "undone", "overwritten", "made up", "garbled", "lost"],
)
def test_the_audit_finds_damage(load: Load, tampering: str) -> None:
    with load.service.database() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS before AS TABLE resource")
        connection.execute(tampering.encode())
    with pytest.raises(AssertionError):
        load.audit()
    load.violations.clear()
    with load.service.database() as connection:
        columns = "key, version, some_property, object_type"
        restored = f"UPDATE resource r SET ({columns}) = (SELECT {columns} FROM before b WHERE b.id = r.id)"
        connection.execute(restored.encode())
    if "DELETE" not in tampering:
        load.audit()
