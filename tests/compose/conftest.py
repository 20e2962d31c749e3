"""The fixture with the command of Compose."""

import pytest

from tests.compose.engine import find_compose


@pytest.fixture(scope="session")
def compose() -> list[str]:
    return find_compose()
