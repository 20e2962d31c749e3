"""The header ``traceparent`` of W3C Trace Context (https://www.w3.org/TR/trace-context/): the trace of a request.

The trace id is in the request's log line. If the caller records the trace (the flag ``sampled``), each statement of the
request carries it in a comment, in the form of sqlcommenter, so that PostgreSQL's log and ``pg_stat_activity`` show to
which trace a statement belongs. The comment makes the text of each statement unique, and a unique text cannot be
prepared: docs/observability.md has what that costs. Requests without the flag, or without the header, have no comment.
"""

import re
from typing import NamedTuple

_TRACEPARENT = re.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)
_SAMPLED = 1


class TraceContext(NamedTuple):
    """The place of a request in a trace. All texts are lowercase hexadecimal digits."""

    trace_id: str
    span_id: str
    """The span that the request is, or, if this process records none, the caller's."""
    sampled: bool
    """Whether the caller records the trace."""

    @property
    def sql_comment(self) -> str:
        """What precedes statements; empty unless the trace is recorded.

        sqlcommenter appends it. Here it comes first, because ``pg_stat_activity`` shows the first 1024 bytes of a
        statement.
        """
        return f"/*traceparent='00-{self.trace_id}-{self.span_id}-01'*/ " if self.sampled else ""


def parse_traceparent(header: str) -> TraceContext | None:
    """The content of the header; None if it is malformed, in which case it has to be ignored (section 3.2.2).

    A later version may have more after the fields of version 00, and ``ff`` is no version.
    """
    found = _TRACEPARENT.fullmatch(header)
    if found is None:
        return None
    version, trace_id, span_id, flags, rest = found.groups()
    if version == "ff" or (version == "00" and rest) or not trace_id.strip("0") or not span_id.strip("0"):
        return None
    return TraceContext(trace_id, span_id, bool(int(flags, 16) & _SAMPLED))
