"""What may never be told: every secret, token and private key that a test run makes is kept in mind, and every log
line and error body is searched for them when it ends.
"""

import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

from app import errors
from app.identity import records

_WORD = re.compile("[A-Za-z0-9_-]{20,}")
_TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.")
"""The beginning of any signed token: its header is a JSON object."""


class Secrecy:
    """Secrets, and the texts that went out."""

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._words: set[str] = set()
        self.betrayed: list[str] = []
        self.texts = 0

    def keep(self, secret: str) -> None:
        """Remember a secret; of a token its signature, without which it is worth nothing."""
        self._secrets.add(secret.rpartition(".")[2])

    def tell(self, text: str) -> None:
        """Note a text that somebody else may read."""
        self.texts += 1
        self._words.update(_WORD.findall(text))
        self.betrayed += [f"a token: {match[:30]}..." for match in _TOKEN.findall(text)]

    def leaks(self) -> list[str]:
        """What was told and should not have been."""
        return self.betrayed + [f"a secret: {word[:6]}..." for word in self._secrets & self._words]


@pytest.fixture(scope="session", autouse=True)
def secrecy() -> Iterator[Secrecy]:
    """Watches the whole run; a leak anywhere fails it at its end."""
    watched = Secrecy()
    create_client, issue_token = records.create_client, records.issue_token
    encrypt, body, handle = records.KeyEncryption.encrypt, errors.ApiError.body, logging.Logger.handle

    def creating(*arguments: Any, **options: Any) -> records.NewClient:
        made = create_client(*arguments, **options)
        watched.keep(made.client_secret)
        return made

    def issuing(*arguments: Any, **options: Any) -> str:
        token = issue_token(*arguments, **options)
        watched.keep(token)
        return token

    def encrypting(self: records.KeyEncryption, text: str) -> str:
        watched.keep(json.loads(text)["d"])
        return encrypt(self, text)

    def answering(self: errors.ApiError) -> bytes:
        answer = body(self)
        watched.tell(answer.decode())
        return answer

    def handling(self: logging.Logger, record: logging.LogRecord) -> None:
        fields = {name: str(value) for name, value in vars(record).items() if name != "exc_info"}
        watched.tell(f"{record.getMessage()} {fields} {logging.Formatter().format(record)}")
        handle(self, record)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "create_client", creating)
        patch.setattr(records, "issue_token", issuing)
        patch.setattr(records.KeyEncryption, "encrypt", encrypting)
        patch.setattr(errors.ApiError, "body", answering)
        patch.setattr(logging.Logger, "handle", handling)
        yield watched
    assert watched.leaks() == []
