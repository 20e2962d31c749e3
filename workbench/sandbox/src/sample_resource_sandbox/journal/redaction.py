"""Removes the known secrets and tokens of a project, by their values, from the texts that the journal shows.

These are the credentials of throwaway projects. Nothing else is guessed or hidden.
"""

PLACE = "(secret)"

_TOKENS_KNOWN = 1000


class Secrets:
    """The secrets and tokens that no entry of a project may show.

    :param values: the secrets of the service. That of the project's client is added by :meth:`add`.
    """

    def __init__(self, *values: str) -> None:
        self._values = dict.fromkeys(values)
        self._tokens: dict[str, None] = {}
        """The last tokens that were issued or accepted."""

    def add(self, value: str) -> None:
        """Add a secret."""
        self._values[value] = None

    def add_token(self, token: str) -> None:
        """Add a token."""
        self._tokens[token] = None
        if len(self._tokens) > _TOKENS_KNOWN:
            del self._tokens[next(iter(self._tokens))]

    def redacted(self, text: str) -> str:
        """A text without the secrets and tokens."""
        for each in (*self._values, *self._tokens):
            text = text.replace(each, PLACE)
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
