"""HEAD on the collection (interface 4.5): the existence check, with the parameters of the list."""

from tests.support.api import Api


def status(api: Api, query: str = "") -> int:
    """The status of an existence check. Its answer has no body."""
    answer = api.head(f"?{query}" if query else "")
    assert answer.data == b""
    return answer.status_code
