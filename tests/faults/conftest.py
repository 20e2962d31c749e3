"""Fixtures of the suite of faults."""

from collections.abc import Iterator

import pytest

from tests.faults.reports import Report
from tests.faults.service import Service


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """A service with two workers and a database of its own, for all tests of a file."""
    started = Service()
    yield started
    started.remove()


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Iterator[Report]:
    """Show the figures of a test beside its name."""
    lines: list[str] = []
    yield lines.append
    if lines:
        with capsys.disabled():
            print(f"\n  {request.node.name}: {'; '.join(lines)} ", end="")  # noqa: T201 -- the figures are the point
