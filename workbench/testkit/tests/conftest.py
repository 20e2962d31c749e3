"""Fixtures of the tests of the testkit."""

from collections.abc import Iterator

import pytest
from conformance import PlantedService, planted_service
from stub import Stub

pytest_plugins = ["pytester", "tests.support.fixtures"]


@pytest.fixture
def stub() -> Iterator[Stub]:
    started = Stub()
    yield started
    started.close()


@pytest.fixture(scope="session")
def service() -> Iterator[PlantedService]:
    """The service, which faults can be planted in."""
    with planted_service() as started:
        yield started
