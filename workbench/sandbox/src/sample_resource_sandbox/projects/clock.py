"""The clock of a project: real time, real time with an offset, or a time that stands still."""

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from marshmallow import ValidationError

from app.values import timestamps

_EARLIEST = datetime(1980, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(9000, 1, 1, tzinfo=UTC).timestamp()


@dataclass(frozen=True, slots=True)
class ProjectClock:
    """The clock of a project, as it is stored.

    :param offset_s: the seconds by which it is ahead of real time, if it runs.
    :param stands_at: the time at which it stands still, in seconds since 1970; None if it runs.
    """

    offset_s: float = 0.0
    stands_at: float | None = None

    @property
    def is_real(self) -> bool:
        """Whether the clock shows real time."""
        return self.offset_s == 0.0 and self.stands_at is None

    def time(self) -> float:
        """The time of the clock, in seconds since 1970."""
        return time.time() + self.offset_s if self.stands_at is None else self.stands_at

    def write_time(self) -> datetime | None:
        """The time of a write, cut to milliseconds, which is how it is stored; None if the clock shows real time."""
        return None if self.is_real else datetime.fromtimestamp(int(self.time() * 1000) / 1000, UTC)

    def described(self) -> dict[str, Any]:
        """The clock in the form of an answer."""
        return {
            "now": timestamps.text_of(datetime.fromtimestamp(self.time(), UTC)),
            "runs": self.stands_at is None,
            **({} if self.stands_at is not None else {"offsetSeconds": round(self.offset_s, 3)}),
        }

    def stored(self) -> str:
        """The clock as JSON text, for :meth:`read`."""
        return json.dumps({"offset_s": self.offset_s, "stands_at": self.stands_at})

    @classmethod
    def read(cls, stored: str) -> "ProjectClock":
        """Make a clock from its JSON text."""
        return cls(**json.loads(stored))

    def changed(self, order: dict[str, Any]) -> "ProjectClock":
        """The clock after a checked order to set it.

        :param order: an empty order means real time. By an order without a time, the clock stops or goes on at the time
            that it shows.
        :raises ValidationError: if it would show a time before 1980 or after 8999.
        """
        if not order:
            return ProjectClock()
        if order == {"runs": True} and self.stands_at is None:
            return self
        if "now" in order:
            name, now = "now", timestamps.parse(order["now"]).timestamp()
        elif "offsetSeconds" in order:
            name, now = "offsetSeconds", time.time() + order["offsetSeconds"]
        else:
            name, now = "runs", self.time()
        if not _EARLIEST <= now < _LATEST:
            raise ValidationError({name: ["A time from the years 1980 to 8999 is expected."]})
        if order.get("runs", True):
            return ProjectClock(order["offsetSeconds"] if name == "offsetSeconds" else now - time.time())
        return ProjectClock(stands_at=int(now * 1000) / 1000)
