"""Removes the known secrets and tokens of a project, by their values, from the texts that the journal shows.

These are the credentials of throwaway projects. Nothing else is guessed or hidden.
"""

import re
from time import time

PLACE = "(secret)"

_TOKENS_KNOWN = 1000

_TOKEN_LENGTH = 43
"""The characters of a token, the 32 bytes of which are in base64url."""

_MAY_HOLD_TOKENS = re.compile(f"[A-Za-z0-9_-]{{{_TOKEN_LENGTH},}}", re.ASCII)


class Secrets:
    """The secrets and tokens that no entry of a project may show.

    :param values: the secrets of the service. That of the project's client is added by :meth:`add`.
    """

    def __init__(self, *values: str) -> None:
        self._values = dict.fromkeys(values)
        self._tokens: dict[int, float] = {}
        """The hashes of the last issued or accepted tokens, each with the time of the first occurrence."""

    def add(self, value: str) -> None:
        """Add a secret."""
        self._values[value] = None

    def add_token(self, token: str) -> None:
        """Add an access token."""
        self._tokens.setdefault(hash(token), time())
        if len(self._tokens) > _TOKENS_KNOWN:
            del self._tokens[next(iter(self._tokens))]

    def seen_at(self, token: str) -> float | None:
        """The time when a token was issued or first accepted; None if the token is not known."""
        return self._tokens.get(hash(token))

    def redacted(self, text: str, length: int | None = None) -> str:
        """A text without the secrets and tokens.

        :param length: the number of characters that are kept. The text may be longer, so that a secret at the end of
            the kept part is recognised.
        """
        for each in self._values:
            text = text.replace(each, PLACE)
        return _MAY_HOLD_TOKENS.sub(self._without_tokens, text)[:length]

    def _without_tokens(self, found: re.Match[str]) -> str:
        """A run of characters that tokens consist of, without the known tokens in it."""
        run = found[0]
        parts: list[str] = []
        kept_from = begin = 0
        while begin <= len(run) - _TOKEN_LENGTH:
            end = begin + _TOKEN_LENGTH
            if hash(run[begin:end]) in self._tokens:
                parts += run[kept_from:begin], PLACE
                kept_from = begin = end
            else:
                begin += 1
        return "".join((*parts, run[kept_from:]))

    def redacted_header(self, name: str, value: str) -> str:
        """A header's value without its secrets. Of Authorization only the scheme and the last six characters are
        shown."""
        if name.lower() != "authorization":
            return self.redacted(value)
        scheme, blank, credentials = value.strip().partition(" ")
        if not blank:
            scheme, credentials = "", scheme
        # Six characters would be most of a short value.
        end = credentials.strip()[-6:] if len(credentials) >= 24 else ""
        return f"{self.redacted(scheme)}{blank}…{end}"
