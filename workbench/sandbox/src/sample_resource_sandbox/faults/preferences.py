"""``Prefer: code=503, delay=1500`` of a request to a sandbox project (RFC 7240)."""

from dataclasses import dataclass

from werkzeug.http import parse_list_header

from sample_resource_sandbox.rules.rules import DELAY_MS_AT_MOST


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a request asks of its own answer; None: nothing."""

    code: int | None = None
    delay_ms: int | None = None

    @property
    def applied(self) -> str:
        """The value of ``Preference-Applied``; empty if there is nothing to apply."""
        parts = [
            *([] if self.code is None else [f"code={self.code}"]),
            *([] if self.delay_ms is None else [f"delay={self.delay_ms}"]),
        ]
        return ", ".join(parts)

    @property
    def done(self) -> str:
        """What it has done to the request, in words; empty if nothing."""
        code = [] if self.code is None else [str(self.code)]
        delay = [] if self.delay_ms is None else [f"{self.delay_ms} ms later"]
        return f"{', '.join(code + delay)} by Prefer" if code or delay else ""


NO_PREFERENCES = Preferences()


def read_preferences(header: str | None, own_codes: frozenset[int]) -> Preferences:
    """The preferences that the sandbox carries out; the first of each name counts, others are ignored.

    :param own_codes: the statuses that the endpoint itself offers as alternatives; a code among them is left to it.
    """
    if not header:
        return NO_PREFERENCES
    given: dict[str, int] = {}
    for preference in parse_list_header(header):
        name, _, value = preference.partition(";")[0].partition("=")
        text = value.strip().strip('"')
        if text.isascii() and text.isdecimal() and len(text) <= 6:
            given.setdefault(name.strip().lower(), int(text))
    code, delay_ms = given.get("code"), given.get("delay")
    return Preferences(
        code if code is not None and 400 <= code <= 599 and code not in own_codes else None,
        None if delay_ms is None else min(delay_ms, DELAY_MS_AT_MOST),
    )
