"""A check of the whole test run: no log line and no error body contains a secret, token or private key.

All secrets that the run creates are recorded, and so are all log lines and error bodies. They are compared at its end.
"""

import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

from app import errors
from app.identity import clients, issued_tokens, signing_keys

_WORD = re.compile("[A-Za-z0-9_-]{20,}")
_TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.")
"""The beginning of any signed token: its header is a JSON object."""


class Secrecy:
    """The secrets of a run, and the words of the texts that others may read."""

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._words: set[str] = set()
        self._tokens_found: list[str] = []
        self.texts = 0

    def add_secret(self, secret: str) -> None:
        """Record a secret; of a token only the signature, without which the rest is useless."""
        self._secrets.add(secret.rpartition(".")[2])

    def add_text(self, text: str) -> None:
        """Record a text that others may read."""
        self.texts += 1
        self._words.update(_WORD.findall(text))
        self._tokens_found += [f"a token: {match[:30]}..." for match in _TOKEN.findall(text)]

    def leaks(self) -> list[str]:
        """The secrets that were found in recorded texts, each cut short."""
        return self._tokens_found + [f"a secret: {word[:6]}..." for word in self._secrets & self._words]


@pytest.fixture(scope="session", autouse=True)
def secrecy() -> Iterator[Secrecy]:
    """Record secrets and texts during the whole test run, and fail it at its end if anything leaked."""
    watched = Secrecy()
    create_client, issue_token = clients.create_client, issued_tokens.issue_token
    encrypt, body, handle = signing_keys.KeyEncryption.encrypt, errors.ApiError.body, logging.Logger.handle

    def creating(*arguments: Any, **options: Any) -> clients.NewClient:
        made = create_client(*arguments, **options)
        watched.add_secret(made.client_secret)
        return made

    def issuing(*arguments: Any, **options: Any) -> str:
        token = issue_token(*arguments, **options)
        watched.add_secret(token)
        return token

    def encrypting(self: signing_keys.KeyEncryption, text: str) -> str:
        watched.add_secret(json.loads(text)["d"])
        return encrypt(self, text)

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
        patch.setattr(issued_tokens, "issue_token", issuing)
        patch.setattr(signing_keys.KeyEncryption, "encrypt", encrypting)
        patch.setattr(errors.ApiError, "body", answering)
        patch.setattr(logging.Logger, "handle", handling)
        yield watched
    assert watched.leaks() == []
