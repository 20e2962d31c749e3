"""Date-times of RFC 3339, as answers contain them, and the shorter forms that queries accept."""

import re
from datetime import UTC, datetime, timedelta

_DATE_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[Tt ]([0-9]{2}:[0-9]{2}):([0-9]{2})(?:\.([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})?)?",
    re.ASCII,
)


class NoDateTime(ValueError):
    """The text does not have the form of a date-time."""


class NoSuchDateTime(ValueError):
    """The text has the form of a date-time that does not exist, such as 30 February."""


def parse(text: str, *, shortened: bool = False) -> datetime:
    """A date-time in UTC; a leap second becomes the first second of the next minute.

    Digits beyond microseconds set the lowest microsecond bit, so that comparisons with stored times, which have
    milliseconds, give the same result as the exact text would.

    :param shortened: also accept a date alone, which means its midnight, and a date-time without a zone; both in UTC.
    :raises NoDateTime: for another form.
    :raises NoSuchDateTime: for a date-time outside the calendar or the years 1 to 9999 in UTC.
    """
    match = _DATE_TIME.fullmatch(text)
    if match is None or not (shortened or match.group(5)):
        raise NoDateTime(text)
    date, minutes, seconds, fraction, zone = match.groups()
    offset = "+00:00" if zone is None or zone in "Zz" else zone
    digits = (fraction or "").ljust(6, "0")
    microseconds = int(digits[:6]) | (1 if digits[6:].strip("0") else 0)
    if minutes is not None and minutes >= "24":
        raise NoSuchDateTime(text)  # Python takes 24:00 for the next midnight since 3.14; RFC 3339 has no hour 24
    try:
        start = datetime.fromisoformat(f"{date}T{minutes or '00:00'}:00{offset}").astimezone(UTC)
        if int(seconds or 0) <= 60:
            return start + timedelta(seconds=int(seconds or 0), microseconds=microseconds)
    except (ValueError, OverflowError):
        pass
    raise NoSuchDateTime(text)


def text_of(moment: datetime) -> str:
    """A date-time as answers contain it: in UTC, with milliseconds. Smaller parts are cut off.

    :param moment: with a zone.
    """
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
