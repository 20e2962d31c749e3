"""Date-times of RFC 3339, and the shorter forms that a query may use."""

import re
from datetime import UTC, datetime, timedelta

_DATE_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[Tt ]([0-9]{2}:[0-9]{2}):([0-9]{2})(?:\.([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})?)?",
    re.ASCII,
)


class NoDateTime(ValueError):
    """The text is not written as a date-time."""


class NoSuchDateTime(ValueError):
    """The text is written as a date-time, and there is none like it."""


def parse(text: str, *, shortened: bool = False) -> datetime:
    """A moment in UTC; a leap second is the first second of the next minute.

    What is finer than a microsecond only says that the moment lies after one: the result is then an odd number of
    microseconds, which lies on the same side of every millisecond as the text.

    :param shortened: a date alone, its midnight, and a date-time without a zone are read too, both as UTC.
    :raises NoDateTime: for another form.
    :raises NoSuchDateTime: for a moment outside the calendar or the years 1 to 9999 of UTC.
    """
    match = _DATE_TIME.fullmatch(text)
    if match is None or not (shortened or match.group(5)):
        raise NoDateTime(text)
    date, minutes, seconds, fraction, zone = match.groups()
    offset = "+00:00" if zone is None or zone in "Zz" else zone
    digits = (fraction or "").ljust(6, "0")
    microseconds = int(digits[:6]) | (1 if digits[6:].strip("0") else 0)
    try:
        start = datetime.fromisoformat(f"{date}T{minutes or '00:00'}:00{offset}").astimezone(UTC)
        if int(seconds or 0) <= 60:
            return start + timedelta(seconds=int(seconds or 0), microseconds=microseconds)
    except (ValueError, OverflowError):
        pass
    raise NoSuchDateTime(text)
