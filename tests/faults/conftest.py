"""Fixtures of the checks."""

from collections.abc import Iterator

import pytest

from tests.faults.reports import Report


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Iterator[Report]:
    """Show the figures of a check beside its name."""
    lines: list[str] = []
    yield lines.append
    if lines:
        with capsys.disabled():
            print(f"\n  {request.node.name}: {'; '.join(lines)} ", end="")  # noqa: T201 -- the figures are the point
