"""The command of Compose, found once."""

import pytest

from tests.compose.engine import find_compose


@pytest.fixture(scope="session")
def compose() -> list[str]:
    return find_compose()
