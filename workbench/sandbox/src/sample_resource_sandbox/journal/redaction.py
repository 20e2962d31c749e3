"""Leaves the known secrets and tokens of a project out of what the journal shows, by value.

They are the credentials of throwaway projects, and nothing else is guessed or hidden. Each look reads a text once.
"""

from time import time

PLACE = "(secret)"

_TOKENS_KNOWN = 1000


class Secrets:
    """What no entry of a project may have.

    :param values: secrets that are known: those of the service, and that of the project's client once it was shown.
    """

    def __init__(self, *values: str) -> None:
        self._values = dict.fromkeys(values)
        self._tokens: dict[int, float] = {}
        """Hashes of the last ones that were issued or accepted, each with when that was first."""
        self._lengths: dict[str, set[int]] = {}
        """Of all, by the header with which they begin: that of a key of the service, so they are few."""

    def add(self, value: str) -> None:
        """Leave out one more."""
        self._values[value] = None

    def add_token(self, token: str) -> None:
        """Leave out a signed token."""
        self._tokens.setdefault(hash(token), time())
        self._lengths.setdefault(token.partition(".")[0] + ".", set()).add(len(token))
        if len(self._tokens) > _TOKENS_KNOWN:
            del self._tokens[next(iter(self._tokens))]

    def seen_at(self, token: str) -> float | None:
        """When a token was issued or first accepted; None if it is not known."""
        return self._tokens.get(hash(token))

    def redacted(self, text: str, length: int | None = None) -> str:
        """A text without them.

        :param length: about so many characters are kept. What follows shows whether a secret begins before the end.
        """
        for each in self._values:
            text = text.replace(each, PLACE)
        for header, lengths in self._lengths.items():
            begin = text.find(header)
            while begin >= 0:
                for each in lengths:
                    if hash(text[begin : begin + each]) in self._tokens:
                        text = text[:begin] + PLACE + text[begin + each :]
                        break
                begin = text.find(header, begin + 1)
        return text[:length]

    def redacted_header(self, name: str, value: str) -> str:
        """The value of a header; of Authorization its scheme and its last six characters."""
        if name.lower() != "authorization":
            return self.redacted(value)
        scheme, blank, credentials = value.strip().partition(" ")
        if not blank:
            scheme, credentials = "", scheme
        # Of something short, six characters would be most of it.
        end = credentials.strip()[-6:] if len(credentials) >= 24 else ""
        return f"{self.redacted(scheme)}{blank}…{end}"
