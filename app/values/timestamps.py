"""Parses date-times of RFC 3339 and the shorter forms that queries accept, and formats them for answers."""

import re
from datetime import UTC, datetime, timedelta

_DATE_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[Tt ]([0-9]{2}:[0-9]{2}):([0-9]{2})(?:\.([0-9]+))?([Zz]|[+-][0-9]{2}:[0-5][0-9])?)?",
    re.ASCII,
)


def parse(text: str, *, shortened: bool = False) -> datetime:
    """Parse a date-time to UTC. Second 60, of any minute, becomes the first second of the next minute.

    A datetime has no digits beyond microseconds. If the text has such digits, and they are not all zero, the number of
    microseconds is made odd by setting its lowest bit: .1230000001 becomes .123001. So a comparison with any stored
    time has the same result as with all digits: stored times have whole milliseconds, and an odd number of microseconds
    is never a whole millisecond.

    :param shortened: whether to accept also a date alone, which means its midnight in UTC, and a date-time without a
        zone, which means UTC.
    :raises ValueError: for a text of another form, and for a date-time outside the calendar or the years 1 to 9999 in
        UTC. The message is for the client.
    """
    match = _DATE_TIME.fullmatch(text)
    if match is None or not (shortened or match.group(5)):
        raise ValueError("A date-time is expected, as in 2016-02-28T16:41:41.090Z.")
    date, hour_and_minute, seconds, fraction, zone = match.groups()
    offset = "+00:00" if zone is None or zone in "Zz" else zone
    digits = (fraction or "").ljust(6, "0")
    microseconds = int(digits[:6]) | (1 if digits[6:].strip("0") else 0)
    try:
        # The seconds are added, because Python refuses the second 60.
        start = datetime.fromisoformat(f"{date}T{hour_and_minute or '00:00'}:00{offset}").astimezone(UTC)
        moment = start + timedelta(seconds=int(seconds or 0), microseconds=microseconds)
    except (ValueError, OverflowError):
        moment = None
    # Since 3.14 Python reads 24:00 as the next midnight; RFC 3339 has no hour 24.
    if moment is None or (hour_and_minute or "") >= "24" or int(seconds or 0) > 60:
        raise ValueError("There is no such date-time in the years 1 to 9999 in UTC.")
    return moment


def text_of(moment: datetime) -> str:
    """Format a date-time as answers contain it: in UTC, with milliseconds. Smaller parts are cut off.

    :param moment: must have a zone.
    """
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
