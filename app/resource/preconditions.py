"""Preconditions of a request: If-Match and If-None-Match (RFC 9110, section 13.1), and the expected version.

The entity tag of a resource is its version in quotes.
"""

import re

from app import errors
from app.resource.model import EntityTags, Preconditions
from app.values.strict_json import INT64_MAX

_ENTITY_TAG = re.compile(r'[ \t,]*(W/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*(?:,[ \t,]*|$)')
"""One entity tag of a list, with the comma after it. Empty elements of the list are skipped (RFC 9110, section
5.6.1.2); a list of them alone is refused, because it would match nothing."""

_NONE = Preconditions()

_VERSION = re.compile(r"[1-9][0-9]{0,18}")


def parse(if_match: str | None, if_none_match: str | None) -> Preconditions:
    """Parse the headers If-Match and If-None-Match of a request; None is a missing header.

    :raises ApiError: 400 for a header that is neither ``*`` nor a list of quoted entity tags.
    """
    if if_match is None and if_none_match is None:
        return _NONE
    matched, has_unusable_tags = _entity_tags("If-Match", if_match, accepts_weak=False)
    # The flag for tags that match nothing helps to explain why If-Match fails. If-None-Match needs none: it fails only
    # if a tag does match.
    none_matched, _ = _entity_tags("If-None-Match", if_none_match, accepts_weak=True)
    return Preconditions(matched, has_unusable_tags, none_matched)


def _entity_tags(header: str, text: str | None, *, accepts_weak: bool) -> tuple[EntityTags | None, bool]:
    """Parse the value of If-Match or If-None-Match.

    Return two results. The first is the set of versions that the entity tags name; ``*`` for ``*``; None if the header
    is missing. The second tells whether any entity tag can match nothing: it is no version, or it is weak although the
    header accepts no weak tags.

    :param text: the value of the header; None if the header is missing.
    :param accepts_weak: False for If-Match, which uses the strong comparison: a weak tag matches nothing (RFC 9110,
        section 8.8.3.2).
    :raises ApiError: 400 for a value that is neither ``*`` nor a list of quoted entity tags.
    """
    if text is None:
        return None, False
    if text.strip(" \t") == "*":
        return "*", False
    if not text:
        raise errors.invalid_parameter(header, "The value is empty.")
    versions: set[int] = set()
    has_unusable = False
    position = 0
    while position < len(text):
        match = _ENTITY_TAG.match(text, position)
        if match is None:
            raise errors.invalid_parameter(header, f'{errors.quoted(text)} is neither * nor a list of "entity tags".')
        weak, tag = match.groups()
        if _VERSION.fullmatch(tag) and int(tag) <= INT64_MAX and (accepts_weak or not weak):
            versions.add(int(tag))
        else:  # also for a number that is greater than any version
            has_unusable = True
        position = match.end()
    return frozenset(versions), has_unusable


def matches(tags: EntityTags, version: int) -> bool:
    """Whether a list of entity tags contains a version; ``*`` contains every version."""
    return tags == "*" or version in tags


def raise_unless_matched(preconditions: Preconditions, version: int) -> None:
    """Check If-Match, and nothing else, against the version of a resource. The callers check If-None-Match: if it
    matches, a read is answered with 304, and a write is refused with 412.

    :raises ApiError: 412 if the request has an If-Match that does not list the version.
    """
    if preconditions.if_match is not None and not matches(preconditions.if_match, version):
        raise errors.precondition_failed("If-Match", version, has_unusable_tags=preconditions.has_unusable_tags)


def raise_if_refused(preconditions: Preconditions, resource_id: str, version: int) -> None:
    """Check the preconditions against a version of a resource.

    :raises ApiError: for the first that does not hold: If-Match (412), If-None-Match (412), expected version (409).
    """
    raise_unless_matched(preconditions, version)
    if preconditions.if_none_match is not None and matches(preconditions.if_none_match, version):
        raise errors.precondition_failed("If-None-Match", version)
    if preconditions.expected is not None and preconditions.expected != version:
        raise errors.concurrent_modification(resource_id, preconditions.expected, version)
