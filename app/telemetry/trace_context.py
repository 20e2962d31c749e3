"""Parses the header ``traceparent`` of W3C Trace Context (https://www.w3.org/TR/trace-context/).

The log line of a request contains its trace id. If the caller records the trace (the flag ``sampled``), each SQL
statement of the request has the trace in a comment, in the form of sqlcommenter. So PostgreSQL's log and
``pg_stat_activity`` show to which trace a statement belongs. The comment makes each statement unique, and so statements
cannot be prepared; docs/observability.md says what this costs. Statements of other requests have no comment.
"""

import re
from typing import NamedTuple

_TRACEPARENT = re.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)
_SAMPLED = 1


class TraceContext(NamedTuple):
    """The place of a request in a trace. All texts are lowercase hexadecimal digits."""

    trace_id: str
    span_id: str
    """The id of the request's span; if this process records no spans, the id of the caller's span."""
    sampled: bool
    """Whether the caller records the trace."""

    @property
    def sql_comment(self) -> str:
        """The SQL comment that precedes statements; empty if the trace is not recorded.

        sqlcommenter appends the comment instead. It precedes the statement here, because ``pg_stat_activity`` shows
        only the first 1024 bytes.
        """
        return f"/*traceparent='00-{self.trace_id}-{self.span_id}-01'*/ " if self.sampled else ""


def parse_traceparent(header: str) -> TraceContext | None:
    """Parse the header ``traceparent``; None for a malformed header, which has to be ignored (section 3.2.2).

    Versions after 00 may have further fields. ``ff`` is no version.
    """
    found = _TRACEPARENT.fullmatch(header)
    if found is None:
        return None
    version, trace_id, span_id, flags, rest = found.groups()
    if version == "ff" or (version == "00" and rest) or not trace_id.strip("0") or not span_id.strip("0"):
        return None
    return TraceContext(trace_id, span_id, bool(int(flags, 16) & _SAMPLED))
