"""What is wrong with a request that a client sends again, given the one before: for findings and for the report.

Whoever asks knows for certain that it is the same client (:mod:`app.sandbox.analysis.clients`).
"""

from app.sandbox.analysis.look import REFUSALS, Look

_EARLY_S = 0.05
"""A wait that is shorter than ``Retry-After`` by no more than this is long enough: the client measures it elsewhere."""

_ASSERTED = 2
"""So often in a row a test may assert the same refusal."""


def early(before: Look, entry: Look) -> str | None:
    """It came before the seconds of ``Retry-After`` were over."""
    waited_s = entry.began - before.entry.answered_at
    if before.status not in (429, 503) or before.retry_after is None or waited_s + _EARLY_S >= before.retry_after:
        return None
    asked = f"Request {before.number} was answered with Retry-After: {before.retry_after}"
    return f"{asked}; this one came {max(0.0, waited_s):.2f} s later."


def unsafe(before: Look, entry: Look) -> str | None:
    """It makes a second resource, or may make one, since the first request may have been carried out."""
    if not makes_another(entry):
        return None
    if not (before.is_lost or ((before.status or 0) >= 500 and before.was_carried_out)):
        return None
    if before.was_carried_out:
        return f"Request {before.number} was the same and was carried out: there are two resources."
    return f"Request {before.number} was the same, and the client cannot know that it was not carried out."


def makes_another(entry: Look) -> bool:
    """Whether the request makes one more resource each time that it is carried out."""
    if entry.operation != "createOrUpdateResource" or not isinstance(entry.json, dict):
        return False
    return {"id", "key", "version"}.isdisjoint(entry.members) and "if-match" not in entry.headers


def stale(before: Look, entry: Look) -> str | None:
    """It sends the version that was refused before, and is refused again. A 409 that the sandbox made up refused none.

    Another request with this version on another connection may be that of another thread, which has read earlier.
    """
    if not before.status == entry.status == 409 or before.is_lost or before.is_ordered or entry.is_ordered:
        return None
    if before.call != entry.call and before.connection != entry.connection:
        return None
    if entry.version is None or entry.version != before.version:
        return None
    return f"Request {before.number} sent version {entry.version} and was 409."


def refused(before: Look, entry: Look) -> str | None:
    """It is a request that was refused for what it is, twice in a row, without a change."""
    if before.in_row < _ASSERTED or before.is_ordered or entry.is_ordered or not is_refused_again(before, entry):
        return None
    return f"Request {before.number} was the same, and was {before.status}."


def is_refused_again(before: Look, entry: Look) -> bool:
    """Whether the same request is refused as the one before."""
    if before.status != entry.status or before.status not in REFUSALS:
        return False
    return (before.call, before.header_hash) == (entry.call, entry.header_hash)


def same_token(before: Look, entry: Look) -> str | None:
    """It is refused with the token that was refused before."""
    if before.status == entry.status == 401 and before.authorization == entry.authorization:
        return "It was sent again with the token that had been refused."
    return None
