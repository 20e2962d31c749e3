"""A check of the whole test run: no log line and no error body contains a secret or a token.

All secrets that the run creates are recorded, and so are all log lines and error bodies. They are compared at its end.
"""

import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

from app import errors
from app.identity import clients, tokens

_WORD = re.compile("[A-Za-z0-9_-]{20,}")


class Secrecy:
    """The secrets of a run, and the words of the texts that others may read."""

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._words: set[str] = set()
        self.texts = 0

    def add_secret(self, secret: str) -> None:
        """Record a secret or a token."""
        self._secrets.add(secret)

    def add_text(self, text: str) -> None:
        """Record a text that others may read."""
        self.texts += 1
        self._words.update(_WORD.findall(text))

    def leaks(self) -> list[str]:
        """The secrets that were found in recorded texts, each cut short."""
        return [f"a secret: {word[:6]}..." for word in self._secrets & self._words]


@pytest.fixture(scope="session", autouse=True)
def secrecy() -> Iterator[Secrecy]:
    """Record secrets and texts during the whole test run, and fail it at its end if anything leaked."""
    watched = Secrecy()
    create_client, issue_token, grant_token = clients.create_client, tokens.issue_token, tokens.grant_token
    body, handle = errors.ApiError.body, logging.Logger.handle

    def creating(*arguments: Any, **options: Any) -> clients.NewClient:
        made = create_client(*arguments, **options)
        watched.add_secret(made.client_secret)
        return made

    def issuing(*arguments: Any, **options: Any) -> str:
        token = issue_token(*arguments, **options)
        watched.add_secret(token)
        return token

    def granting(*arguments: Any, **options: Any) -> tuple[str, tuple[str, ...]] | None:
        granted = grant_token(*arguments, **options)
        if granted is not None:
            watched.add_secret(granted[0])
        return granted

    def answering(self: errors.ApiError) -> bytes:
        answer = body(self)
        watched.add_text(answer.decode())
        return answer

    def handling(self: logging.Logger, record: logging.LogRecord) -> None:
        fields = {name: str(value) for name, value in vars(record).items() if name != "exc_info"}
        watched.add_text(f"{record.getMessage()} {fields} {logging.Formatter().format(record)}")
        handle(self, record)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clients, "create_client", creating)
        patch.setattr(tokens, "issue_token", issuing)
        patch.setattr(tokens, "grant_token", granting)
        patch.setattr(errors.ApiError, "body", answering)
        patch.setattr(logging.Logger, "handle", handling)
        yield watched
    assert watched.leaks() == []
