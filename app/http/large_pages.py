"""Answers with a page of resources, whose bytes under way have a limit.

Without facets the largest page has 66 MB, 500 resources with an ObjectType and a someProperty of 64 KiB each; facets of
texts whose characters JSON escapes make it 91 MB. A page stays in memory until the kernel has taken it for its client,
or for the proxy. Without a limit, clients that take their pages slowly would use up the memory of the container.
"""

import weakref
from collections import Counter
from threading import RLock

from flask import Response

from app import errors
from app.http.answers import json_answer

LARGE_BYTES = 1024 * 1024
"""Smaller pages do not count. Limiting how many slow clients hold one is up to the proxy."""


class PagesUnderWay:
    """The bytes of the large pages that the kernel has not taken yet for their clients, in one process.

    :param process_bytes: the most bytes of such pages in the process, of all projects together.
    :param project_bytes: the most bytes of such pages of one project, so that one project leaves room to the others.
    """

    def __init__(self, process_bytes: int, project_bytes: int) -> None:
        self._process_bytes = process_bytes
        self._project_bytes = project_bytes
        self._bytes = Counter[str]()
        # An RLock and not a Lock: while `answer` holds the lock, the garbage collector may call `_end` for an earlier
        # response in the same thread, and `_end` takes the lock again.
        self._lock = RLock()

    def answer(self, project_key: str, page: bytes) -> Response:
        """Make the response with a page. A large page counts against both limits until its response is freed.

        :raises ApiError: 503 if the page would exceed one of the limits.
        """
        size = len(page)
        if size < LARGE_BYTES:
            return json_answer(page)
        with self._lock:
            of_project = self._bytes[project_key] + size
            if of_project > self._project_bytes or self._bytes.total() + size > self._process_bytes:
                raise errors.over_capacity("Too many large pages are under way. A smaller limit makes a page smaller.")
            self._bytes[project_key] += size  # not `= of_project`: a collection of garbage may have called `_end` since
        answer = json_answer(page)
        weakref.finalize(answer, self._end, project_key, size)
        return answer

    def _end(self, project_key: str, size: int) -> None:
        """Stop counting the bytes of a page. Called when the response with the page is garbage-collected."""
        with self._lock:
            self._bytes[project_key] -= size
            if not self._bytes[project_key]:
                del self._bytes[project_key]


pages_under_way = PagesUnderWay(process_bytes=256 * 1024 * 1024, project_bytes=192 * 1024 * 1024)
"""At least two of the largest pages. Without facets three of one project, and four in all."""
