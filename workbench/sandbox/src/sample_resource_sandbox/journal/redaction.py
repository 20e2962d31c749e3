"""Removes the known secrets and tokens of a project, by their values, from the texts that the journal shows.

These are the credentials of throwaway projects. Nothing else is guessed or hidden.
"""

import re

PLACE = "(secret)"

_TOKENS_KNOWN = 1000

_LIKE_TOKENS = re.compile(r"[A-Za-z0-9._~+/=-]{20,}")
"""The characters of tokens (RFC 6750, section 2.1), so many that a token may be among them."""


class Secrets:
    """The secrets and tokens that no entry of a project may show.

    :param values: the secrets of the service. That of the project's client is added by :meth:`add`.
    """

    def __init__(self, *values: str) -> None:
        self._values = dict.fromkeys(values)
        self._tokens: dict[int, None] = {}
        """The hashes of the last tokens that were issued or accepted."""
        self._lengths: set[int] = set()
        """The lengths of all tokens, which are few."""

    def add(self, value: str) -> None:
        """Add a secret."""
        self._values[value] = None

    def add_token(self, token: str) -> None:
        """Add a token."""
        self._tokens[hash(token)] = None
        self._lengths.add(len(token))
        if len(self._tokens) > _TOKENS_KNOWN:
            del self._tokens[next(iter(self._tokens))]

    def redacted(self, text: str) -> str:
        """A text without the secrets and tokens."""
        for each in self._values:
            text = text.replace(each, PLACE)
        return _LIKE_TOKENS.sub(self._without_tokens, text)

    def _without_tokens(self, found: re.Match[str]) -> str:
        text = found[0]
        for length in self._lengths:
            begin = 0
            while begin <= len(text) - length:
                if hash(text[begin : begin + length]) in self._tokens:
                    text = text[:begin] + PLACE + text[begin + length :]
                begin += 1
        return text

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
