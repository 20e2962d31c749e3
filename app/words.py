"""placeholder until merge"""

from collections.abc import Sequence

from app.db import Connection
from app.model import Text


def tsquery_of(connection: Connection, project_key: str, texts: Sequence[Text], fuzzy_level: int | None) -> str | None:
    return None
